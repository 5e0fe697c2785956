/** Work in pieces, between which the browser can paint and listen. */

/** What a piece may take; a frame has 16 ms. */
const BUDGET_MS = 10;

export interface Budget {
  isUsedUp(): boolean;
}

export function budget(ms = BUDGET_MS): Budget {
  const end = performance.now() + ms;
  return { isUsedUp: () => performance.now() >= end };
}

/** Calls `step` until it says that it is done, as often in each frame as fits. Gives a function that ends it early. */
export function inSlices(step: () => boolean): () => void {
  let handle = 0;
  const run = (): void => {
    const left = budget();
    do {
      if (step()) return;
    } while (!left.isUsedUp());
    handle = requestAnimationFrame(run);
  };
  handle = requestAnimationFrame(run);
  return () => cancelAnimationFrame(handle);
}

/** Calls `work` once before the next frame, however often it was asked for. */
export function oncePerFrame(work: () => void): () => void {
  let isWaiting = false;
  return () => {
    if (isWaiting) return;
    isWaiting = true;
    requestAnimationFrame(() => {
      isWaiting = false;
      work();
    });
  };
}
