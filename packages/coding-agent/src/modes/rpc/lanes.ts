/**
 * Who waits for whom. `control` runs at once and overtakes; `ordered` runs one at a time in line order; `background` is
 * started in line order and not waited for. When nothing waits, work that needs no waiting is done on the spot.
 */
export interface Lanes {
  control(work: Work): void;
  ordered(work: Work): void;
  background(work: Work): void;
  /** Does the work after all that was taken before has been started, and before anything later is; resolves with it. */
  inTurn(work: () => Promise<void>): Promise<void>;
  /** For background work that is not fully started yet: nothing later is started until the function it gives is called. */
  hold(): () => void;
  /** Resolves when nothing waits any more to be started. */
  started(): Promise<void>;
  /** Resolves when everything that was taken so far has finished. */
  drained(): Promise<void>;
}

/** Does its own error handling: the promise never rejects. */
export type Work = () => undefined | Promise<void>;

export function createLanes(): Lanes {
  const queue: { work: Work; wait: boolean }[] = [];
  const running = new Set<Promise<void>>();
  /** Whoever waits for the queue to be empty. Not the end of running work: a run that goes on may end last of all. */
  let whenStarted: (() => void)[] = [];
  let busy = false;

  const track = (promise: undefined | Promise<void>): void => {
    if (!promise) return;
    running.add(promise);
    void promise.then(() => running.delete(promise));
  };

  const begin = (work: Work, wait: boolean): void => {
    const promise = work();
    if (!promise) return;
    track(promise);
    if (!wait) return;
    busy = true;
    void promise.then(() => {
      busy = false;
      advance();
    });
  };
  const advance = (): void => {
    while (!busy) {
      const next = queue.shift();
      if (!next) break;
      begin(next.work, next.wait);
    }
    if (queue.length > 0) return;
    const told = whenStarted;
    whenStarted = [];
    for (const tell of told) tell();
  };

  const inOrder = (work: Work, wait: boolean): void => {
    if (busy || queue.length > 0) queue.push({ work, wait });
    else begin(work, wait);
  };

  return {
    control: (work) => track(work()),
    ordered: (work) => inOrder(work, true),
    background: (work) => inOrder(work, false),
    inTurn: (work) => new Promise((resolve) => inOrder(() => work().then(resolve), false)),
    hold() {
      busy = true;
      return () => {
        busy = false;
        advance();
      };
    },
    async started() {
      while (queue.length > 0) await new Promise<void>((resolve) => whenStarted.push(resolve));
    },
    async drained() {
      while (queue.length > 0 || running.size > 0) await Promise.race([...running]);
    },
  };
}
