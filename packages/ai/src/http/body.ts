import type { IncomingMessage } from "node:http";
import type { Clock } from "@tiller/protocol/clock";
import { ProviderError } from "../errors.ts";
import type { Watchdog } from "./watchdog.ts";

/** The body of an answer, pulled piece by piece. A slow reader holds the sender back. */
export interface HttpBody {
  /** The next piece, undefined at the end. Rejects with a ProviderError. */
  next(): Promise<Buffer | undefined>;
  /** Enough was read and the rest is short: lets it run out, so that the connection can be used again. */
  release(): void;
  /** Closes the connection. */
  destroy(): void;
}

/** What is read ahead of a slow reader. */
const READ_AHEAD_BYTES = 256 * 1024;
/** How long a connection may take to run out after `release`. */
const RUN_OUT_MS = 1000;

export interface BodyOptions {
  host: string;
  clock: Clock;
  /** Told about every piece, and to stop at the end. */
  watchdog: Watchdog;
  idleMs: number;
  /** Called once, when nothing more will come. */
  onOver(): void;
}

export interface OpenBody extends HttpBody {
  /** Ends the body with an error (abort, silence). */
  fail(error: ProviderError): void;
  isWaiting(): boolean;
}

interface Waiter {
  resolve(piece: Buffer | undefined): void;
  reject(error: ProviderError): void;
}

export function openBody(response: IncomingMessage, options: BodyOptions): OpenBody {
  let pieces: Buffer[] = [];
  let waitingBytes = 0;
  let waiter: Waiter | undefined;
  let failure: ProviderError | undefined;
  let over = false;
  let first = true;

  const finish = (error?: ProviderError): void => {
    if (over) return;
    over = true;
    failure = error;
    options.watchdog.stop();
    options.onOver();
    const settle = waiter;
    waiter = undefined;
    if (error) settle?.reject(error);
    else settle?.resolve(undefined);
  };
  const onData = (piece: Buffer): void => {
    if (first) {
      first = false;
      options.watchdog.expect("the next piece", options.idleMs);
    } else options.watchdog.alive();
    if (waiter) {
      const { resolve } = waiter;
      waiter = undefined;
      resolve(piece);
      return;
    }
    pieces.push(piece);
    waitingBytes += piece.length;
    if (waitingBytes > READ_AHEAD_BYTES) response.pause();
  };
  const lost = (cause?: Error): void => {
    const why = cause ? ` (${cause.message})` : "";
    finish(new ProviderError("network", `Connection lost: ${options.host} closed the stream early${why}`, { cause }));
  };
  response.on("data", onData);
  response.on("end", () => finish());
  response.on("error", lost);
  response.on("close", () => lost());

  return {
    next() {
      if (pieces.length > 0) {
        const piece = pieces.length === 1 ? pieces[0] : Buffer.concat(pieces);
        pieces = [];
        if (waitingBytes > READ_AHEAD_BYTES) response.resume();
        waitingBytes = 0;
        return Promise.resolve(piece);
      }
      if (failure) return Promise.reject(failure);
      if (over) return Promise.resolve(undefined);
      options.watchdog.alive();
      return new Promise((resolve, reject) => {
        waiter = { resolve, reject };
      });
    },
    release() {
      if (over) return;
      finish();
      response.off("data", onData);
      const cancel = options.clock.after(RUN_OUT_MS, () => response.destroy());
      response.once("close", cancel);
      response.once("end", cancel);
      response.resume();
    },
    destroy() {
      finish();
      if (!response.complete) response.destroy();
    },
    fail(error) {
      finish(error);
      response.destroy();
    },
    isWaiting: () => waiter !== undefined,
  };
}
