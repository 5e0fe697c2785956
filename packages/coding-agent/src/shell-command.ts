import type { Clock } from "@tiller/protocol/clock";
import type { Env } from "./config/paths.ts";
import { createLiveOutput } from "./exec/live-output.ts";
import { createOutputBuffer, type OutputBuffer } from "./exec/output-buffer.ts";
import { type ProcessOutcome, runProcess } from "./exec/run-process.ts";
import { type ShellSettings, shellInvocation } from "./exec/shell.ts";
import { createShellState } from "./exec/shell-state.ts";
import type { BashResult, RunShell } from "./session/bash-runner.ts";
import { sessionVariables } from "./tools/bash-command.ts";
import { MAX_BYTES } from "./tools/limits.ts";
import { KEEP_BYTES, showOutput } from "./tools/shell-output.ts";

export interface ShellCommandOptions {
  cwd: string;
  env: Env;
  clock: Clock;
  sessionId(): string;
  shell: ShellSettings;
  /** Folder and environment survive from one command to the next. */
  keepsState: boolean;
}

/** Runs the shell commands of a host. Loaded with the first one. */
export function createShellCommands(options: ShellCommandOptions): RunShell {
  const { cwd, env, clock, sessionId, shell, keepsState } = options;
  const state = keepsState ? createShellState({ cwd, env }) : undefined;

  return async (given, onText, signal) => {
    if (given.includes("\0")) return { refused: '"command" contains a NUL character, which no shell can take' };
    const prepared = state?.prepare(given);
    const { command, place } = prepared ?? { command: given, place: { cwd, env } };
    const output = createOutputBuffer({ keepBytes: KEEP_BYTES, spillAfterBytes: MAX_BYTES });
    const live = createLiveOutput({ output, clock, tell: onText });
    const onOutput = (chunk: Buffer) => {
      output.write(chunk);
      live.touch();
    };
    let isFileTold = false;
    try {
      const around = { ...place, env: { ...place.env, ...sessionVariables(sessionId()) } };
      const outcome = await runProcess({ ...shellInvocation(command, shell), ...around, clock, onOutput }, signal);
      live.finish();
      const newCwd = prepared?.finish();
      const result = { ...describeOutput(output, endOf(outcome)), newCwd, workingDir: newCwd ?? place.cwd };
      isFileTold = result.fullOutputPath !== undefined;
      return result;
    } catch (error) {
      prepared?.finish();
      if (!(error instanceof Error && "code" in error)) throw error;
      return { refused: shell.path === undefined ? error.message : `${error.message}; see the setting shellPath` };
    } finally {
      output.close(isFileTold ? "keep-file" : "remove-file");
    }
  };
}

type End = Pick<BashResult, "exitCode" | "cancelled">;

function endOf({ ended, exitCode }: ProcessOutcome): End {
  const cancelled = ended !== "exited";
  return { cancelled, exitCode: cancelled ? undefined : (exitCode ?? undefined) };
}

/** What a host is told of a command that has ended. */
export function describeOutput(output: OutputBuffer, { exitCode, cancelled }: End): BashResult {
  const { truncation, fullOutputPath } = showOutput(output);
  const { content, truncated, totalLines, totalBytes, outputLines, outputBytes } = truncation;
  return {
    output: content,
    exitCode,
    cancelled,
    truncated,
    fullOutputPath,
    totalLines,
    totalBytes,
    outputLines,
    outputBytes,
  };
}
