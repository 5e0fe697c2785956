import type { CommandType, Params, Result } from "@tiller/protocol/commands/index";
import type { CommandId } from "../../session/session-event.ts";

/**
 * What a handler gives back: data (as a value, as JSON, or as JSON in pieces that are made while it is written), a
 * refusal in one sentence, an accepted job that starts after the answer, or an answer that is made when it is written,
 * with frames that stand directly behind it.
 */
export type Answer<R> =
  | { data: R }
  | { dataJson: string }
  | { dataPieces: Iterable<Buffer | string> }
  | { refused: string }
  | { data: R; job: () => Promise<void> }
  | { now: () => { data: R; behind: () => void } | { refused: string } };

export function ok<R>(data: R): { data: R } {
  return { data };
}

/** For commands whose success has no data. */
export const done: { data: undefined } = { data: undefined };

export function refused(reason: string): { refused: string } {
  return { refused: reason };
}

export interface Call {
  id: CommandId | undefined;
  /** The command before it was the same one, read at the same time: nothing can have changed between the two. */
  again: boolean;
  /** For a command that overtakes: does the work when all that was read before it has been started. */
  inTurn(work: () => Promise<void>): Promise<void>;
  /** For a command that is not waited for: what was read after it waits until its answer is written. */
  hold(): void;
}

export type Handler<K extends CommandType> = (
  params: Params<K>,
  call: Call,
) => Answer<Result<K>> | Promise<Answer<Result<K>>>;

export type Handlers<K extends CommandType = CommandType> = { readonly [T in K]: Handler<T> };
