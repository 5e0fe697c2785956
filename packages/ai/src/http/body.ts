import type { Clock } from "@tiller/protocol/clock";
import { ProviderError } from "../errors.ts";
import type { AnswerHeaders } from "./answer-reader.ts";
import type { BodySource } from "./body-source.ts";
import { canDecode, decoded, encodingOf, isBrokenData } from "./decode.ts";
import type { Watchdog } from "./watchdog.ts";

/** The body of an answer, pulled piece by piece. A slow reader holds the sender back. */
export interface HttpBody {
  /** The next piece, undefined at the end. Rejects with a ProviderError, after what had arrived before it. */
  next(): Promise<Buffer | undefined>;
  /** Enough was read and the rest is short: lets it run out, so that the connection can be used again. */
  release(): void;
  /** Nobody reads on: closes the connection, unless everything has come already. */
  destroy(): void;
}

/** What is read ahead of a slow reader. */
const READ_AHEAD_BYTES = 256 * 1024;
/** How long a connection may take to run out after `release`. */
export const RUN_OUT_MS = 1000;
/** Only a whole line is a sign of life: a server that drips single bytes would never be done. */
export const LINE_END = 10;

export interface BodyOptions {
  host: string;
  clock: Clock;
  /** Told about every wait and every line, and to stop at the end. */
  watchdog: Watchdog;
  idleMs: number;
  /** Called once, when nothing more will come. */
  onOver(): void;
}

export interface OpenBody extends HttpBody {
  /** Ends the body with an error (abort, silence). */
  fail(error: ProviderError): void;
}

interface Waiter {
  resolve(piece: Buffer | undefined): void;
  reject(error: ProviderError): void;
}

export function openBody(answer: BodySource, headers: AnswerHeaders, options: BodyOptions): OpenBody {
  const { host, clock, watchdog } = options;
  const encoding = encodingOf(headers);
  const source = encoding !== undefined && canDecode(encoding) ? decoded(answer, encoding) : answer;
  let pieces: Buffer[] = [];
  let waitingBytes = 0;
  let waiter: Waiter | undefined;
  let failure: ProviderError | undefined;
  let over = false;
  let spoke = false;
  let stopRunOut: (() => void) | undefined;

  const finish = (error?: ProviderError): void => {
    if (over) return;
    over = true;
    failure = error;
    watchdog.stop();
    options.onOver();
    const settle = waiter;
    waiter = undefined;
    if (error) settle?.reject(error);
    else settle?.resolve(undefined);
  };
  const heard = (piece: Buffer): void => {
    if (!piece.includes(LINE_END)) watchdog.rest();
    else if (spoke) watchdog.alive();
    else {
      spoke = true;
      watchdog.expect("the next piece", options.idleMs);
      watchdog.alive();
    }
  };
  // Until somebody reads, the server may take its time.
  watchdog.rest();
  source.listen({
    piece(piece) {
      if (over) return;
      heard(piece);
      if (waiter) {
        const { resolve } = waiter;
        waiter = undefined;
        resolve(piece);
        return;
      }
      pieces.push(piece);
      waitingBytes += piece.length;
      if (waitingBytes > READ_AHEAD_BYTES) source.pause();
    },
    end() {
      stopRunOut?.();
      finish();
    },
    lost(cause) {
      stopRunOut?.();
      finish(lostBody(host, encoding, cause));
    },
  });

  return {
    next() {
      if (pieces.length > 0) {
        const piece = pieces.length === 1 ? pieces[0] : Buffer.concat(pieces);
        pieces = [];
        if (waitingBytes > READ_AHEAD_BYTES) source.resume();
        waitingBytes = 0;
        return Promise.resolve(piece);
      }
      if (failure) return Promise.reject(failure);
      if (over) return Promise.resolve(undefined);
      watchdog.wait();
      return new Promise((resolve, reject) => {
        waiter = { resolve, reject };
      });
    },
    release() {
      pieces = [];
      if (over) return;
      finish();
      stopRunOut = clock.after(RUN_OUT_MS, () => source.destroy());
      source.resume();
    },
    destroy() {
      pieces = [];
      finish();
      source.destroy();
    },
    fail(error) {
      finish(error);
      source.destroy();
    },
  };
}

function lostBody(host: string, encoding: string | undefined, cause: Error | undefined): ProviderError {
  const why = cause ? ` (${cause.message})` : "";
  const text = isBrokenData(cause)
    ? `Connection error: the ${encoding} data from ${host} is broken${why}`
    : `Connection lost: ${host} closed the stream early${why}`;
  return new ProviderError("network", text, { cause });
}
