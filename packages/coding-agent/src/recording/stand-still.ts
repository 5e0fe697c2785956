import { promisify } from "node:util";

/**
 * Holds back what is due by `setImmediate`, which is how everything goes on that waits for nothing from outside: while a host is
 * waited for, the program stands where it stood when that line was recorded, however long the host takes this time.
 */
export interface StandStill {
  hold(): void;
  /** What was held back is due in the next turn, in its order. */
  goOn(): void;
}

export function createStandStill(): StandStill {
  const { setImmediate: put, clearImmediate: clear } = globalThis;
  const held = new Map<NodeJS.Immediate, () => void>();
  let isHolding = false;
  const putOrHold = <Args extends unknown[]>(fn: (...args: Args) => void, ...args: Args): NodeJS.Immediate => {
    const run = (): void => {
      if (isHolding) held.set(handle, () => fn(...args));
      else fn(...args);
    };
    const handle = put(run);
    return handle;
  };
  const promised = <Value>(value: Value): Promise<Value> => new Promise((resolve) => void putOrHold(resolve, value));
  globalThis.setImmediate = Object.assign(putOrHold, {
    [promisify.custom]: promised,
  }) as unknown as typeof setImmediate;
  globalThis.clearImmediate = (handle) => {
    if (handle) held.delete(handle);
    clear(handle);
  };
  return {
    hold() {
      isHolding = true;
    },
    goOn() {
      isHolding = false;
      for (const run of held.values()) put(run);
      held.clear();
    },
  };
}
