import { constants } from "node:os";
import { type ProcessOutcome, type ProcessRequest, runProcess } from "../exec/run-process.ts";
import { shellInvocation } from "../exec/shell.ts";
import { isFolder } from "../exec/start-failure.ts";
import { withoutEnding } from "../lib/without-ending.ts";
import { resolvePath } from "./path.ts";
import type { ShownOutput } from "./shell-output.ts";
import type { ToolContext } from "./tool.ts";
import type { TruncationLimits } from "./truncate.ts";

/** A command of the tool `bash`: where it runs, and how its end reads, whether somebody waits for it or not. */

export interface BashArgs {
  command: string;
  /** In seconds. */
  timeout?: number;
  /** In the background, where that is possible. */
  async?: unknown;
  // Models are not told of the following, but those that know them from elsewhere (or from an older conversation) use them.
  cwd?: unknown;
  env?: unknown;
  /** How many lines of the end to show. */
  tail?: unknown;
}

/** Where the command runs. Throws when that is nowhere, or when no shell could take the command. */
export function placeOf(context: ToolContext, { command, cwd, env }: BashArgs): ToolContext {
  const place = {
    ...context,
    ...(typeof cwd === "string" && cwd !== "" && { cwd: resolvePath(context, cwd) }),
    env: { ...context.env, ...sessionVariables(context.sessionId?.()), ...(isObject(env) && textsOf(env)) },
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

/** What a command may want to know of the session it runs for. */
export function sessionVariables(sessionId: string | undefined): Record<string, string> {
  return sessionId === undefined ? {} : { PI_SESSION_ID: sessionId };
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

export type CommandPlace = ToolContext & Pick<ProcessRequest, "onOutput" | "leavesOnAbort">;

export function runCommand(place: CommandPlace, args: BashArgs, signal: AbortSignal): Promise<ProcessOutcome> {
  const timeoutMs = args.timeout && args.timeout > 0 ? args.timeout * 1000 : undefined;
  return runProcess({ ...place, ...shellInvocation(args.command, place.shell), timeoutMs }, signal);
}

export function shownLines({ tail }: BashArgs): TruncationLimits {
  return typeof tail === "number" && tail >= 1 ? { maxLines: Math.floor(tail) } : {};
}

/** What the output of a command that went well reads like. */
export function outputText({ content, notice }: ShownOutput): string {
  return content.trim() === "" ? "(no output)" : content + notice;
}

export function failureText(outcome: ProcessOutcome, args: BashArgs): string | undefined {
  if (outcome.ended === "aborted") return "Command aborted";
  if (outcome.ended === "timedOut") return `Command timed out after ${args.timeout} seconds`;
  const code = exitCodeOf(outcome);
  return code === 0 ? undefined : `Command exited with code ${code}`;
}

/** A command ended by a signal counts as shells count: 128 and the number of the signal. */
export function exitCodeOf({ exitCode, signal }: ProcessOutcome): number {
  return exitCode ?? 128 + (signal ? constants.signals[signal] : 0);
}

export function joinFailure({ content, notice }: ShownOutput, failure: string, outcome: ProcessOutcome): string {
  const output = withoutEnding(content, "\n") + notice;
  if (output !== "") return `${output}\n\n${failure}`;
  return outcome.ended === "exited" ? `(no output)\n\n${failure}` : failure;
}
