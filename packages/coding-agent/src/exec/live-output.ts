import type { Clock } from "@tiller/protocol/clock";
import { cleanText, decodeCutUtf8, wholeLength } from "./clean-text.ts";
import type { OutputBuffer } from "./output-buffer.ts";

/**
 * Tells what is new in an output while it grows: at once when it is quiet, else some times a second, and only as fast as the
 * listener takes it. Nothing is kept for this: what the buffer has forgotten in the meantime is left out, and the text
 * says how much that was. An output that fits into the buffer is always told whole.
 */
export interface LiveOutput {
  /** Something was written. */
  touch(): void;
  /** Nothing more comes: tells the rest. */
  finish(): void;
}

export interface LiveOutputOptions {
  output: OutputBuffer;
  clock: Clock;
  /** A promise means "not yet, wait for me". */
  tell(text: string): undefined | Promise<void>;
}

const INTERVAL_MS = 50;

export function createLiveOutput({ output, clock, tell }: LiveOutputOptions): LiveOutput {
  let told = 0;
  let nextAt = Number.NEGATIVE_INFINITY;
  let cancel: (() => void) | undefined;
  let isWaiting = false;
  let isFinished = false;
  let isTouched = false;

  const takeNews = (): string => {
    const { bytes, place } = output.since(told);
    const skipped = place - told;
    const whole = bytes.subarray(0, isFinished ? bytes.length : wholeLength(bytes));
    told = place + whole.length;
    if (skipped === 0) return cleanText(whole.toString("utf8"));
    const text = cleanText(decodeCutUtf8(whole));
    return `\n[${skipped} bytes skipped]\n${text.slice(text.indexOf("\n") + 1)}`;
  };
  const tellNews = (): void => {
    cancel = undefined;
    nextAt = clock.now() + INTERVAL_MS;
    const text = takeNews();
    const taken = text === "" ? undefined : tell(text);
    if (!taken) return;
    isWaiting = true;
    void taken.then(() => {
      isWaiting = false;
      touch();
    });
  };
  const touch = (): void => {
    isTouched = true;
    if (cancel || isWaiting || isFinished) return;
    const wait = nextAt - clock.now();
    if (wait <= 0) tellNews();
    else cancel = clock.after(wait, tellNews);
  };

  return {
    touch,
    finish() {
      cancel?.();
      isFinished = true;
      if (isTouched) tellNews();
    },
  };
}
