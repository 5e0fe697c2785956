import { errorText } from "./guards/rejections.ts";

/** `pi.exec`: a program, its arguments, no shell. Whatever goes wrong is in the result: it never rejects. */
export type Exec = (command: string, args?: readonly string[], options?: ExecOptions) => Promise<ExecResult>;

export interface ExecOptions {
  cwd?: string;
  /** Milliseconds. */
  timeout?: number;
  signal?: AbortSignal;
}

export interface ExecResult {
  stdout: string;
  stderr: string;
  code: number;
  /** By the signal, or because its time was over. */
  killed: boolean;
}

/** What is needed of the one place that starts processes. */
export interface ExecRequest {
  file: string;
  args: readonly string[];
  cwd: string;
  timeoutMs?: number;
  killGraceMs: number;
  onOutput(chunk: Buffer, source: "stdout" | "stderr"): void;
}

export interface ExecOutcome {
  ended: "exited" | "aborted" | "timedOut";
  exitCode: number | null;
  signal: NodeJS.Signals | null;
}

export interface ExecPlace {
  run(request: ExecRequest, signal: AbortSignal): Promise<ExecOutcome>;
  cwd(): string;
}

const KILL_GRACE_MS = 5000;
/** Of each output; more than this is no answer to read, but would be held in memory. */
const MOST_BYTES = 64 * 1024 * 1024;

export function createExec({ run, cwd }: ExecPlace): Exec {
  return async (command, args = [], options = {}) => {
    const stdout = createCollector();
    const stderr = createCollector();
    const result = (code: number, killed: boolean, reason = ""): ExecResult => {
      const notes = [reason, stdout.note("stdout"), stderr.note("stderr")].filter((note) => note !== "");
      return { stdout: stdout.text(), stderr: [stderr.text(), ...notes].join(""), code, killed };
    };
    const problem = argumentProblem(command, args);
    if (problem !== undefined) return result(1, false, problem);
    const { timeout, signal = new AbortController().signal } = options;
    try {
      const outcome = await run(
        {
          file: command,
          args,
          cwd: options.cwd ?? cwd(),
          ...(typeof timeout === "number" && timeout > 0 ? { timeoutMs: timeout } : {}),
          killGraceMs: KILL_GRACE_MS,
          onOutput: (chunk, source) => (source === "stdout" ? stdout : stderr).add(chunk),
        },
        signal,
      );
      return result(codeOf(outcome), outcome.ended !== "exited");
    } catch (error) {
      return result(1, false, errorText(error));
    }
  };
}

/** Extensions are often not type-checked. */
function argumentProblem(command: unknown, args: unknown): string | undefined {
  if (typeof command !== "string" || command === "") return `exec: the command must be a text, not ${String(command)}`;
  const areTexts = Array.isArray(args) && args.every((item) => typeof item === "string");
  return areTexts ? undefined : `exec: the arguments of ${command} must be a list of texts`;
}

/** As shells have it: a signal is 128 and its number. */
function codeOf({ exitCode, signal }: ExecOutcome): number {
  if (exitCode !== null) return exitCode;
  return signal === null ? 1 : 128 + process.getBuiltinModule("node:os").constants.signals[signal];
}

function createCollector() {
  const chunks: Buffer[] = [];
  let bytes = 0;
  let lost = 0;
  return {
    add(chunk: Buffer) {
      const room = Math.min(chunk.length, MOST_BYTES - bytes);
      bytes += room;
      lost += chunk.length - room;
      // A copy: the buffer may be used again.
      if (room > 0) chunks.push(Buffer.from(chunk.subarray(0, room)));
    },
    text: () => Buffer.concat(chunks).toString(),
    note: (name: string) => (lost === 0 ? "" : `\n[${lost} further bytes of ${name} were left out]`),
  };
}
