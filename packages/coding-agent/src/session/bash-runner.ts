import type { Clock } from "@tiller/protocol/clock";
import type { Result } from "@tiller/protocol/commands/index";
import type { BashExecutionMessage } from "@tiller/protocol/message";
import type { CommandId, SessionEvent } from "./session-event.ts";

/** The shell commands that the host runs beside the conversation. What they print becomes part of it. */
export interface BashRunner {
  /** Resolves when the command has ended. It is running, and can be aborted, from the call on. */
  run(request: BashRequest): Promise<BashOutcome>;
  /** Ends all that are running. */
  abortAll(): void;
  /** Resolves when none is running. */
  settled(): Promise<void>;
  /** Puts into the conversation what was held back; called when no run is in the middle of it. */
  deliver(): void;
}

export interface BashRequest {
  command: string;
  /** The model never sees it. */
  excludeFromContext?: boolean;
  commandId?: CommandId;
}

export type BashResult = Result<"bash">;
export type BashOutcome = BashResult | { refused: string };

/** Runs one command; gives back why it could not be started, or how it ended. */
export type RunShell = (
  command: string,
  onText: (text: string) => undefined | Promise<void>,
  signal: AbortSignal,
  /** The model will never see it. */
  isExcluded?: boolean,
) => Promise<BashOutcome>;

export interface BashRunnerOptions {
  runShell: RunShell;
  clock: Clock;
  /** A run is going on: between a tool call and its result nothing else may stand. */
  isBusy(): boolean;
  keep(message: BashExecutionMessage): void;
  emit(event: SessionEvent): undefined | Promise<void>;
}

const UNSAVED: SessionEvent = {
  type: "notice",
  level: "warning",
  source: "bash",
  message: "Only the end of a command's output is left: there is no room on the disk for all of it",
};

export function createBashRunner({ runShell, clock, isBusy, keep, emit }: BashRunnerOptions): BashRunner {
  const running = new Map<Promise<BashOutcome>, AbortController>();
  const heldBack: BashExecutionMessage[] = [];

  const deliver = (): void => {
    for (const message of heldBack.splice(0)) keep(message);
  };
  const execute = async (request: BashRequest, signal: AbortSignal): Promise<BashOutcome> => {
    const { command, commandId: id } = request;
    const tell = (delta: string) => emit({ type: "bash_execution_update", id, delta });
    const outcome = await runShell(command, tell, signal, request.excludeFromContext);
    if ("refused" in outcome) return outcome;
    if (outcome.truncated && outcome.fullOutputPath === undefined) void emit(UNSAVED);
    heldBack.push(toMessage(request, outcome, clock.now()));
    if (!isBusy()) deliver();
    return outcome;
  };

  return {
    run(request) {
      const controller = new AbortController();
      const outcome = execute(request, controller.signal).finally(() => running.delete(outcome));
      running.set(outcome, controller);
      return outcome;
    },
    abortAll() {
      for (const controller of running.values()) controller.abort();
    },
    async settled() {
      while (running.size > 0) await Promise.allSettled(running.keys());
    },
    deliver,
  };
}

function toMessage(request: BashRequest, result: BashResult, timestamp: number): BashExecutionMessage {
  const { output, exitCode, cancelled, truncated, fullOutputPath } = result;
  return {
    role: "bashExecution",
    command: request.command.toWellFormed(),
    output,
    exitCode,
    cancelled,
    truncated,
    fullOutputPath,
    ...(request.excludeFromContext ? { excludeFromContext: true } : {}),
    timestamp,
  };
}
