import { join } from "node:path";
import { expect, test } from "vitest";
import { at, type Frame, list } from "../support/frame.ts";
import { type RpcOptions, type RpcProcess, repoRoot, useRpc } from "../support/rpc-process.ts";

/**
 * Commands while somebody is asked something, as far as they need more of a story than a cell of the state machine; and
 * what an abort does to questions, wherever they are asked.
 */

const start = useRpc();
const ASKS = join(repoRoot, "test/fixtures/extensions/run/ask-anywhere.ts");
const OK = Array<string>(6).fill('text "ok"');

/** An extension asks in these handlers. */
const asking = (where: string, options: RpcOptions = {}): RpcProcess =>
  start({
    script: ['toolCall bash {"command":"echo one"}', ...OK],
    ...options,
    args: ["-e", ASKS, ...(options.args ?? [])],
    env: { ASK_IN: where, ...options.env },
  });

const isQuestion = (frame: Frame): boolean =>
  frame.type === "extension_ui_request" && ["confirm", "select", "input", "editor"].includes(String(frame.method));
const isWithdrawal = (id: unknown) => (frame: Frame) => frame.method === "cancel" && frame.targetId === id;
const resultOf = (id: string) => (frame: Frame) => frame.type === "prompt_result" && frame.id === id;

async function openDialogs(rpc: RpcProcess): Promise<unknown[]> {
  const { data } = await rpc.call({ type: "get_state" });
  return list(at(data, "pendingDialogs")).map((dialog) => at(dialog, "id"));
}

/** A prompt whose tool call waits for an answer. */
async function reachQuestion(rpc: RpcProcess, message = "go"): Promise<unknown> {
  rpc.send({ id: "run", type: "prompt", message });
  return (await rpc.waitFor(isQuestion)).id;
}

test("a shell command of the host runs beside a dialog and can be ended; the dialog stays", async () => {
  const rpc = asking("tool_call");
  const dialog = await reachQuestion(rpc);
  expect(await rpc.call({ type: "bash", command: "echo beside" })).toMatchObject({ success: true });
  rpc.send({ id: "sleep", type: "bash", command: "sleep 30" });
  expect(await rpc.call({ type: "abort_bash" })).toMatchObject({ success: true });
  const ended = await rpc.waitFor((frame) => frame.id === "sleep" && frame.type === "response");
  expect(ended).toMatchObject({ success: true, data: { cancelled: true } });
  expect(await openDialogs(rpc)).toEqual([dialog]);
  rpc.send({ type: "extension_ui_response", id: dialog, confirmed: true });
  expect(await rpc.waitFor(resultOf("run"))).toMatchObject({ status: "completed", toolCalls: 1 });
});

test("the model and the thinking level are changed while a dialog is open; the run goes on", async () => {
  const rpc = asking("tool_call");
  const dialog = await reachQuestion(rpc);
  const { data } = await rpc.call({ type: "get_state" });
  const { provider, id } = at(data, "model") as { provider: string; id: string };
  expect(await rpc.call({ type: "set_model", provider, modelId: id })).toMatchObject({ success: true });
  expect(await rpc.call({ type: "set_thinking_level", level: "low" })).toMatchObject({ success: true });
  expect(await rpc.call({ type: "get_messages" })).toMatchObject({
    data: { messages: [{ role: "user" }, { role: "assistant" }] },
  });
  expect(await openDialogs(rpc)).toEqual([dialog]);
  rpc.send({ type: "extension_ui_response", id: dialog, confirmed: true });
  expect(await rpc.waitFor(resultOf("run"))).toMatchObject({ status: "completed" });
});

const LEAVING: readonly [name: string, command: (entryId: string) => { type: string } & Record<string, unknown>][] = [
  ["fork", (entryId) => ({ type: "fork", entryId })],
  ["branch", (entryId) => ({ type: "branch", entryId })],
  ["clone", () => ({ type: "clone" })],
  ["navigate_tree", (entryId) => ({ type: "navigate_tree", entryId })],
];
test.each(LEAVING)("%s while a dialog is open ends the run and withdraws the dialog", async (_name, command) => {
  const rpc = asking("tool_call", { script: ['text "one"', 'toolCall bash {"command":"echo one"}', ...OK] });
  await rpc.prompt("first");
  const dialog = await reachQuestion(rpc, "second");
  const { data } = await rpc.call({ type: "get_fork_messages" });
  const entryId = String(at(data, "messages", 0, "entryId"));
  expect(await rpc.call(command(entryId))).toMatchObject({ success: true });
  await rpc.waitFor(isWithdrawal(dialog));
  expect(await rpc.waitFor(resultOf("run"))).toMatchObject({ status: "aborted" });
  expect(await openDialogs(rpc)).toEqual([]);
  rpc.send({ type: "extension_ui_response", id: dialog, confirmed: true });
  expect((await rpc.prompt("next")).result).toMatchObject({ status: "completed" });
});

test("of two dialogs the older stands first; an abort takes back the one of the run only", async () => {
  const rpc = asking("tool_call");
  const ofRun = await reachQuestion(rpc);
  const since = rpc.mark();
  rpc.send({ id: "ask", type: "prompt", message: "/ask more" });
  const { id: ofCommand } = await rpc.waitFor(isQuestion, { since });
  expect(await openDialogs(rpc)).toEqual([ofRun, ofCommand]);
  expect(await rpc.call({ type: "abort" })).toMatchObject({ success: true });
  await rpc.waitFor(isWithdrawal(ofRun));
  expect(await openDialogs(rpc)).toEqual([ofCommand]);
  // Too late, and twice: neither does anything.
  rpc.send({ type: "extension_ui_response", id: ofRun, confirmed: true });
  for (let times = 0; times < 2; times++) rpc.send({ type: "extension_ui_response", id: ofCommand, confirmed: true });
  expect(await rpc.waitFor(resultOf("ask"))).toMatchObject({ status: "completed" });
  expect(rpc.frames.filter((frame) => frame.method === "cancel")).toHaveLength(1);
});

