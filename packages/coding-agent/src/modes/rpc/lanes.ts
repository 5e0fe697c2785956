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
  /** How many commands wait to be started. */
  readonly waiting: number;
  /** Resolves when nothing waits any more to be started. */
  started(): Promise<void>;
  /** Resolves when everything that was taken so far has finished. */
  drained(): Promise<void>;
}

/** Does its own error handling: the promise never rejects. */
export type Work = () => undefined | Promise<void>;

/** So many places of those that have begun are given back at a time. */
const MANY_BEGUN = 1000;

export function createLanes(): Lanes {
  let queue: { work: Work; wait: boolean }[] = [];
  /** Where the first of them is: to move them all up each time takes for ever when there are many. */
  let first = 0;
  const running = new Set<Promise<void>>();
  /** Whoever waits for the queue to be empty. Not the end of running work: a run that goes on may end last of all. */
  let whenStarted: (() => void)[] = [];
  let busy = false;

  const waiting = (): number => queue.length - first;
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
      const next = queue[first];
      if (!next) break;
      first += 1;
      if (first >= MANY_BEGUN) {
        queue = queue.slice(first);
        first = 0;
      }
      begin(next.work, next.wait);
    }
    if (waiting() > 0) return;
    const told = whenStarted;
    whenStarted = [];
    for (const tell of told) tell();
  };

  const inOrder = (work: Work, wait: boolean): void => {
    if (busy || waiting() > 0) queue.push({ work, wait });
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
    get waiting() {
      return waiting();
    },
    async started() {
      while (waiting() > 0) await new Promise<void>((resolve) => whenStarted.push(resolve));
    },
    async drained() {
      while (waiting() > 0 || running.size > 0) await Promise.race([...running]);
    },
  };
}
