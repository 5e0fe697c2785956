import { readdirSync, readFileSync, readlinkSync } from "node:fs";
import type { Clock } from "@tiller/protocol/clock";

/**
 * Ends a process and everything it started. Two nets: the process group catches the usual children; the token in the
 * environment catches those that left the group (setsid, daemons), because an environment is inherited by every child.
 * What slips through both is a process that has wiped its environment and left the group.
 */

/** A process may fork while we look, so we look again until nobody is left; a fork bomb must not keep us for ever. */
const MAX_SWEEPS = 100;
/** On a busy machine somebody always goes while we look: so many sweeps in a row that find nobody are enough, though none is a proof. */
const UNSURE_SWEEPS = 10;
const PAUSE_MS = 1;
/** So many processes are looked at in a few tenths of a millisecond. */
const LOOKS_IN_A_TURN = 16;

/** True when there was something to signal. A group that is already gone is the good case, not an error. */
export function signalGroup(pid: number, signal: NodeJS.Signals): boolean {
  return trySignal(group(pid), signal);
}

/** Also true for a group of zombies that nobody has reaped yet. */
export function groupExists(pid: number): boolean {
  return trySignal(group(pid), 0);
}

/** Windows has no groups. */
function group(pid: number): number {
  return process.platform === "win32" ? pid : -pid;
}

function trySignal(target: number, signal: NodeJS.Signals | 0): boolean {
  try {
    return process.kill(target, signal);
  } catch (error) {
    const code = (error as NodeJS.ErrnoException).code;
    if (code === "ESRCH" || code === "EPERM") return false;
    throw error;
  }
}

/** Pids of living processes whose environment holds the token. Empty where there is no /proc. */
export function findByToken(token: string): number[] {
  return otherPids().filter((pid) => sightOf(pid, token) === "ours");
}

function otherPids(): number[] {
  return listProc()
    .map(Number)
    .filter((pid) => Number.isInteger(pid) && pid !== process.pid);
}

/**
 * What a look at a process shows. One that is just replacing its program has neither environment nor arguments for a moment.
 * Zombies and the kernel's own threads look as if they had gone.
 */
type Sight = "ours" | "stranger" | "gone" | "replacing";

function sightOf(pid: number, token: string): Sight {
  let environment = readProc(pid, "environ");
  if (environment.length === 0) {
    if (readProc(pid, "cmdline").length === 0) return hasProgram(pid) ? "replacing" : "gone";
    // Whoever has arguments by now has an environment by now, or never has one.
    environment = readProc(pid, "environ");
    if (environment.length === 0 && readProc(pid, "cmdline").length === 0) return "gone";
  }
  return environment.includes(token) ? "ours" : "stranger";
}

function listProc(): string[] {
  if (process.platform !== "linux") return [];
  try {
    return readdirSync("/proc");
  } catch (error) {
    // A container may hide /proc; then the process group is the only net.
    if ((error as NodeJS.ErrnoException).code === "ENOENT") return [];
    throw error;
  }
}

/** Empty when the process is gone, or somebody else's. */
function readProc(pid: number, file: "environ" | "cmdline" | "stat"): Buffer {
  try {
    return readFileSync(`/proc/${pid}/${file}`);
  } catch {
    // Every failure is the kernel's way to say that it is not ours to end.
    return Buffer.alloc(0);
  }
}

/** Zombies and the kernel's own threads have none. */
function hasProgram(pid: number): boolean {
  try {
    return readlinkSync(`/proc/${pid}/exe`) !== "";
  } catch {
    // As above.
    return false;
  }
}

/** The process group, undefined when the process is gone. The name before it may hold spaces and brackets. */
function groupOf(pid: number): number | undefined {
  const stat = readProc(pid, "stat").toString();
  const group = Number(stat.slice(stat.lastIndexOf(")") + 2).split(" ")[2]);
  // A signal to the group 1 would go to everybody.
  return group > 1 ? group : undefined;
}

/**
 * SIGKILL for everything that carries the token, wherever it hid, and for its group: the kernel ends a group at once,
 * however fast its members fork. Synchronous, so that it works while the process exits.
 */
export function killByToken(token: string): void {
  const { sweep } = createHunt(token);
  while (!sweep()) pause();
}

/**
 * The same for who has time, a bit in each turn of the event loop: everybody is looked at first, and the sweeps that make it
 * certain have only those left who have come since.
 */
export function killByTokenInTurns(token: string, clock: Clock): void {
  const { look, sweep } = createHunt(token);
  const pids = otherPids();
  const sweepOn = (): void => {
    if (!sweep()) clock.after(PAUSE_MS, sweepOn);
  };
  const lookOn = (): void => {
    for (const pid of pids.splice(0, LOOKS_IN_A_TURN)) look(pid);
    if (pids.length > 0) setImmediate(lookOn);
    else clock.after(PAUSE_MS, sweepOn);
  };
  lookOn();
}

interface Hunt {
  /** Ends a process if it is ours. Who is surely somebody else, or dead, is not looked at again. */
  look(pid: number): Sight;
  /** Looks at all; true when nobody is left, or they are too quick for us. */
  sweep(): boolean;
}

function createHunt(token: string): Hunt {
  const strangers = new Set<number>();
  let sweeps = 0;
  let unsure = 0;
  const look = (pid: number): Sight => {
    if (strangers.has(pid)) return "stranger";
    const sight = sightOf(pid, token);
    if (sight === "ours") killWithGroup(pid);
    if (sight === "stranger" || sight === "gone") strangers.add(pid);
    return sight;
  };
  return {
    look,
    sweep() {
      const seen = new Set(otherPids().map(look));
      sweeps += 1;
      const isSomebodyHere = seen.has("ours") || seen.has("replacing");
      unsure = isSomebodyHere ? 0 : unsure + 1;
      // Who was listed and has gone before the look may have left a child that was not listed yet. Without such a one nobody is left.
      const isSure = !isSomebodyHere && !seen.has("gone");
      return isSure || unsure === UNSURE_SWEEPS || sweeps === MAX_SWEEPS;
    },
  };
}

const NEVER_WOKEN = new Int32Array(new SharedArrayBuffer(4));

/** Synchronous, because a process that exits has no other time. */
function pause(): void {
  Atomics.wait(NEVER_WOKEN, 0, 0, PAUSE_MS);
}

function killWithGroup(pid: number): void {
  const its = groupOf(pid);
  // Everything that we start has a group of its own, so this is never the case; if it were, we would end ourselves.
  if (its !== undefined && its !== groupOf(process.pid)) signalGroup(its, "SIGKILL");
  trySignal(pid, "SIGKILL");
}
