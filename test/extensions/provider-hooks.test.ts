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

const KEEPER = join(repoRoot, "test/fixtures/extensions/hooks/lamp-keeper.ts");

test("a provider is asked once more before it forgets; a prompt comes before that, and so does the end", async () => {
  const models = JSON.parse(llm.modelsJson());
  models.providers.mock.models[0].promptCache = { short: 1 };
  const rpc = start({
    args: ["-e", KEEPER, "--model", "mock/mock-1", "--thinking", "off", "--set", "cacheWarming=idle"],
    agentFiles: { "models.json": JSON.stringify(models) },
  });
  const kept = { cache_write_tokens: 5000 };
  const warmed = { ...say("A"), usage: { cache_read_tokens: 5000 } };
  llm.reply({ ...say("Aye."), usage: kept }, warmed);
  await rpc.prompt("Ahoy");
  const before = await rpc.call({ type: "get_messages" });
  const { entry } = await rpc.waitFor("entry_appended");
  expect(entry).toMatchObject({ type: "usage", kind: "cache_warm", provider: "mock", model: "mock-1" });
  const [first, second] = llm.requests.map(({ body }) => body as Record<string, unknown>);
  expect(second).toEqual({ ...first, max_tokens: 1 });
  expect(await rpc.waitFor(notified("stop"))).toMatchObject({
    message: "mock-1 with 5000 tokens is asked before it forgets: stop",
  });
  expect((await rpc.call({ type: "get_messages" })).data).toEqual(before.data);
  const { data } = await rpc.call({ type: "get_session_stats" });
  expect(data).toMatchObject({ tokens: { cacheRead: 5000, cacheWrite: 5000 }, assistantMessages: 1 });

  // A prompt does not wait for such a request, which here would never end; nor does the process.
  const never = { steps: [{ type: "stall" as const }] };
  llm.reply({ ...say("Aye."), usage: kept }, never, { ...say("At once."), usage: kept }, never);
  const since = rpc.frames.length;
  await rpc.prompt("Ahoy again");
  await rpc.waitFor(notified("warm"), { since });
  const { result } = await rpc.prompt("Now");
  expect(result).toMatchObject({ status: "completed" });
  await rpc.waitFor(notified("warm"), { since: rpc.frames.indexOf(result) });
  rpc.closeStdin();
  expect(await rpc.waitExit()).toMatchObject({ code: 0 });
  expect(llm.requests).toHaveLength(6);
});

/** The last word of the keeper. */
const notified = (action: string) => (frame: Record<string, unknown>) =>
  frame.method === "notify" && String(frame.message).endsWith(action);
