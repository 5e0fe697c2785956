import { constants } from "node:os";
import type { ToolResult } from "@tiller/protocol/tool";
import { createOutputBuffer, type OutputBuffer } from "../exec/output-buffer.ts";
import { type ProcessOutcome, runProcess } from "../exec/run-process.ts";
import { shellInvocation } from "../exec/shell.ts";
import { isFolder } from "../exec/start-failure.ts";
import { MAX_BYTES } from "./limits.ts";
import { resolvePath } from "./path.ts";
import { KEEP_BYTES, showOutput } from "./shell-output.ts";
import { createThrottle } from "./throttle.ts";
import { type Execute, type ToolContext, textResult } from "./tool.ts";
import type { TruncationLimits } from "./truncate.ts";

interface BashArgs {
  command: string;
  /** In seconds. */
  timeout?: number;
  // Models are not told of the following, but those that know them from elsewhere (or from an older conversation) use them.
  cwd?: unknown;
  env?: unknown;
  /** How many lines of the end to show. */
  tail?: unknown;
}

const UPDATE_INTERVAL_MS = 100;
/** Most commands are gone by then; for one that is not in a hurry, nobody waits. */
const ABORT_WAIT_MS = 1;

export function createBash(context: ToolContext): Execute<BashArgs> {
  return async ({ args, signal, onUpdate }) => {
    const place = placeOf(context, args);
    const limits = typeof args.tail === "number" && args.tail >= 1 ? { maxLines: Math.floor(args.tail) } : {};
    const output = createOutputBuffer({ keepBytes: KEEP_BYTES, spillAfterBytes: MAX_BYTES });
    const updates = createThrottle(context.clock, UPDATE_INTERVAL_MS, () => onUpdate(partialResult(output, limits)));
    onUpdate({ content: [] });
    let truncated = false;
    try {
      const outcome = await runCommand(place, args, signal, (chunk) => {
        output.write(chunk);
        updates.touch();
      });
      const shown = showOutput(output, limits);
      truncated = shown.truncation.truncated;
      const failure = failureText(outcome, args);
      if (failure) throw new Error(joinFailure(shown.content, shown.notice, failure, outcome));
      const text = shown.content.trim() === "" ? "(no output)" : shown.content + shown.notice;
      const details = { truncation: shown.truncation, fullOutputPath: shown.fullOutputPath };
      return textResult(text, truncated ? details : undefined);
    } finally {
      updates.stop();
      output.close(truncated ? "keep-file" : "remove-file");
    }
  };
}

/** Where the command runs. Throws when that is nowhere, or when no shell could take the command. */
function placeOf(context: ToolContext, { command, cwd, env }: BashArgs): ToolContext {
  const place = {
    ...context,
    ...(typeof cwd === "string" && cwd !== "" && { cwd: resolvePath(context, cwd) }),
    ...(isObject(env) && { env: { ...context.env, ...textsOf(env) } }),
  };
  if (!isFolder(place.cwd)) {
    throw new Error(`Working directory does not exist: ${place.cwd}\nCannot execute bash commands.`);
  }
  if (command.includes("\0")) {
    throw new Error(
      "The command has a NUL character in it, which no shell can take. Write $'\\x00' or printf '\\0' instead.",
    );
  }
  return place;
}

/** An environment knows only texts. A NUL would end one. */
function textsOf(env: Record<string, unknown>): Record<string, string> {
  const pairs = Object.entries(env).filter(([name, value]) => /^[^=\0]+$/.test(name) && isPlain(value));
  return Object.fromEntries(pairs.map(([name, value]) => [name, String(value).replaceAll("\0", "")]));
}

function isPlain(value: unknown): boolean {
  return ["string", "number", "boolean"].includes(typeof value);
}

function isObject(value: unknown): value is Record<string, unknown> {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}

function runCommand(
  place: ToolContext,
  args: BashArgs,
  signal: AbortSignal,
  onOutput: (chunk: Buffer) => void,
): Promise<ProcessOutcome> {
  const timeoutMs = args.timeout && args.timeout > 0 ? args.timeout * 1000 : undefined;
  const invocation = shellInvocation(args.command, place.shell);
  return runProcess({ ...place, ...invocation, timeoutMs, abortWaitMs: ABORT_WAIT_MS, onOutput }, signal);
}

/** Cumulative, as every update; the two details are always there, so that a client need not ask. */
function partialResult(output: OutputBuffer, limits: TruncationLimits): ToolResult {
  const { content, truncation, fullOutputPath } = showOutput(output, limits);
  return {
    content: [{ type: "text", text: content }],
    details: { truncation: truncation.truncated ? truncation : null, fullOutputPath: fullOutputPath ?? null },
  };
}

function failureText(outcome: ProcessOutcome, args: BashArgs): string | undefined {
  if (outcome.ended === "aborted") return "Command aborted";
  if (outcome.ended === "timedOut") return `Command timed out after ${args.timeout} seconds`;
  const code = exitCodeOf(outcome);
  return code === 0 ? undefined : `Command exited with code ${code}`;
}

/** A command ended by a signal counts as shells count: 128 and the number of the signal. */
function exitCodeOf({ exitCode, signal }: ProcessOutcome): number {
  return exitCode ?? 128 + (signal ? constants.signals[signal] : 0);
}

function joinFailure(content: string, notice: string, failure: string, outcome: ProcessOutcome): string {
  const output = content.replace(/\n+$/, "") + notice;
  if (output !== "") return `${output}\n\n${failure}`;
  return outcome.ended === "exited" ? `(no output)\n\n${failure}` : failure;
}
