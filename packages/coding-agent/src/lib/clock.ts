import type { Clock, IdSource } from "@tiller/protocol/clock";

/** The one place that reads time, sets timers and rolls dice. */

const LONGEST_TIMER_MS = 2 ** 31 - 1;

export const systemClock: Clock = {
  now: () => Date.now(),
  after(ms, fn, isIdle) {
    let timer: NodeJS.Timeout;
    // A timer beyond the longest would fire at once: long waits are made of several.
    const wait = (left: number): void => {
      timer = setTimeout(
        () => (left > LONGEST_TIMER_MS ? wait(left - LONGEST_TIMER_MS) : fn()),
        Math.min(left, LONGEST_TIMER_MS),
      );
      if (isIdle) timer.unref();
    };
    wait(ms);
    return () => clearTimeout(timer);
  },
};

/** Waits, or stops waiting when the signal aborts. Never rejects: the caller looks at the signal. */
export function sleep(clock: Clock, ms: number, signal?: AbortSignal): Promise<void> {
  return new Promise((resolve) => {
    if (signal?.aborted) return resolve();
    const done = () => {
      cancel();
      signal?.removeEventListener("abort", done);
      resolve();
    };
    const cancel = clock.after(ms, done);
    signal?.addEventListener("abort", done);
  });
}

const PIECE_MS = 50;
const FORGIVEN = 4;

/**
 * For a deadline of what others do in this process. When the whole process stands still (a busy machine, a long look through
 * /proc) all timers are due at once afterwards, and this one must not be over before the others had their turns: a standstill
 * counts as one piece, however long it was. Only the first few are forgiven: who computes again and again does not put off the end.
 */
export async function sleepAwake(clock: Clock, ms: number): Promise<void> {
  let standstills = 0;
  for (let left = ms; left > 0; ) {
    const piece = Math.min(left, PIECE_MS);
    const began = clock.now();
    await sleep(clock, piece);
    const took = Math.max(clock.now() - began, piece);
    if (took > 2 * PIECE_MS) standstills += 1;
    left -= standstills > FORGIVEN ? took : piece;
  }
}

/** Names that are distinct, not secret: made without node:crypto, which costs several milliseconds to load. */
export function randomHex(digits: number, lot: () => number = Math.random): string {
  let text = "";
  while (text.length < digits)
    text += Math.floor(lot() * 0x100000000)
      .toString(16)
      .padStart(8, "0");
  return text.slice(0, digits);
}

/** `lot` draws a number from 0 to 1. */
export function createIdSource(clock: Clock, lot: () => number = Math.random): IdSource {
  const counters = new Map<string, number>();
  return {
    uuid() {
      const time = clock.now().toString(16).padStart(12, "0");
      const variant = (8 + Math.floor(lot() * 4)).toString(16);
      return `${time.slice(0, 8)}-${time.slice(8)}-7${randomHex(3, lot)}-${variant}${randomHex(3, lot)}-${randomHex(12, lot)}`;
    },
    short: () => randomHex(8, lot),
    lot,
    count(prefix) {
      const next = (counters.get(prefix) ?? 0) + 1;
      counters.set(prefix, next);
      return `${prefix}-${next}`;
    },
  };
}
