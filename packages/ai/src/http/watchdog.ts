import type { Clock } from "@tiller/protocol/clock";

/** Notices silence. One timer for many signs of life: a sign of life is a note of the time, not a new timer. */
export interface Watchdog {
  /** A new phase with its own patience. */
  expect(what: string, withinMs: number): void;
  alive(): void;
  stop(): void;
}

/** `isWaiting` says whether anybody wants to be told: silence nobody listens to is no stall. */
export function createWatchdog(
  clock: Clock,
  isWaiting: () => boolean,
  onSilence: (what: string, ms: number) => void,
): Watchdog {
  let lastSign = 0;
  let what = "";
  let patience = 0;
  let cancel: (() => void) | undefined;

  const look = (): void => {
    if (!isWaiting()) lastSign = clock.now();
    const left = lastSign + patience - clock.now();
    if (left > 0) cancel = clock.after(left, look);
    else onSilence(what, patience);
  };
  return {
    expect(next, withinMs) {
      cancel?.();
      what = next;
      patience = withinMs;
      lastSign = clock.now();
      cancel = clock.after(withinMs, look);
    },
    alive() {
      lastSign = clock.now();
    },
    stop() {
      cancel?.();
      cancel = undefined;
    },
  };
}
