import { join } from "node:path";
import { afterEach, beforeEach, expect, test } from "vitest";
import { DIALECTS, fail, type MockLlm, say, startMockLlm } from "../support/mock-llm.ts";
import { repoRoot, useRpc } from "../support/rpc-process.ts";

/** What goes to a provider and comes back from one: extensions see it whatever language the provider speaks. */

const EXTENSION = join(repoRoot, "test/fixtures/extensions/hooks/wire-tap.ts");

let llm: MockLlm;
beforeEach(async () => {
  llm = await startMockLlm();
});
afterEach(() => llm.close());
const start = useRpc();

const startWith = (provider: string) =>
  start({
    args: ["-e", EXTENSION, "--no-session", "--model", `${provider}/mock-1`, "--set", "retry.enabled=false"],
    agentFiles: { "models.json": llm.modelsJson() },
  });

/** The frames of a run that matter here, in their order. */
const storyOf = (frames: readonly Record<string, unknown>[]): string[] =>
  frames.flatMap(({ type, method, message }) => {
    if (type === "extension_ui_request" && method === "notify") return [String(message)];
    return type === "message_end" ? [`${(message as { role: string }).role} message`] : [];
  });

test.each(DIALECTS.map(({ provider }) => provider))("%s is sent what extensions make of the body", async (provider) => {
  llm.reply(say("Aye."));
  const { result, frames } = await startWith(provider).prompt("Ahoy");
  expect(result.status).toBe("completed");
  expect(llm.requests).toHaveLength(1);
  expect(llm.requests[0]?.body).toMatchObject({ crew: ["captain", "mate"] });
  expect(llm.requests[0]?.headers).toMatchObject({ "x-flag": "red", "x-port": "after red" });
  expect(storyOf(frames)).toEqual([
    "user message",
    "a request goes out",
    expect.stringMatching(/^an answer comes in: 200 text\/event-stream/),
    "its first event is an object",
    "assistant message",
  ]);
});

test("an answer that is a refusal is told, too", async () => {
  llm.reply(fail(400, "invalid_request_error", "no crew on board"));
  const { result, frames } = await startWith("mock").prompt("Ahoy");
  expect(result.status).toBe("error");
  expect(storyOf(frames)).toEqual([
    "user message",
    "a request goes out",
    expect.stringMatching(/^an answer comes in: 400 application\/json/),
    "assistant message",
  ]);
});
