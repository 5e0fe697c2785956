import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { expect } from "vitest";
import { at, type Frame, list } from "../support/frame.ts";
import { RpcProcess, repoRoot } from "../support/rpc-process.ts";
import type { Command, Outcome } from "./commands.ts";
import { asks, type Moment } from "./moments.ts";

/** How long a moment lasts that the command ends, and one that must end by itself. */
const LONG_MS = 15_000;
const SHORT_MS = 700;
const ON_A_BUSY_MACHINE_MS = 5_000;
const ASKS_FIRST = join(repoRoot, "test/fixtures/extensions/run/ask-first.ts");

/** Plays one cell of the state machine against the real process. The harness checks the order and shape of all frames. */
export async function playCell(command: Command, moment: Moment, outcome: Outcome): Promise<void> {
  if (outcome.results?.run !== "completed") return await playOnce(command, moment, outcome, LONG_MS);
  const began = performance.now();
  let answered = Number.POSITIVE_INFINITY;
  try {
    await playOnce(command, moment, outcome, SHORT_MS, () => {
      answered = performance.now();
    });
  } catch (error) {
    // The moment may have been over before the command came through; with a longer one that cannot be.
    if (answered - began < SHORT_MS) throw error;
    await playOnce(command, moment, outcome, ON_A_BUSY_MACHINE_MS);
  }
}

async function playOnce(
  command: Command,
  moment: Moment,
  outcome: Outcome,
  lastsMs: number,
  onAnswered: () => void = () => undefined,
): Promise<void> {
  const rpc = startProcess(command, moment, lastsMs);
  try {
    await reach(rpc, moment);
    act(rpc, command);
    await expectAnswers(rpc, outcome);
    onAnswered();
    if (moment.dialog && outcome.exit === undefined) await answerDialog(rpc, moment, outcome);
    if (outcome.results?.run === "completed") writeFileSync(join(rpc.sandbox.cwd, "go"), "");
    if (outcome.exit === undefined) await expectQuiet(rpc, moment, outcome);
    else expect(await rpc.waitExit(), "exit").toMatchObject({ code: outcome.exit });
    if (outcome.tells) expect(rpc.frames, "frames").toContainEqual(expect.objectContaining(outcome.tells));
    expect(deliveredTexts(rpc), "delivered").toEqual([...(outcome.before ?? []), ...outcome.conversation]);
    expectResults(rpc, moment, outcome);
  } finally {
    await rpc.dispose();
  }
}

function startProcess(command: Command, moment: Moment, lastsMs: number): RpcProcess {
  const own = command.model === undefined ? [] : [command.model];
  const settings = ["--set", `retry.baseDelayMs=${lastsMs}`, "--set", "compaction.keepRecentTokens=1"];
  return new RpcProcess({
    script: [...moment.model(lastsMs), ...own, ...Array<string>(12).fill('text "ok"')],
    args: ["--no-session", ...settings, ...(moment.dialog ? ["-e", ASKS_FIRST] : []), ...(command.args ?? [])],
    files: { "a.txt": "A\n" },
  });
}

/** Starts a run and waits for the moment; then a message is put in the queue whose fate each cell tells. */
async function reach(rpc: RpcProcess, { active, begins, session, dialog }: Moment): Promise<void> {
  if (session) await openSession(rpc, session(rpc.sandbox.cwd));
  if (dialog === "of a command") {
    rpc.send({ id: "ask", type: "prompt", message: "/ask" });
    await rpc.waitFor(asks);
  }
  if (!active || !begins) {
    await rpc.call({ id: "kept", type: "follow_up", message: "kept" });
    return;
  }
  rpc.send({ id: "run", type: "prompt", message: "go" });
  await rpc.waitFor(begins);
  await rpc.call({ id: "kept", type: "prompt", message: "kept", streamingBehavior: "followUp" });
}

async function openSession(rpc: RpcProcess, text: string): Promise<void> {
  const sessionPath = join(rpc.sandbox.cwd, "before.jsonl");
  writeFileSync(sessionPath, text);
  expect(await rpc.call({ type: "switch_session", sessionPath })).toMatchObject({ success: true });
}

/** The command, and a get_state right behind it in the same write. */
function act(rpc: RpcProcess, { frames = [], afterwards }: Command): void {
  const lines = [...frames];
  if (afterwards === undefined) lines.push({ id: "state", type: "get_state" });
  if (lines.length > 0) rpc.send(lines.map((frame) => `${JSON.stringify(frame)}\n`).join(""));
  if (afterwards === "close stdin") rpc.closeStdin();
  else if (afterwards !== undefined) rpc.kill(afterwards);
}

