import { readFileSync, statSync } from "node:fs";
import { createServer, type Server } from "node:http";
import type { AddressInfo } from "node:net";
import { join } from "node:path";
import { afterEach, beforeEach, expect, test } from "vitest";
import { type MockLlm, say, startMockLlm } from "../support/mock-llm.ts";
import { repoRoot, useRpc } from "../support/rpc-process.ts";

/** Logging in with a provider that an extension has registered, against an office on this machine. */

const EXTENSION = join(repoRoot, "test/fixtures/extensions/methods/harbour-pass.ts");

let llm: MockLlm;
let office: Server;
let asked: string[];
beforeEach(async () => {
  llm = await startMockLlm();
  asked = [];
  office = createServer((request, response) => {
    const query = new URL(request.url ?? "", "http://office").search;
    asked.push(query);
    // The first pass has run out before it is used.
    const pass = query.startsWith("?code=")
      ? { refresh: "r1", access: "tok-1", expires: Date.now() - 1000 }
      : { refresh: "r2", access: "tok-2", expires: Date.now() + 3_600_000 };
    response.writeHead(query === "?code=wrong" ? 403 : 200, { "content-type": "application/json" });
    response.end(JSON.stringify(pass));
  });
  await new Promise<void>((resolve) => office.listen(0, "127.0.0.1", resolve));
});
afterEach(async () => {
  await llm.close();
  office.closeAllConnections();
  await new Promise((resolve) => office.close(resolve));
});
const start = useRpc();

test("a person is asked, the login is kept and renewed, and ended", async () => {
  llm.reply(say("Aye."));
  llm.reply(say("Aye, again."));
  const url = `http://127.0.0.1:${(office.address() as AddressInfo).port}`;
  const models = JSON.parse(llm.modelsJson()) as { providers: Record<string, { api?: string; baseUrl?: string }> };
  const chat = Object.values(models.providers).find(({ api }) => api === "openai-completions");
  const rpc = start({
    args: ["-e", EXTENSION, "--no-session"],
    env: { OFFICE_URL: url, HARBOUR_URL: chat?.baseUrl ?? "" },
  });
  const told = (): string[] =>
    rpc.frames.flatMap(({ type, method, message, error }) =>
      type === "extension_error" ? [String(error)] : method === "notify" ? [String(message)] : [],
    );
  const signIn = async (code: string): Promise<void> => {
    const since = rpc.mark();
    const done = rpc.prompt("/sign-in");
    const { id } = await rpc.waitFor(({ method }) => method === "input", { since });
    rpc.send({ type: "extension_ui_response", id, value: code });
    await done;
  };
  await signIn("wrong");
  await signIn("right");
  expect(told()).toEqual([
    `go to ${url}/apply`,
    "the office says 403",
    `go to ${url}/apply`,
    "signed in with Harbour pass: true, true",
  ]);
  const authFile = join(rpc.sandbox.agentDir, "auth.json");
  const kept = () => JSON.parse(readFileSync(authFile, "utf8"));
  expect(kept()).toMatchObject({ harbour: { type: "oauth", access: "tok-1", refresh: "r1" } });
  expect(statSync(authFile).mode & 0o777).toBe(0o600);

  for (const _ of [1, 2]) expect((await rpc.prompt("Ahoy")).result.status).toBe("completed");
  expect(llm.requests.map(({ headers }) => headers.authorization)).toEqual(["Bearer tok-2", "Bearer tok-2"]);
  expect(asked).toEqual(["?code=wrong", "?code=right", "?refresh=r1"]);
  expect(kept()).toMatchObject({ harbour: { access: "tok-2", refresh: "r2" } });

  await rpc.prompt("/sign-out");
  expect([told().at(-1), kept()]).toEqual(["signed out: false", {}]);
  const refused = await rpc.call({ type: "prompt", message: "Ahoy" });
  expect(refused).toMatchObject({ success: false, error: expect.stringContaining("harbour") });
});

test("a host logs in by itself: it is led by dialogs, may fail, and may give up", async () => {
  const url = `http://127.0.0.1:${(office.address() as AddressInfo).port}`;
  const rpc = start({
    args: ["-e", EXTENSION, "--no-session"],
    env: { OFFICE_URL: url, HARBOUR_URL: "http://127.0.0.1:9/v1" },
  });
  const providers = async (): Promise<unknown> => (await rpc.call({ type: "get_login_providers" })).data;
  const pass = { id: "harbour", name: "Harbour pass", available: true };
  expect(await providers()).toEqual({ providers: [{ ...pass, authenticated: false }] });

  const login = async (code?: string): Promise<unknown> => {
    const since = rpc.mark();
    const answer = rpc.call({ type: "login", providerId: "harbour" });
    expect(await rpc.waitFor(({ method }) => method === "notify", { since })).toMatchObject({
      message: `Log in at ${url}/apply`,
    });
    const { id, timeout } = await rpc.waitFor(({ method }) => method === "input", { since });
    expect(timeout).toBe(600_000);
    if (code === undefined) await rpc.call({ type: "abort" });
    else rpc.send({ type: "extension_ui_response", id, value: code });
    const { success, data, error } = await answer;
    return success ? data : error;
  };
  expect(await login("wrong")).toBe("The login with harbour failed: the office says 403");
  expect(await login()).toMatch(/^The login with harbour /);
  expect(await providers()).toEqual({ providers: [{ ...pass, authenticated: false }] });
  expect(await login("right")).toEqual({ providerId: "harbour" });
  expect(await providers()).toEqual({ providers: [{ ...pass, authenticated: true }] });
  expect(await rpc.call({ type: "login", providerId: "nobody" })).toMatchObject({
    success: false,
    error: "Unknown OAuth provider: nobody",
  });
});
