import { type ChildProcess, spawn } from "node:child_process";
import type { Clock } from "@tiller/protocol/clock";
import { randomHex } from "../lib/clock.ts";
import { killByToken, killTree, signalGroup, TOKEN_VARIABLE } from "./kill-tree.ts";

/** The only place that starts processes. Each gets its own process group, no stdin and a token by which its children are found. */

export interface ProcessRequest {
  file: string;
  args: readonly string[];
  cwd: string;
  env: Readonly<Record<string, string | undefined>>;
  clock: Clock;
  timeoutMs?: number;
  /** How long an ended process may tidy up after SIGTERM before SIGKILL. 0 (the default) is SIGKILL at once. */
  killGraceMs?: number;
  /** Called with every chunk in the order of arrival. The chunk is the callee's to keep. */
  onOutput(chunk: Buffer, source: "stdout" | "stderr"): void;
}

export interface ProcessOutcome {
  ended: "exited" | "aborted" | "timedOut";
  /** Null when a signal ended it. */
  exitCode: number | null;
  signal: NodeJS.Signals | null;
}

/** After the exit, two quiet periods in a row mean that whoever still holds the pipe is a background child. */
const QUIET_MS = 25;
const QUIET_PERIODS = 2;
/** A background child that never stops writing must not keep us. */
const MAX_DRAIN_PERIODS = 10;
/** A killed process that does not go (stuck in the kernel) is given up after this. */
const GIVE_UP_MS = 1000;
/** The look for children that left the process group comes after the answer. */
const SWEEP_AFTER_MS = 20;

const instanceToken = randomHex(24);
let started = 0;

/** A mark for one process: the `;` keeps number 1 from being found in number 12. */
function nextToken(): string {
  started += 1;
  if (started === 1) process.once("exit", killAllProcesses);
  return `${instanceToken}.${started};`;
}

/** Ends everything that was ever started here and still runs, background children included. Runs by itself when this process exits. */
export function killAllProcesses(): void {
  if (started > 0) killByToken(`${instanceToken}.`);
}

/** Resolves when the process has exited (not when its pipes close), rejects only when it cannot be started. */
export async function runProcess(request: ProcessRequest, signal: AbortSignal): Promise<ProcessOutcome> {
  if (signal.aborted) return { ended: "aborted", exitCode: null, signal: null };
  const token = nextToken();
  const child = start(request, token);
  const output = collectOutput(child, request.onOutput);
  const exit = exitOf(child);
  const ending = watchForEnd(child, token, request, signal);
  try {
    const result = await Promise.race([exit, ending.gaveUp]);
    await drain(output, request.clock);
    return { ended: ending.cause() ?? "exited", ...result };
  } finally {
    ending.stop();
    output.discardRest();
  }
}

function start(request: ProcessRequest, token: string): ChildProcess {
  const inherited = request.env[TOKEN_VARIABLE];
  return spawn(request.file, request.args, {
    cwd: request.cwd,
    env: { ...request.env, [TOKEN_VARIABLE]: `${inherited ?? ""}${token}` },
    stdio: ["ignore", "pipe", "pipe"],
    detached: true,
  });
}

type Exit = Pick<ProcessOutcome, "exitCode" | "signal">;

function exitOf(child: ChildProcess): Promise<Exit> {
  return new Promise((resolve, reject) => {
    child.on("error", reject);
    child.once("exit", (exitCode, signal) => resolve({ exitCode, signal }));
  });
}

/** Ends the tree on abort or timeout, whichever is first, and remembers which it was. */
function watchForEnd(child: ChildProcess, token: string, request: ProcessRequest, signal: AbortSignal) {
  const { clock, timeoutMs, killGraceMs = 0 } = request;
  let cause: "aborted" | "timedOut" | undefined;
  let giveUp: (exit: Exit) => void = () => undefined;
  const gaveUp = new Promise<Exit>((resolve) => {
    giveUp = resolve;
  });
  const cancels: (() => void)[] = [];

  const kill = () => {
    if (child.pid !== undefined) signalGroup(child.pid, "SIGKILL");
    // The look through /proc for those that left the group takes milliseconds: nobody waits for it.
    clock.after(SWEEP_AFTER_MS, () => killByToken(token));
    cancels.push(clock.after(GIVE_UP_MS, () => giveUp({ exitCode: null, signal: "SIGKILL" })));
  };
  const end = (why: "aborted" | "timedOut") => {
    if (cause) return;
    cause = why;
    if (killGraceMs === 0 || child.pid === undefined) return kill();
    signalGroup(child.pid, "SIGTERM");
    cancels.push(clock.after(killGraceMs, kill));
  };
  const onAbort = () => end("aborted");
  signal.addEventListener("abort", onAbort, { once: true });
  if (timeoutMs !== undefined) {
    cancels.push(clock.after(timeoutMs, () => end("timedOut")));
  }

  return {
    gaveUp,
    cause: () => cause,
    stop() {
      signal.removeEventListener("abort", onAbort);
      for (const cancel of cancels) cancel();
      // The shell may go at SIGTERM while a child of it stays; nothing of an ended command is left behind.
      if (cause && killGraceMs > 0 && child.pid !== undefined) killTree(child.pid, token);
    },
  };
}

interface Output {
  chunks(): number;
  closed: Promise<void>;
  discardRest(): void;
}

function collectOutput(child: ChildProcess, onOutput: ProcessRequest["onOutput"]): Output {
  let chunks = 0;
  let listening = true;
  const closings: Promise<void>[] = [];
  for (const source of ["stdout", "stderr"] as const) {
    const stream = child[source];
    if (!stream) continue;
    stream.on("data", (chunk: Buffer) => {
      if (!listening) return;
      chunks += 1;
      onOutput(chunk, source);
    });
    closings.push(new Promise((resolve) => stream.once("close", resolve)));
    // A broken pipe ends the stream; "close" follows and is all we need.
    stream.on("error", () => stream.destroy());
  }
  return {
    chunks: () => chunks,
    closed: Promise.all(closings).then(() => undefined),
    /** We go on reading for background children, so that they do not die of a closed pipe, but without listening or staying alive for it. */
    discardRest() {
      listening = false;
      for (const stream of [child.stdout, child.stderr]) {
        if (stream && "unref" in stream && typeof stream.unref === "function") stream.unref();
      }
    },
  };
}

/** What the process wrote before its exit may still be in the pipe. */
async function drain(output: Output, clock: Clock): Promise<void> {
  let closed = false;
  const closing = output.closed.then(() => {
    closed = true;
  });
  let quiet = 0;
  for (let period = 0; period < MAX_DRAIN_PERIODS && quiet < QUIET_PERIODS; period++) {
    const before = output.chunks();
    let cancel: () => void = () => undefined;
    const pause = new Promise<void>((resolve) => {
      cancel = clock.after(QUIET_MS, resolve);
    });
    await Promise.race([closing, pause]);
    cancel();
    if (closed) return;
    quiet = output.chunks() === before ? quiet + 1 : 0;
  }
}