async function expectAnswers(rpc: RpcProcess, { answers = {}, state }: Outcome): Promise<void> {
  for (const [id, answer] of Object.entries(answers)) expect(await answerTo(rpc, id), id).toMatchObject(answer);
  if (state) expect((await answerTo(rpc, "state")).data, "state right after the command").toMatchObject(state);
}

const answerTo = (rpc: RpcProcess, id: string): Promise<Frame> =>
  rpc.waitFor((frame) => frame.type === "response" && frame.id === id);

/**
 * A dialog ends with the run that it belongs to, or with the session. Any other stays open until it is answered. The host
 * answers in both cases: an answer to what was withdrawn is ignored.
 */
async function answerDialog(rpc: RpcProcess, { dialog }: Moment, outcome: Outcome): Promise<void> {
  const { id } = await rpc.waitFor(asks);
  const isOver = outcome.leavesSession || (dialog === "of the run" && outcome.results?.run !== "completed");
  if (isOver) await rpc.waitFor((frame) => frame.method === "cancel" && frame.targetId === id);
  const { data } = await rpc.call({ type: "get_state" });
  expect(
    list(at(data, "pendingDialogs")).map((open) => at(open, "id")),
    "open dialogs",
  ).toEqual(isOver ? [] : [id]);
  rpc.send({ type: "extension_ui_response", id, confirmed: true });
}

/** All that can end has ended, the state says so, what waits waits; then the next prompt works and takes it along. */
async function expectQuiet(rpc: RpcProcess, moment: Moment, outcome: Outcome): Promise<void> {
  const { results = {}, waiting = {} } = outcome;
  const { steering = [], followUp = [] } = waiting;
  const left = [...steering, ...followUp];
  for (const id of [...Object.keys(results), ...(moment.dialog === "of a command" ? ["ask"] : [])]) {
    if (!left.includes(id)) await rpc.waitFor((frame) => frame.type === "prompt_result" && frame.id === id);
  }
  const { data } = await rpc.call({ type: "get_state" });
  const counts = { pendingMessageCount: left.length, queuedMessageCount: left.length };
  expect(data, "state when quiet").not.toHaveProperty("pendingDialogs");
  expect(data, "state when quiet").toMatchObject({ isStreaming: false, isSettled: left.length === 0, ...counts });
  if (left.length > 0) expect(lastQueue(rpc), "queue").toEqual({ steering, followUp });
  if (results.run === "aborted" && !outcome.before)
    expect(await rolesBehind(rpc, "go"), "after the abort").toEqual(moment.afterAbort);

  const { result } = await rpc.prompt("next", { id: "next" });
  expect(result).toMatchObject({ status: "completed", sessionSettled: true });
  expect((await rpc.call({ type: "get_state" })).data).toMatchObject({
    isStreaming: false,
    isSettled: true,
    pendingMessageCount: 0,
  });
  expect((await messages(rpc)).filter(isUser).map(textOf), "conversation").toEqual(outcome.conversation);
}

function expectResults(rpc: RpcProcess, { dialog }: Moment, { results = {}, exit }: Outcome): void {
  const told = rpc.frames.filter((frame) => frame.type === "prompt_result");
  const ask = dialog === "of a command" ? { ask: "completed" } : {};
  const expected = { ...ask, ...results, ...(exit === undefined ? { next: "completed" } : {}) };
  expect(Object.fromEntries(told.map(({ id, status }) => [id, status])), "results").toEqual(expected);
  expect(told, "one result each").toHaveLength(Object.keys(expected).length);
}

function lastQueue(rpc: RpcProcess): unknown {
  const { steering, followUp } = rpc.frames.findLast((frame) => frame.type === "queue_update") ?? {};
  return { steering, followUp };
}

/** The roles of the messages between the user message with this text and the next one. */
async function rolesBehind(rpc: RpcProcess, text: string): Promise<unknown[]> {
  const all = await messages(rpc);
  const behind = all.slice(all.findIndex((message) => isUser(message) && textOf(message) === text) + 1);
  const end = behind.findIndex(isUser);
  return behind.slice(0, end < 0 ? undefined : end).map((message) => at(message, "role"));
}

async function messages(rpc: RpcProcess): Promise<unknown[]> {
  return list(at(await rpc.call({ type: "get_messages" }), "data", "messages"));
}

function deliveredTexts(rpc: RpcProcess): unknown[] {
  const starts = rpc.frames.filter((frame) => frame.type === "message_start" && isUser(frame.message));
  return starts.map((frame) => textOf(frame.message));
}

const isUser = (message: unknown): boolean => at(message, "role") === "user";
const textOf = (message: unknown): unknown => at(message, "content", 0, "text");
