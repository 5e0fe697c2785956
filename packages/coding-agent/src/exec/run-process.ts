import { type ChildProcess, spawn, spawnSync } from "node:child_process";
import { delimiter } from "node:path";
import { isMainThread } from "node:worker_threads";
import type { Clock } from "@tiller/protocol/clock";
import { randomHex, systemClock } from "../lib/clock.ts";
import { searchPath } from "../lib/search-path.ts";
import { afterwards } from "./afterwards.ts";
import { onEndProcesses, TOKEN_VARIABLE } from "./end-processes.ts";
import { groupExists, killByToken, killByTokenInTurns, signalGroup } from "./kill-tree.ts";
import { createPipePool, type OutputPipe } from "./output-pipe.ts";
import { startFailure } from "./start-failure.ts";
import { createWatchdog } from "./watchdog.ts";

/** The only place that starts processes. Each gets its own process group and a token by which its children are found. */

export interface ProcessRequest {
  file: string;
  args: readonly string[];
  cwd: string;
  env: Readonly<Record<string, string | undefined>>;
  clock: Clock;
  timeoutMs?: number;
  /** How long an ended process and its children may tidy up after SIGTERM before SIGKILL. */
  killGraceMs?: number;
  /** An aborted process is not waited for longer than one that goes at once takes: its ending goes on by itself. */
  leavesOnAbort?: boolean;
  /**
   * stdout and stderr are one stream, in the order in which they were written; `source` is then always stdout. The last
   * argument must be a shell script: where the system cannot join the two, the shell does.
   */
  merged?: boolean;
  /** Called with every chunk in the order of arrival. The chunk of a merged stream is overwritten after the call. */
  onOutput(chunk: Buffer, source: "stdout" | "stderr"): void;
}

export interface ProcessOutcome {
  ended: "exited" | "aborted" | "timedOut";
  /** Null when a signal ended it. */
  exitCode: number | null;
  signal: NodeJS.Signals | null;
}

/** Less than what closing the whole process may take. */
const KILL_GRACE_MS = 250;
/** After the exit, two quiet periods in a row mean that whoever still holds the pipe is a background child. */
const QUIET_MS = 25;
const QUIET_PERIODS = 2;
/** A background child that never stops writing must not keep us. */
const MAX_DRAIN_PERIODS = 10;
/** A killed process that does not go (stuck in the kernel) is given up after this. */
const GIVE_UP_MS = 1000;
/** The look for children that left the process group comes after the answer. */
const SWEEP_AFTER_MS = 20;

/** Whether anything is left in the groups is looked at for all that end in this time: the next command may follow at once. */
const LOOK_AFTER_MS = 20;

/** A process that is spoken to and does not listen must not fill our memory. */
const LONGEST_BACKLOG = 64 * 1024 * 1024;

const instanceToken = randomHex(24);
/** Process groups in which something may still run, with the marks that were in their environment. */
const groups = new Map<number, string>();
/** Those of them that outlive a session: only the end of this process, or whoever started them, ends them. */
const lastingGroups = new Set<number>();
const watchdog = createWatchdog(spawn, instanceToken);
/** A worker closes at its end every descriptor it has opened by number, also those that a socket has closed long ago. */
const pipes = isMainThread ? createPipePool(makeFifos) : undefined;
let started = 0;
let isLookDue = false;

function makeFifos(paths: readonly string[]): boolean {
  const env = { PATH: searchPath(process.env.PATH ?? "/usr/bin:/bin").join(delimiter) };
  return spawnSync("mkfifo", ["-m", "600", ...paths], { stdio: "ignore", env }).status === 0;
}

/** What follows our own token in that of a process: `+` for one that lasts. */
const PASSING = ".";
const LASTING = "+";

/** A mark for one process: the `;` keeps number 1 from being found in number 12. */
function nextToken(kind: typeof PASSING | typeof LASTING = PASSING): string {
  started += 1;
  if (started === 1) {
    process.once("exit", leave);
    onEndProcesses(killAllProcesses);
  }
  return `${instanceToken}${kind}${started};`;
}

function leave(): void {
  for (const group of groups.keys()) signalGroup(group, "SIGKILL");
  killByToken(instanceToken);
  watchdog.stop();
}

/**
 * Ends everything that was ever started here and still runs, background children included, but for those that last; with a
 * mark only what carries it. When this process exits, everything ends by itself.
 */
export function killAllProcesses(mark?: string): void {
  if (started === 0) return;
  for (const [group, marks] of groups) {
    if (!lastingGroups.has(group) && marks.includes(mark ?? "")) signalGroup(group, "SIGKILL");
  }
  killByToken(mark ?? `${instanceToken}${PASSING}`);
}

