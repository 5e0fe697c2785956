import type { Clock } from "@tiller/protocol/clock";

export interface Throttle {
  /** There is news: tell it now, or when the interval since the last telling is over. */
  touch(): void;
  /** Nothing is told any more. */
  stop(): void;
}

/** Calls `tell` at most once per interval, the last news never lost while it runs. */
export function createThrottle(clock: Clock, intervalMs: number, tell: () => void): Throttle {
  let nextAt = Number.NEGATIVE_INFINITY;
  let cancel: (() => void) | undefined;
  const tellNow = () => {
    cancel = undefined;
    nextAt = clock.now() + intervalMs;
    tell();
  };
  return {
    touch() {
      if (cancel) return;
      const wait = nextAt - clock.now();
      if (wait <= 0) tellNow();
      else cancel = clock.after(wait, tellNow);
    },
    stop() {
      cancel?.();
      // A later touch finds a timer pending, and there is none that could fire.
      cancel = () => undefined;
    },
  };
}
