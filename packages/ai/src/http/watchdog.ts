import type { Clock } from "@tiller/protocol/clock";

/**
 * Notices silence: the time somebody waited without a sign of life. Silence nobody listens to is no stall. One timer for
 * many signs of life: a sign of life is a note, not a new timer.
 */
export interface Watchdog {
  /** A new phase with its own patience; somebody waits from now on. */
  expect(what: string, withinMs: number): void;
  /** A sign of life. Nobody waits until `wait`. */
  alive(): void;
  /** Nobody waits until `wait`, but the silence so far still counts. */
  rest(): void;
  /** Somebody waits from now on. */
  wait(): void;
  stop(): void;
}

export function createWatchdog(clock: Clock, onSilence: (what: string, ms: number) => void): Watchdog {
  let what = "";
  let patience = 0;
  /** Since the last sign of life, without the wait that is going on. */
  let waited = 0;
  /** When the wait that is going on began. */
  let since = -1;
  let cancel: (() => void) | undefined;
  /** When the timer looks next. */
  let looksAt = 0;
  let stopped = false;

  const look = (): void => {
    cancel = undefined;
    if (since === -1) return;
    const left = patience - waited - (clock.now() - since);
    if (left > 0) lookWithin(left);
    else onSilence(what, patience);
  };
  /** A timer that looks earlier will do: it then looks again. Phases follow each other fast, and timers cost. */
  const lookWithin = (ms: number): void => {
    const at = clock.now() + ms;
    if (stopped || (cancel !== undefined && looksAt <= at)) return;
    cancel?.();
    looksAt = at;
    cancel = clock.after(ms, look);
  };
  return {
    expect(next, withinMs) {
      what = next;
      patience = withinMs;
      waited = 0;
      since = clock.now();
      lookWithin(withinMs);
    },
    alive() {
      waited = 0;
      since = -1;
    },
    rest() {
      if (since !== -1) waited += clock.now() - since;
      since = -1;
    },
    wait() {
      since = clock.now();
      if (cancel === undefined) lookWithin(Math.max(0, patience - waited));
    },
    stop() {
      stopped = true;
      cancel?.();
      cancel = undefined;
    },
  };
}