/** A process that is spoken to, for as long as it is wanted. */
export interface LastingProcess {
  /** What is said to one that has gone is lost. */
  write(text: string): void;
  /** Resolves when it has exited and its output is read; rejects when it cannot be started. */
  readonly exited: Promise<Exit>;
  /** Closes its stdin and asks it to end; after a while it is killed, with everything it started. */
  end(): void;
}

export function startLasting(
  request: Pick<ProcessRequest, "file" | "args" | "cwd" | "env" | "clock" | "onOutput">,
): LastingProcess {
  const token = nextToken(LASTING);
  const { child, output } = start(request, token, "pipe");
  const { pid } = child;
  if (pid !== undefined) lastingGroups.add(pid);
  const exit = exitOf(child, request);
  watchGroup(pid, output);
  const kill = (): void => {
    if (pid !== undefined) signalGroup(pid, "SIGKILL");
    killByToken(token);
  };
  let isEnding = false;
  const end = (): void => {
    if (isEnding) return;
    isEnding = true;
    child.stdin?.end();
    if (pid === undefined) return;
    signalGroup(pid, "SIGTERM");
    const cancel = request.clock.after(KILL_GRACE_MS, kill);
    void exit.then(cancel, cancel);
  };
  // Nobody can speak to it any more, so it is of no use. Its exit says the rest.
  child.stdin?.on("error", end);
  return {
    write(text) {
      if (!child.stdin?.writable) return;
      child.stdin.write(text);
      if (child.stdin.writableLength > LONGEST_BACKLOG) end();
    },
    exited: exit.then(async (result) => {
      await drain(output, request.clock);
      output.discardRest();
      kill();
      return result;
    }),
    end,
  };
}

/** Resolves when the process has exited (not when its pipes close), rejects only when it cannot be started. */
export async function runProcess(request: ProcessRequest, signal: AbortSignal): Promise<ProcessOutcome> {
  if (signal.aborted) return { ended: "aborted", exitCode: null, signal: null };
  const token = nextToken();
  const { child, output } = start(request, token);
  const exit = exitOf(child, request);
  watchGroup(child.pid, output, request.env[TOKEN_VARIABLE]);
  const ending = watchForEnd(child.pid, token, request, signal);
  const over = untilOver(exit, output, ending, request.clock);
  try {
    const result = await Promise.race([over, ending.leftEarly]);
    return { ended: ending.cause() ?? "exited", ...result };
  } finally {
    if (ending.isLeftEarly()) void over.then(ending.stop, ending.stop);
    else ending.stop();
    output.discardRest();
  }
}

async function untilOver(exit: Promise<Exit>, output: Output, ending: Ending, clock: Clock): Promise<Exit> {
  const result = await Promise.race([exit, ending.gaveUp]);
  // Children of an ended command may tidy up for as long as it had itself; those of any other may go on.
  if (ending.cause()) await Promise.race([output.closed, ending.killed]);
  else await drain(output, clock);
  return result;
}

function start(
  request: Pick<ProcessRequest, "file" | "args" | "cwd" | "env" | "merged" | "onOutput">,
  token: string,
  stdin: "ignore" | "pipe" = "ignore",
): { child: ChildProcess; output: Output } {
  const inherited = request.env[TOKEN_VARIABLE];
  const listener = createListener(request.onOutput);
  const pipe = request.merged ? pipes?.take((chunk) => listener.hear(chunk, "stdout")) : undefined;
  const outputs = pipe ? [pipe.writeEnd, pipe.writeEnd] : ["pipe" as const, "pipe" as const];
  const args = request.merged && !pipe ? mergedByShell(request.args) : request.args;
  try {
    const child = spawn(request.file, args, {
      cwd: request.cwd,
      env: { ...request.env, [TOKEN_VARIABLE]: `${inherited ?? ""}${token}` },
      stdio: [stdin, ...outputs],
      detached: true,
    });
    return { child, output: pipe ? pipeOutput(pipe, listener) : socketOutput(child, listener) };
  } catch (error) {
    throw startFailure(error, request);
  } finally {
    pipe?.closeWriteEnd();
  }
}

/** On the first line of the script, so that the line numbers in the shell's own messages stay right. */
function mergedByShell(args: readonly string[]): string[] {
  return [...args.slice(0, -1), `exec 2>&1; ${args.at(-1)}`];
}

type Exit = Pick<ProcessOutcome, "exitCode" | "signal">;

function exitOf(child: ChildProcess, request: Pick<ProcessRequest, "file" | "cwd">): Promise<Exit> {
  return new Promise((resolve, reject) => {
    child.on("error", (error) => reject(startFailure(error, request)));
    child.once("exit", (exitCode, signal) => resolve({ exitCode, signal }));
  });
}

