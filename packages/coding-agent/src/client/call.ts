import type { CommandParams, CommandResults, CommandType } from "@tiller/protocol/plain-types.generated";

/** What a call of a command is, for those who make one and for those who carry it. */

export interface CallOptions {
  /** Ends the waiting for the answer; the command itself was sent. */
  signal?: AbortSignal;
  /** How long the answer may take; 0 for as long as it likes. */
  timeoutMs?: number;
}

export type Call = <K extends CommandType>(
  type: K,
  params: CommandParams[K],
  options?: CallOptions,
) => Promise<CommandResults[K]>;

/** Runs `fn` once after `ms`; returns a function that cancels it. */
export type After = (ms: number, fn: () => void) => () => void;
