import { existsSync } from "node:fs";
import { isDeepStrictEqual } from "node:util";
import { lookAround, type Place } from "../sessions/support/look-around.ts";
import { readSessionFile } from "../sessions/support/session-tree.ts";
import { at, brief, type Frame } from "../support/frame.ts";
import type { Exit, RpcProcess } from "../support/rpc-process.ts";
import { closedIn } from "./closed-run.ts";
import { afterOf, type Fault } from "./fault.ts";
import type { Cell } from "./faults.ts";
import { begin, openStage, pause, procText, reopen, type Stage } from "./stage.ts";
import type { State } from "./states.ts";

/**
 * One cell: the process is brought into the state, the fault strikes, and then must hold: each accepted prompt has one
 * ending, the order and shape of all frames (the harness looks at them), a process that lives answers the next prompt, one
 * that ends does so with the code it should and leaves nothing behind, memory stays within bounds, and another process
 * opens the session, finds everything that was told and goes on with it.
 */

/** About twice what it takes in any of this, and less than a list that grows with what comes in. */
const MEMORY_MB = 120;
const WAIT_MS = 30_000;
const NOT_FELT = "nothing shows that the fault has struck";

/** Gives back what became of the prompt and of the process, in a few words. Throws what is wrong. */
export async function playCell(cell: Cell): Promise<string> {
  const stage = await openStage(cell.state, cell.fault);
  try {
    await begin(stage, cell.state);
    await cell.state.reach(stage);
    expectLittleMemory(stage.rpc, cell.fault);
    await cell.fault.strike?.(stage, cell.state);
    const after = afterOf(cell.fault, cell.state);
    const word = after === "lives" ? await livesOn(stage, cell) : await endsWith(stage, after, cell);
    await expectNoneLeft(stage.rpc);
    await expectReopens(stage);
    await stage.dispose();
    return word;
  } catch (error) {
    // The first complaint is the interesting one.
    await stage.dispose().catch(() => undefined);
    throw error;
  }
}

async function livesOn(stage: Stage, { fault, state }: Cell): Promise<string> {
  const { rpc, since } = stage;
  await (fault.instead ?? state.goOn)(stage, state);
  const isOver = state.name === "job running" ? isSettled : isResultOf("go");
  await rpc.waitFor(isOver, { since, timeoutMs: WAIT_MS });
  const word = state.name === "job running" ? lastAnswer(rpc) : String(statusOf(rpc, "go"));
  if (fault.felt?.(stage, state) === false) throw new Error(NOT_FELT);
  await fault.lift?.(stage);
  const { result } = await rpc.prompt("next", { id: "next" }, WAIT_MS);
  if (result.status !== "completed") throw new Error(`the next prompt ended ${brief(result)}`);
  if (fault.feltWithNext?.(stage, state) === false) throw new Error(NOT_FELT);
  expectOneResultEach(stage);
  expectLittleMemory(rpc, fault);
  rpc.closeStdin();
  const exit = await rpc.waitExit();
  if (exit.code !== 0) throw new Error(`exit ${JSON.stringify(exit)} after stdin was closed`);
  return word;
}

async function endsWith(stage: Stage, after: { exit: number } | "killed", { fault, state }: Cell): Promise<string> {
  const { rpc, prompts } = stage;
  const exit = await exitOf(rpc, fault);
  if (after === "killed") return "killed";
  if (exit.code !== after.exit) throw new Error(`exit ${JSON.stringify(exit)} instead of ${after.exit}`);
  const ending = fault.check?.endsAnywhere ? (statusOf(rpc, "go") ?? "no ending") : endingOf(stage, state);
  return prompts.length === 0 ? `exit ${after.exit}` : `${ending}, exit ${after.exit}`;
}

/** A host that does not read does not hear how it ended. Heard or not, the file says it. */
function endingOf({ rpc, path }: Stage, state: State): string {
  const heard = statusOf(rpc, "go");
  const kept = closedIn(path, state);
  if (heard !== undefined && heard !== kept) throw new Error(`the host heard "${heard}", the file says "${kept}"`);
  return heard ?? `not heard: ${kept}`;
}

/** How much it ever had can be read only while it is there. */
async function exitOf(rpc: RpcProcess, fault: Fault): Promise<Exit> {
  const exit = rpc.waitExit(WAIT_MS);
  for (let isOver = false; !isOver; ) {
    expectLittleMemory(rpc, fault);
    isOver = await Promise.race([exit.then(() => true), pause(50).then(() => false)]);
  }
  return exit;
}

const isSettled = (frame: Frame): boolean => frame.type === "session_settled";
const isResultOf =
  (id: string) =>
  (frame: Frame): boolean =>
    frame.type === "prompt_result" && frame.id === id;

const statusOf = ({ frames }: RpcProcess, id: string): string | undefined =>
  frames.find(isResultOf(id))?.status as string | undefined;

/** Of a run that no prompt has begun. */
function lastAnswer({ frames }: RpcProcess): string {
  const answer = frames.findLast(
    (frame) => frame.type === "message_end" && at(frame, "message", "role") === "assistant",
  );
  return at(answer, "message", "stopReason") === "stop" ? "completed" : String(at(answer, "message", "stopReason"));
}

function expectOneResultEach({ rpc, prompts }: Stage): void {
  for (const id of [...prompts, "next"]) {
    const results = rpc.frames.filter(isResultOf(id));
    if (results.length !== 1) throw new Error(`the prompt "${id}" has ${results.length} results`);
  }
}

/** The most that the process, or what was started in between, ever had. */
function expectLittleMemory({ sandbox }: RpcProcess, { memoryMb = MEMORY_MB }: Fault): void {
  for (const { pid, command } of sandbox.processes()) {
    const peak = Number(/VmHWM:\s*(\d+) kB/.exec(procText(pid, "status"))?.[1] ?? 0) / 1024;
    if (peak > memoryMb) throw new Error(`${command} had ${Math.round(peak)} MB, at most ${memoryMb} are allowed`);
  }
}

async function expectNoneLeft({ sandbox }: RpcProcess): Promise<void> {
  for (let tries = 0; tries < 150 && sandbox.processes().length > 0; tries++) await pause(20);
  const left = sandbox.processes();
  if (left.length > 0) throw new Error(`left running: ${brief(left)}`);
}

async function expectReopens(stage: Stage): Promise<void> {
  const { path, rpc } = stage;
  const messages = announced(rpc.frames).filter((message) => !isDeepStrictEqual(message, stage.lost));
  if (!existsSync(path)) {
    // A session of which nothing was told leaves no file.
    if (messages.length === 0) return;
    throw new Error(`${path} is gone`);
  }
  const left = readSessionFile(path);
  const place: Place = { path, told: new Map([[path, { messages, answered: [], events: [] }]]), left };
  const next = reopen(stage);
  try {
    await lookAround(next, place);
  } finally {
    await next.dispose();
  }
}

const announced = (frames: readonly Frame[]): unknown[] =>
  frames.filter(({ type }) => type === "message_end").map(({ message }) => message);
