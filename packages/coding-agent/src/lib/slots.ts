/** So many may be at work at the same time; the others wait in the order they came. */
export interface Slots {
  /** Resolves to the function that gives the place back; to undefined when the signal aborts first. */
  take(signal: AbortSignal): Promise<(() => void) | undefined>;
}

export function createSlots(most: number): Slots {
  let taken = 0;
  const waiting: (() => void)[] = [];
  const next = (): void => {
    while (taken < most && waiting.length > 0) waiting.shift()!();
  };
  const place = (): (() => void) => {
    taken += 1;
    let isGiven = false;
    return () => {
      if (isGiven) return;
      isGiven = true;
      taken -= 1;
      next();
    };
  };
  return {
    async take(signal) {
      if (signal.aborted) return undefined;
      if (taken < most) return place();
      return new Promise((resolve) => {
        const begin = (): void => {
          signal.removeEventListener("abort", giveUp);
          resolve(place());
        };
        const giveUp = (): void => {
          waiting.splice(waiting.indexOf(begin), 1);
          resolve(undefined);
        };
        waiting.push(begin);
        signal.addEventListener("abort", giveUp, { once: true });
      });
    },
  };
}
