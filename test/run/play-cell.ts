import { readdirSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { expect } from "vitest";
import { at, type Frame, list } from "../support/frame.ts";
import { RpcProcess, repoRoot } from "../support/rpc-process.ts";
import type { Command, Outcome } from "./commands.ts";
import { asks, type Moment } from "./moments.ts";
import type { Cell } from "./state-machine.ts";

/** How long a moment lasts that the command ends, and one that must end by itself. */
const LONG_MS = 15_000;
const SHORT_MS = 700;
const ON_A_BUSY_MACHINE_MS = 5_000;
/** The file for which tools wait. */
const GO = "go";
const FILES = { "a.txt": "A\n" };
const ASKS_FIRST = join(repoRoot, "test/fixtures/extensions/run/ask-first.ts");

/** A cell that another can follow in the same process: it is not ended, and its settings are as before. */
const mayBeFollowed = ({ command, outcome }: Cell): boolean => outcome.exit === undefined && !command.changesSettings;
const lastsMsOf = ({ outcome }: Cell): number => (outcome.results?.run === "completed" ? SHORT_MS : LONG_MS);

const MOST_IN_ONE_PROCESS = 16;

/** Cells that can be played one after the other in one process. */
export function cellsByProcess(cells: readonly Cell[]): Cell[][] {
  const open = new Map<string, Cell[]>();
  const groups: Cell[][] = [];
  for (const cell of cells) {
    const key = JSON.stringify([lastsMsOf(cell), cell.moment.dialog !== undefined, cell.command.args ?? []]);
    const known = mayBeFollowed(cell) ? open.get(key) : undefined;
    const group = known && known.length < MOST_IN_ONE_PROCESS ? known : [];
    if (group.length === 0) groups.push(group);
    group.push(cell);
    if (mayBeFollowed(cell)) open.set(key, group);
  }
  return groups;
}

/** What a cell has to work with: where its process stands, and what was sent and came before. */
interface Stage {
  rpc: RpcProcess;
  since: number;
}

/** The process of some cells; each is played in a session of its own. The harness checks the order and shape of all frames. */
export class CellPlayer {
  private readonly cells: readonly Cell[];
  private rpc: RpcProcess | undefined;

  constructor(cells: readonly Cell[]) {
    this.cells = cells;
  }

  async play(cell: Cell): Promise<void> {
    const began = performance.now();
    let answered = Number.POSITIVE_INFINITY;
    try {
      await playOn(await this.stageFor(cell), cell, () => {
        answered = performance.now();
      });
      if (!mayBeFollowed(cell)) await this.dispose();
    } catch (error) {
      await this.abandon();
      // The moment may have been over before the command came through; with a longer one that cannot be.
      if (lastsMsOf(cell) === LONG_MS || answered - began < SHORT_MS) throw error;
      await playAlone(cell, ON_A_BUSY_MACHINE_MS);
    }
  }

  async dispose(): Promise<void> {
    const { rpc } = this;
    this.rpc = undefined;
    await rpc?.dispose();
  }

  /** After a failure the first complaint is the interesting one, and what follows begins anew. */
  private async abandon(): Promise<void> {
    this.rpc?.kill("SIGKILL");
    await this.dispose().catch(() => undefined);
  }

  /** A process that begins with this cell, or the one that has played those before. */
  private async stageFor(cell: Cell): Promise<Stage> {
    if (this.rpc) return await nextStage(this.rpc);
    this.rpc = startProcess(this.cells.slice(this.cells.indexOf(cell)), lastsMsOf(cell));
    return { rpc: this.rpc, since: 0 };
  }
}

async function playAlone(cell: Cell, lastsMs: number): Promise<void> {
  const rpc = startProcess([cell], lastsMs);
  try {
    await playOn({ rpc, since: 0 }, cell);
  } finally {
    await rpc.dispose();
  }
}

async function playOn(stage: Stage, { command, moment, outcome }: Cell, onAnswered = (): void => undefined) {
  const { rpc, since } = stage;
  await reach(stage, moment);
  act(rpc, command);
  await expectAnswers(stage, outcome);
  onAnswered();
  if (moment.dialog && outcome.exit === undefined) await answerDialog(stage, moment, outcome);
  if (outcome.results?.run === "completed") writeFileSync(join(rpc.sandbox.cwd, GO), "");
  if (outcome.exit === undefined) await expectQuiet(stage, moment, outcome);
  else expect(await rpc.waitExit(), "exit").toMatchObject({ code: outcome.exit });
  if (outcome.tells) expect(rpc.frames.slice(since), "frames").toContainEqual(expect.objectContaining(outcome.tells));
  expect(deliveredTexts(stage), "delivered").toEqual([...(outcome.before ?? []), ...outcome.conversation]);
  expectResults(stage, moment, outcome);
}

/** A cell has more answers than it can need; the last of them says that it is the last. */
const SPARE = Array<string>(6).fill('text "ok"');
const LAST_ANSWER = "That was all.";

function startProcess(cells: readonly Cell[], lastsMs: number): RpcProcess {
  const { command, moment } = cells[0] as Cell;
  const settings = ["--set", `retry.baseDelayMs=${lastsMs}`, "--set", "compaction.keepRecentTokens=1"];
  return new RpcProcess({
    script: cells.flatMap((cell) => {
      const own = cell.command.model === undefined ? [] : [cell.command.model];
      return [...cell.moment.model(lastsMs), ...own, ...SPARE, `text "${LAST_ANSWER}"`];
    }),
    args: ["--no-session", ...settings, ...(moment.dialog ? ["-e", ASKS_FIRST] : []), ...(command.args ?? [])],
    files: FILES,
  });
}

/** Uses up what the cell before has left of its answers, removes its files and opens a session for the next. */
async function nextStage(rpc: RpcProcess): Promise<Stage> {
  await rpc.call({ type: "new_session" });
  const { cwd } = rpc.sandbox;
  for (const name of readdirSync(cwd)) if (!(name in FILES)) rmSync(join(cwd, name));
  for (let left = SPARE.length + 1; left > 0; left--) {
    const { frames } = await rpc.prompt("Anything left?");
    if (textOf(frames.findLast((frame) => frame.type === "message_end")?.message) === LAST_ANSWER) break;
    if (left === 1) throw new Error("the last answer of the cell before is gone: it takes more than SPARE");
  }
  await rpc.call({ type: "new_session" });
  return { rpc, since: rpc.mark() };
}

/** Starts a run and waits for the moment; then a message is put in the queue whose fate each cell tells. */
async function reach({ rpc, since }: Stage, { active, begins, session, dialog }: Moment): Promise<void> {
  if (session) await openSession(rpc, session(rpc.sandbox.cwd));
  if (dialog === "of a command") {
    rpc.send({ id: "ask", type: "prompt", message: "/ask" });
    await rpc.waitFor(asks, { since });
  }
  if (!active || !begins) {
    await rpc.call({ id: "kept", type: "follow_up", message: "kept" });
    return;
  }
  rpc.send({ id: "run", type: "prompt", message: "go" });
  await rpc.waitFor(begins, { since });
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

async function expectAnswers(stage: Stage, { answers = {}, state }: Outcome): Promise<void> {
  for (const [id, answer] of Object.entries(answers)) expect(await answerTo(stage, id), id).toMatchObject(answer);
  if (state) expect((await answerTo(stage, "state")).data, "state right after the command").toMatchObject(state);
}

const answerTo = ({ rpc, since }: Stage, id: string): Promise<Frame> =>
  rpc.waitFor((frame) => frame.type === "response" && frame.id === id, { since });

/**
 * A dialog ends with the run that it belongs to, or with the session. Any other stays open until it is answered. The host
 * answers in both cases: an answer to what was withdrawn is ignored.
 */
async function answerDialog({ rpc, since }: Stage, { dialog }: Moment, outcome: Outcome): Promise<void> {
  const { id } = await rpc.waitFor(asks, { since });
  const isOver = outcome.leavesSession || (dialog === "of the run" && outcome.results?.run !== "completed");
  if (isOver) await rpc.waitFor((frame) => frame.method === "cancel" && frame.targetId === id, { since });
  const { data } = await rpc.call({ type: "get_state" });
  expect(
    list(at(data, "pendingDialogs")).map((open) => at(open, "id")),
    "open dialogs",
  ).toEqual(isOver ? [] : [id]);
  rpc.send({ type: "extension_ui_response", id, confirmed: true });
}

/** All that can end has ended, the state says so, what waits waits; then the next prompt works and takes it along. */
async function expectQuiet(stage: Stage, moment: Moment, outcome: Outcome): Promise<void> {
  const { rpc, since } = stage;
  const { results = {}, waiting = {} } = outcome;
  const { steering = [], followUp = [] } = waiting;
  const left = [...steering, ...followUp];
  for (const id of [...Object.keys(results), ...(moment.dialog === "of a command" ? ["ask"] : [])]) {
    if (!left.includes(id)) await rpc.waitFor((frame) => frame.type === "prompt_result" && frame.id === id, { since });
  }
  const { data } = await rpc.call({ type: "get_state" });
  const counts = { pendingMessageCount: left.length, queuedMessageCount: left.length };
  expect(data, "state when quiet").not.toHaveProperty("pendingDialogs");
  expect(data, "state when quiet").toMatchObject({ isStreaming: false, isSettled: left.length === 0, ...counts });
  if (left.length > 0) expect(lastQueue(stage), "queue").toEqual({ steering, followUp });
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

function expectResults({ rpc, since }: Stage, { dialog }: Moment, { results = {}, exit }: Outcome): void {
  const told = rpc.frames.slice(since).filter((frame) => frame.type === "prompt_result");
  const ask = dialog === "of a command" ? { ask: "completed" } : {};
  const expected = { ...ask, ...results, ...(exit === undefined ? { next: "completed" } : {}) };
  expect(Object.fromEntries(told.map(({ id, status }) => [id, status])), "results").toEqual(expected);
  expect(told, "one result each").toHaveLength(Object.keys(expected).length);
}

function lastQueue({ rpc, since }: Stage): unknown {
  const { steering, followUp } = rpc.frames.slice(since).findLast((frame) => frame.type === "queue_update") ?? {};
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

function deliveredTexts({ rpc, since }: Stage): unknown[] {
  const starts = rpc.frames.slice(since).filter((frame) => frame.type === "message_start" && isUser(frame.message));
  return starts.map((frame) => textOf(frame.message));
}

const isUser = (message: unknown): boolean => at(message, "role") === "user";
const textOf = (message: unknown): unknown => at(message, "content", 0, "text");
