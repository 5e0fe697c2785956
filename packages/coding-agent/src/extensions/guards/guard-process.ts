import { createReplacements } from "../../lib/replace.ts";

/** An extension must not end the process under everybody's feet: what it calls for is an orderly end. */

/** Thrown where an extension called `process.exit`, because that call never returns. It is no failure: the end is on its way. */
export class ProcessExitError extends Error {
  override readonly name = "ProcessExitError";
  readonly exitCode: number;
  constructor(call: string, exitCode: number, owner: string) {
    super(`${call} was called by ${owner}; Tiller shuts down with code ${exitCode}`);
    this.exitCode = exitCode;
  }
}

export function isProcessExit(error: unknown): error is ProcessExitError {
  return error instanceof ProcessExitError;
}

/** The parts of `process` that end it. */
export type EndableProcess = Pick<
  NodeJS.Process,
  "pid" | "exit" | "abort" | "kill" | "exitCode" | "once" | "off" | "listenerCount"
>;

export interface ProcessGuardOptions {
  process: EndableProcess;
  /** The extension in whose code the error was made. */
  ownerOf(error: Error): string | undefined;
  /** Asks for an orderly end; called for each attempt. */
  onExit(code: number, owner: string, call: string): void;
}

export interface ProcessGuard {
  /** The real one, for our own end. */
  exit(code: number): void;
  release(): void;
}

/** Signals that end a process which does not listen for them. Nobody can listen for the first. */
const ENDING = new Set([
  "SIGKILL",
  "SIGTERM",
  "SIGINT",
  "SIGHUP",
  "SIGQUIT",
  "SIGABRT",
  "SIGSEGV",
  "SIGBUS",
  "SIGFPE",
  "SIGILL",
]);

export function guardProcess({ process: host, ownerOf, onExit }: ProcessGuardOptions): ProcessGuard {
  const exit = host.exit.bind(host);
  const replacements = createReplacements();
  const refuse = (call: string, code: number): never => {
    const owner = ownerOf(new Error(call)) ?? "an extension";
    onExit(code, owner, call);
    throw new ProcessExitError(call, code, owner);
  };

  replacements.replace(host, "exit", () => (code) => {
    const number = Number(code ?? host.exitCode ?? 0);
    return refuse(`process.exit(${code ?? ""})`, Number.isInteger(number) ? number & 0xff : 1);
  });
  replacements.replace(host, "abort", () => () => refuse("process.abort()", 128 + signalNumber("SIGABRT")));
  replacements.replace(host, "kill", (original) => (pid, signal) => {
    const name = signalName(signal);
    const meansUs = pid === host.pid || pid === -host.pid || pid === 0;
    if (!meansUs || !ENDING.has(name) || host.listenerCount(name) > 0) return original.call(host, pid, signal);
    return refuse(`process.kill(${pid}, "${name}")`, 128 + signalNumber(name));
  });

  // Whoever ends the process while it ends anyway may do so.
  const release = (): void => {
    replacements.undo();
    host.off("exit", release);
  };
  host.once("exit", release);
  return { exit, release };
}

/** Asked for when somebody ends something. */
function signalNumbers(): Record<string, number> {
  return process.getBuiltinModule("node:os").constants.signals;
}

function signalName(signal: string | number | undefined): string {
  if (typeof signal !== "number") return signal ?? "SIGTERM";
  return Object.entries(signalNumbers()).find(([, number]) => number === signal)?.[0] ?? String(signal);
}

function signalNumber(name: string): number {
  return signalNumbers()[name] ?? 0;
}
