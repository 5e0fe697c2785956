import { existsSync, readFileSync, statSync, truncateSync } from "node:fs";
import { isDeepStrictEqual } from "node:util";
import { at, type Frame, list } from "../../support/frame.ts";
import { type RpcOptions, RpcProcess } from "../../support/rpc-process.ts";
import { BUSY_SCRIPT, type BusyPlan, enteringFrom, isKeptEvent, keepBusy, OTHER_MODEL, type Stay } from "./busy-run.ts";
import { hasFields, lookAround, type Place, type Told } from "./look-around.ts";
import { readSessionFile } from "./session-tree.ts";

/**
 * Crash after crash in one session: each process opens the file that the one before has left, is looked at, answers a
 * prompt, and is then killed in turn.
 */

export interface CrashCount {
  kills: number;
  tornLines: number;
  interruptedRuns: number;
}

/** How a process is brought to its end; afterwards `place` says where it was and what it has told. */
type Kill = (rpc: RpcProcess, place: Place) => Promise<void>;

export function crashWhileBusy(plans: readonly BusyPlan[], count: CrashCount): Promise<void> {
  return crashAgainAndAgain(
    plans.map((plan) => ({ name: JSON.stringify(plan.kill), kill: (rpc, place) => busyUntilKilled(rpc, plan, place) })),
    count,
  );
}

const LARGE_WRITE = "in a large write";

/** In the middle of the one `write` of a message of many megabytes: the only line that a kill alone can tear. */
export function crashWhileWriting(times: number, count: CrashCount): Promise<void> {
  const kills = Array.from({ length: times }, () => ({ name: LARGE_WRITE, kill: writingUntilKilled }));
  return crashAgainAndAgain(kills, count);
}

async function crashAgainAndAgain(kills: readonly { name: string; kill: Kill }[], count: CrashCount): Promise<void> {
  const processes: RpcProcess[] = [];
  try {
    const first = startBusy([]);
    processes.push(first);
    const { data } = await first.call({ type: "get_state" });
    const place: Place = { path: String(at(data, "sessionFile")), told: new Map(), left: undefined };
    for (const { name, kill } of kills) {
      await kill(processes.at(-1) as RpcProcess, place);
      count.kills += 1;
      if (place.left && place.left.torn !== "") count.tornLines += 1;
      // Its folders are those of the first, in which the sessions are.
      const next = startBusy(["--session", place.path], { TILLER_DIR: first.sandbox.agentDir });
      processes.push(next);
      const wasCut = await lookAround(next, place).catch((error: Error) => {
        throw new Error(`after kill ${processes.length - 1} (${name}), ${place.path}: ${error.message}`);
      });
      if (wasCut) count.interruptedRuns += 1;
      await expectToldAgain(next, place, name);
    }
  } finally {
    // The first one last: the others work in its folders.
    for (const rpc of processes.reverse()) await rpc.dispose();
  }
}

function startBusy(args: string[], env: RpcOptions["env"] = {}): RpcProcess {
  return new RpcProcess({
    files: { "busy.json": JSON.stringify(BUSY_SCRIPT) },
    agentFiles: { "models.json": OTHER_MODEL },
    args: ["--script", "busy.json", ...args],
    env,
  });
}

async function busyUntilKilled(rpc: RpcProcess, plan: BusyPlan, place: Place): Promise<void> {
  const stays: Stay[] = [{ path: place.path, since: 0, answered: [] }];
  const begun = rpc.mark();
  let isKilled = false;
  const busy = keepBusy(rpc, plan, stays).catch((error: unknown) => {
    // What it still waited for never comes.
    if (!isKilled) throw error;
  });
  await Promise.race([busy, momentOf(rpc, plan, begun)]);
  isKilled = true;
  rpc.kill("SIGKILL");
  await rpc.waitExit();
  await busy;
  place.path = stays.at(-1)?.path ?? place.path;
  remember(rpc.frames, stays, place.told);
  tearLastLine(plan, place);
  lookAtFile(place);
}

const LARGE = 12_000_000;

async function writingUntilKilled(rpc: RpcProcess, place: Place): Promise<void> {
  if (!existsSync(place.path)) await rpc.prompt("begin");
  const { size } = statSync(place.path);
  rpc.send({ type: "prompt", message: "x".repeat(LARGE) });
  while (statSync(place.path).size === size) await new Promise((resolve) => setImmediate(resolve));
  rpc.kill("SIGKILL");
  await rpc.waitExit();
  remember(rpc.frames, [{ path: place.path, since: 0, answered: [] }], place.told);
  lookAtFile(place);
}