const IN_A_RUN = [
  "input",
  "before_agent_start",
  "agent_start",
  "turn_start",
  "message_start",
  "message_update",
  "context",
  "message_end",
  "tool_call",
  "tool_execution_start",
  "tool_result",
  "turn_end",
  "agent_end",
];
test.each(IN_A_RUN)("an abort takes back what a handler of %s asks, and ends the prompt", async (hook) => {
  const rpc = asking(hook);
  const dialog = await reachQuestion(rpc);
  expect(await rpc.call({ type: "abort" })).toMatchObject({ success: true });
  expect(rpc.frames.filter(isWithdrawal(dialog)), "withdrawn before the answer").toHaveLength(1);
  expect(rpc.frames.filter(resultOf("run")), "ended before the answer").toHaveLength(1);
  for (const id of await openDialogs(rpc)) rpc.send({ type: "extension_ui_response", id, cancelled: true });
});

test.each(["input", "before_agent_start", "context", "message_end"])(
  "a run that was ended before a handler of %s was called asks nothing any more",
  async (hook) => {
    const rpc = asking(hook);
    rpc.send('{"id":"run","type":"prompt","message":"go"}\n{"id":"abort","type":"abort"}\n');
    await rpc.waitFor((frame) => frame.id === "abort" && frame.type === "response");
    expect(rpc.frames.filter(resultOf("run"))).toMatchObject([{ status: "aborted" }]);
    expect(await openDialogs(rpc)).toEqual([]);
    expect(rpc.frames.filter(isQuestion)).toEqual([]);
  },
);

test("an abort takes back what is asked about a message on its way to the queue; the message waits", async () => {
  const rpc = asking("input", { env: { ASK_PLAN: "-c" }, script: ["hang", ...OK] });
  rpc.send({ id: "run", type: "prompt", message: "go" });
  await rpc.waitFor("turn_start");
  rpc.send({ id: "queued", type: "prompt", message: "more", streamingBehavior: "followUp" });
  const { id: dialog } = await rpc.waitFor(isQuestion);
  expect(await rpc.call({ type: "abort" })).toMatchObject({ success: true });
  await rpc.waitFor(isWithdrawal(dialog));
  expect(await rpc.waitFor(resultOf("run"))).toMatchObject({ status: "aborted" });
  expect(await rpc.call({ type: "clear_queue" })).toMatchObject({ data: { followUp: ["more"] } });
  expect(await rpc.waitFor(resultOf("queued"))).toMatchObject({ status: "aborted" });
});

test("a message that is asked about when stdin closes is refused: nobody would deliver it", async () => {
  const rpc = asking("input", { env: { ASK_PLAN: "-c" }, script: ["hang", ...OK] });
  rpc.send({ id: "run", type: "prompt", message: "go" });
  await rpc.waitFor("turn_start");
  rpc.send({ id: "queued", type: "prompt", message: "more", streamingBehavior: "steer" });
  await rpc.waitFor(isQuestion);
  rpc.closeStdin();
  expect(await rpc.waitExit()).toMatchObject({ code: 0 });
  const answer = rpc.frames.find((frame) => frame.id === "queued" && frame.type === "response");
  expect(answer).toMatchObject({ success: false, error: expect.stringContaining("stdin was closed") });
  expect(rpc.frames.filter((frame) => frame.type === "prompt_result")).toMatchObject([
    { id: "run", status: "aborted" },
  ]);
});

test("several messages that are asked about, and an abort behind them: nothing is asked, all of them wait", async () => {
  const rpc = asking("input");
  const lines = ["one", "two", "three"].map((message) => ({ id: message, type: "steer", message }));
  rpc.send([...lines, { id: "abort", type: "abort" }].map((line) => `${JSON.stringify(line)}\n`).join(""));
  await rpc.waitFor((frame) => frame.id === "abort" && frame.type === "response");
  expect(await openDialogs(rpc)).toEqual([]);
  expect(await rpc.call({ type: "clear_queue" })).toMatchObject({ data: { steering: ["one", "two", "three"] } });
});

test.each([false, true])(
  "an abort takes back the question whether to leave, and nobody leaves (run: %s)",
  async (isRunning) => {
    const rpc = asking("session_before_switch", {
      script: ["hang", ...OK],
      args: ["-e", join(repoRoot, "test/fixtures/extensions/hooks/ask-before-leaving.ts")],
      env: { ASK_PLAN: "-" },
    });
    if (isRunning) {
      rpc.send({ id: "run", type: "prompt", message: "go" });
      await rpc.waitFor("turn_start");
    }
    rpc.send({ id: "leave", type: "new_session" });
    const { id: dialog } = await rpc.waitFor(isQuestion);
    expect(await rpc.call({ type: "abort" })).toMatchObject({ success: true });
    await rpc.waitFor(isWithdrawal(dialog));
    const left = await rpc.waitFor((frame) => frame.id === "leave" && frame.type === "response");
    expect(left).toMatchObject({ success: true, data: { cancelled: true } });
  },
);
