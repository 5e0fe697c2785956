import { constants } from "node:os";
import type { ToolResult } from "@tiller/protocol/tool";
import { createOutputBuffer, type OutputBuffer } from "../exec/output-buffer.ts";
import { type ProcessOutcome, runProcess } from "../exec/run-process.ts";
import { shellInvocation } from "../exec/shell.ts";
import { MAX_BYTES } from "./limits.ts";
import { kindOf } from "./path.ts";
import { KEEP_BYTES, showOutput } from "./shell-output.ts";
import { createThrottle } from "./throttle.ts";
import { type Execute, type ToolContext, textResult } from "./tool.ts";

interface BashArgs {
  command: string;
  timeout?: number;
}

const UPDATE_INTERVAL_MS = 100;

export function createBash(context: ToolContext): Execute<BashArgs> {
  return async ({ args, signal, onUpdate }) => {
    await requireFolder(context.cwd);
    const output = createOutputBuffer({ keepBytes: KEEP_BYTES, spillAfterBytes: MAX_BYTES });
    const updates = createThrottle(context.clock, UPDATE_INTERVAL_MS, () => onUpdate(partialResult(output)));
    onUpdate({ content: [] });
    let truncated = false;
    try {
      const outcome = await runCommand(context, args, signal, (chunk) => {
        output.write(chunk);
        updates.touch();
      });
      const shown = showOutput(output);
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

async function requireFolder(cwd: string): Promise<void> {
  if ((await kindOf(cwd)) === "folder") return;
  throw new Error(`Working directory does not exist: ${cwd}\nCannot execute bash commands.`);
}

function runCommand(
  context: ToolContext,
  args: BashArgs,
  signal: AbortSignal,
  onOutput: (chunk: Buffer) => void,
): Promise<ProcessOutcome> {
  const timeoutMs = args.timeout && args.timeout > 0 ? args.timeout * 1000 : undefined;
  return runProcess({ ...context, ...shellInvocation(args.command), timeoutMs, onOutput }, signal);
}

/** Cumulative, as every update; the two details are always there, so that a client need not ask. */
function partialResult(output: OutputBuffer): ToolResult {
  const { content, truncation, fullOutputPath } = showOutput(output);
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
