import { readdirSync, readFileSync } from "node:fs";

/**
 * Ends a process and everything it started. Two nets: the process group catches the usual children; the token in the
 * environment catches those that left the group (setsid, daemons), because an environment is inherited by every child.
 */

/** The variable that marks a process as started by us. Nested agents append, so an outer one still finds the inner's children. */
export const TOKEN_VARIABLE = "TILLER_PROCESS_TOKEN";

/** A process may fork while we look, so we look again until nobody is left; a fork bomb must not keep us for ever. */
const MAX_SWEEPS = 8;

/** True when there was something to signal. A group that is already gone is the good case, not an error. */
export function signalGroup(pid: number, signal: NodeJS.Signals): boolean {
  return trySignal(-pid, signal);
}

function trySignal(target: number, signal: NodeJS.Signals): boolean {
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
  const found: number[] = [];
  for (const name of listProc()) {
    const pid = Number(name);
    if (!Number.isInteger(pid) || pid === process.pid) continue;
    if (readEnvironment(pid)?.includes(token)) found.push(pid);
  }
  return found;
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

function readEnvironment(pid: number): Buffer | undefined {
  try {
    return readFileSync(`/proc/${pid}/environ`);
  } catch {
    // Gone in the meantime, or somebody else's: either way not ours to end.
    return undefined;
  }
}

/** SIGKILL for everything that carries the token, wherever it hid. Synchronous, so that it works while the process exits. */
export function killByToken(token: string): void {
  for (let sweep = 0; sweep < MAX_SWEEPS; sweep++) {
    const pids = findByToken(token);
    if (pids.length === 0) return;
    for (const pid of pids) trySignal(pid, "SIGKILL");
  }
}

/** SIGKILL for the whole tree at once. */
export function killTree(pid: number, token: string): void {
  signalGroup(pid, "SIGKILL");
  killByToken(token);
}
