import type { Clock, IdSource } from "@tiller/protocol/clock";

interface Timer {
  due: number;
  order: number;
  fn: () => void;
}

/** Lets everything run that needs no timer: promise callbacks and one turn of the event loop. */
function breathe(): Promise<void> {
  return new Promise((resolve) => setImmediate(resolve));
}

/** A clock that stands still until a test moves it. */
export class FakeClock implements Clock {
  private time: number;
  private started = 0;
  private timers: Timer[] = [];

  constructor(start = Date.UTC(2026, 0, 1)) {
    this.time = start;
  }

  now(): number {
    return this.time;
  }

  after(ms: number, fn: () => void): () => void {
    const timer = { due: this.time + Math.max(0, ms), order: this.started++, fn };
    this.timers.push(timer);
    return () => {
      this.timers = this.timers.filter((other) => other !== timer);
    };
  }

  /** How many timers wait. */
  get pending(): number {
    return this.timers.length;
  }

  /** Milliseconds until each waiting timer, soonest first. */
  get waits(): number[] {
    return this.timers.map((timer) => timer.due - this.time).sort((a, b) => a - b);
  }

  /** Moves the time; due timers fire in order, each at its own moment, also those set by others on the way. */
  advanceSync(ms: number): void {
    const end = this.time + ms;
    for (let timer = this.takeDue(end); timer; timer = this.takeDue(end)) timer.fn();
    this.time = end;
  }

  /** The same, and lets promises settle before, between and after the timers. */
  async advance(ms: number): Promise<void> {
    const end = this.time + ms;
    await breathe();
    for (let timer = this.takeDue(end); timer; timer = this.takeDue(end)) {
      timer.fn();
      await breathe();
    }
    this.time = end;
    await breathe();
  }

  private takeDue(end: number): Timer | undefined {
    const next = this.timers.reduce<Timer | undefined>(
      (best, timer) => (isSooner(timer, best) ? timer : best),
      undefined,
    );
    if (!next || next.due > end) return undefined;
    this.timers = this.timers.filter((timer) => timer !== next);
    this.time = Math.max(this.time, next.due);
    return next;
  }
}

function isSooner(timer: Timer, best: Timer | undefined): boolean {
  return !best || timer.due < best.due || (timer.due === best.due && timer.order < best.order);
}

/** Ids that are the same in every run of a test. */
export function fakeIds(): IdSource {
  const counters = new Map<string, number>();
  const next = (name: string): number => {
    const value = (counters.get(name) ?? 0) + 1;
    counters.set(name, value);
    return value;
  };
  return {
    uuid: () => `00000000-0000-7000-8000-${next(" uuid").toString(16).padStart(12, "0")}`,
    short: () => next(" short").toString(16).padStart(8, "0"),
    count: (prefix) => `${prefix}-${next(prefix)}`,
    lot: () => 0,
  };
}
