import type { IncomingMessage } from "node:http";
import type { Readable } from "node:stream";
import type { Clock } from "@tiller/protocol/clock";
import { ProviderError } from "../errors.ts";
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

export function openBody(answer: IncomingMessage, options: BodyOptions): OpenBody {
  const { host, clock, watchdog } = options;
  const encoding = encodingOf(answer.headers);
  const source: Readable = encoding !== undefined && canDecode(encoding) ? decoded(answer, encoding) : answer;
  let pieces: Buffer[] = [];
  let waitingBytes = 0;
  let waiter: Waiter | undefined;
  let failure: ProviderError | undefined;
  let over = false;
  let spoke = false;
  let flows = false;

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
  const onData = (piece: Buffer): void => {
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
  };
  /**
   * What came together with the head is handed over at once: were it to flow first, a short answer would be wound up to
   * its last byte before its first word is seen.
   */
  const begin = (): Buffer | undefined => {
    flows = true;
    const first = (source.read() as Buffer | null) ?? undefined;
    source.on("data", onData);
    return first;
  };
  /** For whoever comes later: it is kept here, whatever becomes of the connection. */
  const keepFirst = (): void => {
    const first = flows || over ? undefined : begin();
    if (first) onData(first);
  };
  const lost = (cause?: Error): void => {
    keepFirst();
    if (!over) finish(lostBody(host, encoding, cause));
  };
  // Until somebody reads, the server may take its time.
  watchdog.rest();
  source.on("end", () => finish());
  source.on("error", lost);
  source.on("close", () => lost());
  setImmediate(keepFirst);

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
      const first = flows ? undefined : begin();
      if (first) {
        heard(first);
        return Promise.resolve(first);
      }
      watchdog.wait();
      return new Promise((resolve, reject) => {
        waiter = { resolve, reject };
      });
    },
    release() {
      if (over) return;
      finish();
      source.off("data", onData);
      const cancel = clock.after(RUN_OUT_MS, () => answer.destroy());
      answer.once("close", cancel);
      answer.once("end", cancel);
      source.resume();
    },
    destroy() {
      finish();
      if (source !== answer) source.destroy();
      // One that has come as a whole, and that nobody has read, would keep its connection for ever.
      if (source === answer && answer.complete) answer.resume();
      else answer.destroy();
    },
    fail(error) {
      finish(error);
      if (source !== answer) source.destroy();
      answer.destroy();
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