/** Remembers the process group until it is empty, here and with the watchdog. */
function watchGroup(group: number | undefined, output: Output, marks = ""): void {
  if (group === undefined) return;
  groups.set(group, marks);
  watchdog.watch(groups.keys());
  // Whoever closed its output may still run; then the group is looked at again when the next one has ended.
  void output.closed.then(() => {
    if (!isLookDue) systemClock.after(LOOK_AFTER_MS, forgetEmptyGroups, true);
    isLookDue = true;
  });
}

function forgetEmptyGroups(): void {
  isLookDue = false;
  for (const group of groups.keys()) {
    if (groupExists(group)) continue;
    groups.delete(group);
    lastingGroups.delete(group);
  }
  watchdog.watch(groups.keys());
}

/** Ends the tree on abort or timeout, whichever is first, and remembers which it was. */
function watchForEnd(pid: number | undefined, token: string, request: ProcessRequest, signal: AbortSignal) {
  const { clock, timeoutMs, killGraceMs = KILL_GRACE_MS, leavesOnAbort } = request;
  let cause: "aborted" | "timedOut" | undefined;
  let giveUp: (exit: Exit) => void = () => undefined;
  const gaveUp = new Promise<Exit>((resolve) => {
    giveUp = resolve;
  });
  let isKilled: () => void = () => undefined;
  const killed = new Promise<void>((resolve) => {
    isKilled = resolve;
  });
  let leaveEarly: () => void = () => undefined;
  let isLeftEarly = false;
  const leftEarly = new Promise<Exit>((resolve) => {
    leaveEarly = () => {
      isLeftEarly = true;
      resolve({ exitCode: null, signal: null });
    };
  });
  const cancels: (() => void)[] = [];

  const kill = () => {
    if (pid !== undefined) signalGroup(pid, "SIGKILL");
    isKilled();
    cancels.push(clock.after(GIVE_UP_MS, () => giveUp({ exitCode: null, signal: "SIGKILL" })));
  };
  const end = (why: "aborted" | "timedOut") => {
    if (cause) return;
    cause = why;
    if (killGraceMs === 0 || pid === undefined) return kill();
    signalGroup(pid, "SIGTERM");
    cancels.push(clock.after(killGraceMs, kill));
  };
  const onAbort = () => {
    end("aborted");
    if (leavesOnAbort) afterwards(leaveEarly);
  };
  signal.addEventListener("abort", onAbort, { once: true });
  if (timeoutMs !== undefined) cancels.push(clock.after(timeoutMs, () => end("timedOut")));

  return {
    gaveUp,
    killed,
    leftEarly,
    isLeftEarly: () => isLeftEarly,
    cause: () => cause,
    /** Nothing of an ended command is left behind. */
    stop() {
      signal.removeEventListener("abort", onAbort);
      for (const cancel of cancels) cancel();
      if (!cause || pid === undefined) return;
      signalGroup(pid, "SIGKILL");
      // The look through /proc for those that left the group takes milliseconds: nobody waits for it. At the end of this
      // process, and of a session, there is another one that leaves nobody.
      clock.after(SWEEP_AFTER_MS, () => killByTokenInTurns(token, clock));
    },
  };
}

type Ending = ReturnType<typeof watchForEnd>;

interface Output {
  chunks(): number;
  /** Nobody can write any more. */
  closed: Promise<void>;
  /** We go on reading for background children, so that they do not die of a closed pipe, but without listening or staying alive for it. */
  discardRest(): void;
}

function createListener(onOutput: ProcessRequest["onOutput"]) {
  let chunks = 0;
  let isListening = true;
  return {
    chunks: () => chunks,
    hear(chunk: Buffer, source: "stdout" | "stderr") {
      if (!isListening) return;
      chunks += 1;
      onOutput(chunk, source);
    },
    stop() {
      isListening = false;
    },
  };
}
type Listener = ReturnType<typeof createListener>;

function pipeOutput(pipe: OutputPipe, listener: Listener): Output {
  return {
    chunks: listener.chunks,
    closed: pipe.closed,
    discardRest() {
      listener.stop();
      pipe.unref();
    },
  };
}

function socketOutput(child: ChildProcess, listener: Listener): Output {
  const closings: Promise<void>[] = [];
  for (const source of ["stdout", "stderr"] as const) {
    const stream = child[source];
    if (!stream) continue;
    stream.on("data", (chunk: Buffer) => listener.hear(chunk, source));
    closings.push(new Promise((resolve) => stream.once("close", resolve)));
    // A broken pipe ends the stream; "close" follows and is all we need.
    stream.on("error", () => stream.destroy());
  }
  return {
    chunks: listener.chunks,
    closed: Promise.all(closings).then(() => undefined),
    discardRest() {
      listener.stop();
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
  // Most often it is closed by now: what is known already needs no timer.
  await Promise.resolve();
  if (closed) return;
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
