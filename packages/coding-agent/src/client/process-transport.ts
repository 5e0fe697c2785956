import { type ChildProcessWithoutNullStreams, spawn } from "node:child_process";
import { systemClock } from "../lib/clock.ts";
import { createLineSplitter } from "../lib/jsonl.ts";
import type { After } from "./call.ts";
import { createReassembly } from "./chunks.ts";
import { ClientError } from "./errors.ts";
import type { Frame } from "./events.ts";
import type { AgentExit, Transport, TransportHandlers } from "./transport.ts";

export interface ProcessTransportOptions {
  /** The program and its arguments. */
  argv: readonly string[];
  cwd?: string;
  env?: Readonly<Record<string, string | undefined>>;
  /** How long the agent has at its end: for closing stdin, and again for SIGTERM, before SIGKILL. */
  terminationGraceMs?: number;
  /** Longest line that is read. */
  maxLineBytes?: number;
  after?: After;
}

const STDERR_KEPT = 16 * 1024;
const DEFAULT_GRACE_MS = 1000;
/** Far above what an agent sends in one line, and below what a string can hold. */
const DEFAULT_MAX_LINE = 256 * 1024 * 1024;
/** Children of a dead agent may hold its stdout open. */
const REST_MS = 500;

/** An agent as a child process: a frame is a line on its stdin and stdout. */
export function createProcessTransport(options: ProcessTransportOptions): Transport {
  const { argv, cwd, env, terminationGraceMs = DEFAULT_GRACE_MS, after = systemClock.after } = options;
  let child: ChildProcessWithoutNullStreams | undefined;
  let tail = "";
  let isGone = false;
  let failure: Error | undefined;
  let leave: () => void = () => undefined;
  const gone = new Promise<void>((resolve) => {
    leave = resolve;
  });

  const kill = (signal: NodeJS.Signals): void => {
    if (!isGone) child?.kill(signal);
  };
  const start = (handlers: TransportHandlers): void => {
    const exited = (exit: AgentExit): void => {
      if (isGone) return;
      isGone = true;
      leave();
      handlers.onExit(failure ? { ...exit, error: failure } : exit);
    };
    /** What came is of no use any more: the agent ends, and its exit says why. */
    const give = (error: Error): void => {
      failure ??= error;
      kill("SIGKILL");
    };
    const [program = "", ...args] = argv;
    try {
      child = spawn(program, args, {
        ...(cwd !== undefined && { cwd }),
        env: { ...process.env, ...env },
        windowsHide: true,
      });
    } catch (error) {
      // Some mistakes are thrown, such as a text with a zero byte.
      failure = within(cwd, asError(error));
      queueMicrotask(() => exited({ code: null, signal: null }));
      return;
    }
    watch(child, { handlers, give, exited, after, cwd, maxBytes: options.maxLineBytes ?? DEFAULT_MAX_LINE });
    child.stderr.setEncoding("utf8").on("data", (text: string) => {
      tail = (tail + text).slice(-STDERR_KEPT);
    });
  };

  return {
    start,
    send(frame) {
      if (!isGone) child?.stdin.write(`${JSON.stringify(frame)}\n`);
    },
    pause() {
      // What a dead agent has left is little, and somebody waits for its end.
      if (child?.exitCode === null && child.signalCode === null) child.stdout.pause();
    },
    resume() {
      child?.stdout.resume();
    },
    async stop() {
      if (!child || isGone) return;
      child.stdin.end();
      child.stdout.resume();
      const cancelTerm = after(terminationGraceMs, () => kill("SIGTERM"));
      const cancelKill = after(2 * terminationGraceMs, () => kill("SIGKILL"));
      await gone;
      cancelTerm();
      cancelKill();
    },
    stderr: () => tail,
  };
}

interface Watching {
  handlers: TransportHandlers;
  give(error: Error): void;
  exited(exit: AgentExit): void;
  after: After;
  cwd: string | undefined;
  maxBytes: number;
}

function watch(
  child: ChildProcessWithoutNullStreams,
  { handlers, give, exited, after, cwd, maxBytes }: Watching,
): void {
  const read = createLineReader(handlers, give);
  const lines = createLineSplitter({
    maxBytes,
    onLine: read,
    onTooLong: (bytes) =>
      give(new ClientError("protocol", `A line of more than ${bytes} bytes came; ${maxBytes} is the most`)),
  });
  child.stdout.on("data", (chunk: Buffer) => lines.push(chunk));
  child.stdout.on("end", () => lines.end());
  // Whoever cannot be written to is about to exit, and that tells more than EPIPE would.
  child.stdin.on("error", () => undefined);
  child.on("error", (error) => {
    // It may also be about a signal that could not be sent to a process that is there.
    if (child.pid !== undefined) return;
    give(within(cwd, error));
    exited({ code: null, signal: null });
  });
  let cancelRest: () => void = () => undefined;
  child.on("exit", (code, signal) => {
    child.stdout.resume();
    cancelRest = after(REST_MS, () => {
      child.stdout.destroy();
      exited({ code, signal });
    });
  });
  child.on("close", (code, signal) => {
    cancelRest();
    exited({ code, signal });
  });
}

/** Frames go to `onFrame`, pieces of one are put together, anything else is noise. */
function createLineReader(handlers: TransportHandlers, give: (error: Error) => void): (line: string) => void {
  const pieces = createReassembly();
  return (line) => {
    const frame = frameOf(line);
    if (frame === undefined) {
      if (line !== "") handlers.onNoise(line);
      return;
    }
    if (frame.type !== "rpc_chunk" && !pieces.isOpen) {
      handlers.onFrame(frame);
      return;
    }
    try {
      if (frame.type !== "rpc_chunk") pieces.interrupted();
      const whole = pieces.add(frame);
      if (whole === undefined) return;
      const inner = frameOf(whole);
      if (inner === undefined)
        throw new ClientError("protocol", `The pieces of a frame are no frame: ${whole.slice(0, 200)}`);
      handlers.onFrame(inner);
    } catch (error) {
      give(asError(error));
    }
  };
}

function frameOf(line: string): Frame | undefined {
  // Noise is rarely JSON, and an exception costs more than a look.
  if (!line.startsWith("{") && !/^\s*\{/.test(line)) return undefined;
  try {
    const value: unknown = JSON.parse(line);
    return isFrame(value) ? value : undefined;
  } catch (error) {
    if (error instanceof SyntaxError) return undefined;
    throw error;
  }
}

function isFrame(value: unknown): value is Frame {
  return typeof value === "object" && value !== null && typeof (value as Frame).type === "string";
}

/** A folder that is not there looks like a program that is not there. */
function within(cwd: string | undefined, error: Error): Error {
  return cwd === undefined ? error : new Error(`${error.message}, in ${cwd}`);
}

function asError(error: unknown): Error {
  return error instanceof Error ? error : new Error(String(error));
}
