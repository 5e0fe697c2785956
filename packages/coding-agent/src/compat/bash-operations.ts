import { constants } from "node:os";
import type { ToolResult } from "@tiller/protocol/tool";
import { createOutputBuffer } from "../exec/output-buffer.ts";
import { type ProcessOutcome, runProcess } from "../exec/run-process.ts";
import { type ShellSettings, shellInvocation } from "../exec/shell.ts";
import { withoutEnding } from "../lib/without-ending.ts";
import type { BashOperations } from "../session/ports.ts";
import { MAX_BYTES } from "../tools/limits.ts";
import { KEEP_BYTES, type ShownOutput, showOutput } from "../tools/shell-output.ts";
import { createThrottle } from "../tools/throttle.ts";
import { textResult } from "../tools/tool.ts";
import type { CompatHost } from "./host.ts";

/** Shell commands that run somewhere else, and the one place that is here. */

/** The shell of this machine, as the built-in tool uses it. */
export function createLocalBashOperations(
  host: Pick<CompatHost, "env" | "clock" | "shell">,
  { shellPath }: { shellPath?: string } = {},
): BashOperations {
  const shell: ShellSettings = { ...host.shell, ...(shellPath && { path: shellPath }) };
  return {
    async exec(command, cwd, { onData, signal = new AbortController().signal, timeout, env }) {
      const request = {
        ...shellInvocation(command, shell),
        cwd,
        env: env ?? host.env,
        clock: host.clock,
        timeoutMs: timeout && timeout > 0 ? timeout * 1000 : undefined,
        // The chunk is overwritten after the call, and nobody knows what the listener does with it.
        onOutput: (chunk: Buffer) => onData(Buffer.from(chunk)),
      };
      const outcome = await runProcess(request, signal);
      // These two texts are how operations tell it.
      if (outcome.ended === "aborted") throw new Error("aborted");
      if (outcome.ended === "timedOut") throw new Error(`timeout:${timeout}`);
      return { exitCode: exitCodeOf(outcome) };
    },
  };
}

/** A command ended by a signal counts as shells count: 128 and the number of the signal. */
function exitCodeOf({ exitCode, signal }: ProcessOutcome): number {
  return exitCode ?? 128 + (signal ? constants.signals[signal] : 0);
}

export interface BashRun {
  command: string;
  cwd: string;
  env: NodeJS.ProcessEnv;
  timeout?: number;
  signal: AbortSignal;
  onUpdate(partial: ToolResult): void;
}

const UPDATE_INTERVAL_MS = 100;

/** The built-in bash tool over somebody else's operations: the same limits, notices and errors. */
export async function runOverOperations(
  operations: BashOperations,
  { command, cwd, onUpdate, ...how }: BashRun,
  clock: CompatHost["clock"],
): Promise<ToolResult> {
  const output = createOutputBuffer({ keepBytes: KEEP_BYTES, spillAfterBytes: MAX_BYTES });
  const updates = createThrottle(clock, UPDATE_INTERVAL_MS, () => onUpdate(textResult(showOutput(output).content)));
  let isCut = false;
  const onData = (data: Buffer | string): void => {
    output.write(Buffer.from(data));
    updates.touch();
  };
  try {
    const failure = await failureOf(() => operations.exec(command, cwd, { onData, ...how }));
    const shown = showOutput(output);
    isCut = shown.truncation.truncated;
    if (failure !== undefined) throw new Error(withOutput(shown, failure));
    const text = shown.content.trim() === "" ? "(no output)" : shown.content + shown.notice;
    const details = { truncation: shown.truncation, fullOutputPath: shown.fullOutputPath };
    return textResult(text, isCut ? details : undefined);
  } finally {
    updates.stop();
    output.close(isCut ? "keep-file" : "remove-file");
  }
}

async function failureOf(run: () => Promise<{ exitCode: number | null }>): Promise<string | undefined> {
  try {
    const { exitCode } = await run();
    return exitCode ? `Command exited with code ${exitCode}` : undefined;
  } catch (error) {
    const text = error instanceof Error ? error.message : String(error);
    if (text === "aborted") return "Command aborted";
    if (text.startsWith("timeout:")) return `Command timed out after ${text.slice("timeout:".length)} seconds`;
    throw error;
  }
}

function withOutput({ content, notice }: ShownOutput, failure: string): string {
  const output = withoutEnding(content, "\n") + notice;
  return output === "" ? failure : `${output}\n\n${failure}`;
}