async function momentOf(rpc: RpcProcess, { kill }: BusyPlan, begun: number): Promise<void> {
  if ("afterMs" in kill) {
    await new Promise((resolve) => setTimeout(resolve, kill.afterMs));
    return;
  }
  const last = begun + kill.afterFrames;
  await rpc.waitFor(() => rpc.frames.length >= last, { since: begun, timeoutMs: 3000 }).catch(() => undefined);
}

/** Every message that an event announced, and every answer that left an entry. */
function remember(frames: readonly Frame[], stays: readonly Stay[], told: Map<string, Told>): void {
  for (const [number, { path, since, answered, leavingSince }] of stays.entries()) {
    const known = told.get(path) ?? { messages: [], answered: [], events: [] };
    told.set(path, known);
    known.answered.push(...answered);
    // Killed in the middle of a switch: whose the last events are nobody can tell.
    const cut = leavingSince === undefined ? frames.length : enteringFrom(frames, leavingSince, frames.length);
    const until = stays[number + 1]?.since ?? cut;
    known.events.push(...frames.slice(since, until).filter(isKeptEvent));
    for (const frame of frames.slice(since, until)) {
      const role = at(frame, "message", "role");
      const isTold = frame.type === "message_end" || (frame.type === "message_start" && role === "user");
      if (isTold) known.messages.push(frame.message);
      if (frame.type !== "response" || frame.command !== "compact" || !frame.success) continue;
      known.answered.push({ type: "compaction", firstKeptEntryId: at(frame, "data", "firstKeptEntryId") });
    }
  }
}

const SAID = new Set<unknown>(["user", "assistant", "toolResult"]);

/** Every event that a host of this session has ever seen is told once more, each once, and as it was. */
async function expectToldAgain(rpc: RpcProcess, { path, told }: Place, name: string): Promise<void> {
  const events = told.get(path)?.events ?? [];
  const since = rpc.mark();
  const { data } = await rpc.call({ type: "subscribe", after: 0 });
  const count = Number(at(data, "count"));
  const answer = rpc.frames.findIndex(({ command }, index) => index >= since && command === "subscribe");
  await rpc.waitFor(() => rpc.frames.length > answer + count, { since: answer });
  // Taken out: they are nothing new.
  const again = new Map(rpc.frames.splice(answer + 1, count).map((frame) => [frame.seq, frame]));
  const oldest = Number(at(data, "oldest"));
  // A frame of many megabytes is not kept, nor what stands before it.
  const isKept = ({ seq }: Frame): boolean => name !== LARGE_WRITE || Number(seq) >= oldest;
  const lost = events.filter((event) => isKept(event) && !isDeepStrictEqual(again.get(event.seq), event));
  if (lost.length > 0) throw new Error(`after a kill (${name}) not told again: ${JSON.stringify(lost.slice(0, 3))}`);
  const ends = [...again.values()].filter(({ type }) => type === "message_end").map(({ message }) => message);
  const untold = list(at((await rpc.call({ type: "get_messages" })).data, "messages"))
    .filter((message) => SAID.has(at(message, "role")))
    .filter((message) => !ends.some((told) => isDeepStrictEqual(told, message)));
  // A copy of another session has had its messages told there.
  if (untold.length > 0 && at(data, "missed") === false) {
    throw new Error(`after a kill (${name}) in the session, but never told: ${JSON.stringify(untold.slice(0, 3))}`);
  }
  if (again.size !== count) throw new Error(`after a kill (${name}) some events were told twice`);
}

/** The disk may lose the end of what was written last; a kill alone does not tear a short line. */
function tearLastLine({ tear }: BusyPlan, place: Place): void {
  if (tear === undefined || !existsSync(place.path)) return;
  const bytes = readFileSync(place.path);
  const start = bytes.lastIndexOf("\n", -2) + 1;
  const end = start + Math.ceil((bytes.length - 1 - start) * tear);
  if (start === 0 || end >= bytes.length - 1 || !bytes.toString("latin1").endsWith("\n")) return;
  forget(place, JSON.parse(bytes.toString("utf8", start)));
  truncateSync(place.path, end);
}

function lookAtFile(place: Place): void {
  const isThere = existsSync(place.path);
  place.left = isThere ? readSessionFile(place.path) : undefined;
  // Nothing was said yet, so there is no file: what was chosen is gone with the process.
  if (isThere) return;
  const known = place.told.get(place.path);
  known?.answered.splice(0);
  known?.events.splice(0);
}

/** The test has taken this one away. */
function forget({ told, path }: Place, entry: Frame): void {
  const known = told.get(path);
  if (!known) return;
  known.messages = known.messages.filter((message) => !isDeepStrictEqual(message, entry.message));
  known.answered = known.answered.filter((fields) => !hasFields(entry, fields));
}
