/**
 * Where in the turns of the event loop something happens. Recorder and player count in the same way, so that an input is given at
 * the same place: together with the input before it, or so many turns after the last line of the log.
 */
export interface Rounds {
  /** Something was written down now. */
  mark(isInput: boolean): void;
  /** Turns since then, `IDLE_ROUNDS` at most. */
  readonly passed: number;
  /** None has passed since the last input. */
  readonly isSameTurn: boolean;
}

/** After so many turns without anything to write down a program is at rest. */
export const IDLE_ROUNDS = 16;

export function createRounds(onRound: () => void = () => undefined): Rounds {
  let passed = 0;
  let isSameTurn = false;
  let isCounting = false;
  const count = (): void => {
    passed += 1;
    isSameTurn = false;
    if (passed < IDLE_ROUNDS) setImmediate(count);
    else isCounting = false;
    onRound();
  };
  return {
    mark(isInput) {
      passed = 0;
      if (isInput) isSameTurn = true;
      if (isCounting) return;
      isCounting = true;
      setImmediate(count);
    },
    get passed() {
      return passed;
    },
    get isSameTurn() {
      return isSameTurn;
    },
  };
}

/** Calls back one after the other, each as if it came from outside: when all that is due in this turn has been done. */
export function createHop(): (fn: () => void) => void {
  const { port1, port2 } = new MessageChannel();
  const waiting: (() => void)[] = [];
  port2.on("message", () => {
    waiting.shift()?.();
    if (waiting.length === 0) port2.unref();
  });
  port2.unref();
  return (fn) => {
    waiting.push(fn);
    port2.ref();
    port1.postMessage(0);
  };
}
