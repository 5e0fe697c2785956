import { afterEach, beforeEach, describe, expect, it, vi } from "vitest";
import { FakeClock } from "../../../../test/support/fake-clock.ts";
import { createIdSource, sleepAwake, systemClock } from "./clock.ts";

describe("the clock", () => {
  beforeEach(() => {
    vi.useFakeTimers();
  });
  afterEach(() => {
    vi.useRealTimers();
  });

  it("waits as long as it is told, also longer than one timer can", () => {
    const days = 50 * 24 * 3600 * 1000;
    let rung = false;
    systemClock.after(days, () => {
      rung = true;
    });
    vi.advanceTimersByTime(days - 1);
    expect(rung).toBe(false);
    vi.advanceTimersByTime(1);
    expect(rung).toBe(true);
  });

  it("can be cancelled in any part of a long wait", () => {
    let rung = false;
    const cancel = systemClock.after(2 ** 32, () => {
      rung = true;
    });
    vi.advanceTimersByTime(2 ** 31 + 5);
    cancel();
    vi.advanceTimersByTime(2 ** 33);
    expect(rung).toBe(false);
  });
});

describe("a sleep that counts only what we are awake for", () => {
  const state = (clock: FakeClock) => {
    const sleeping = { isOver: false };
    void sleepAwake(clock, 800).then(() => {
      sleeping.isOver = true;
    });
    return sleeping;
  };

  it("is as long as it is told", async () => {
    const clock = new FakeClock();
    const sleeping = state(clock);
    await clock.advance(799);
    expect(sleeping.isOver).toBe(false);
    await clock.advance(1);
    expect(sleeping.isOver).toBe(true);
  });

  it("is not over when the process stood still meanwhile, so that the others get their turns first", async () => {
    const clock = new FakeClock();
    const sleeping = state(clock);
    clock.advanceSync(10_000);
    await clock.advance(700);
    expect(sleeping.isOver).toBe(false);
    await clock.advance(100);
    expect(sleeping.isOver).toBe(true);
  });

  it("is over soon when the process stands still again and again", async () => {
    const clock = new FakeClock();
    const sleeping = state(clock);
    for (let standstill = 0; standstill < 6; standstill++) {
      expect(sleeping.isOver).toBe(false);
      clock.advanceSync(500);
      await clock.advance(0);
    }
    expect(sleeping.isOver).toBe(true);
  });
});

it("ids are UUIDs of version 7 that sort by time, short ids have 8 hex digits, and counted ids count", () => {
  let now = 1_700_000_000_000;
  const ids = createIdSource({ now: () => now, after: () => () => undefined });
  const first = ids.uuid();
  now += 1;
  expect(first).toMatch(/^[0-9a-f]{8}-[0-9a-f]{4}-7[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}$/);
  expect(ids.uuid() > first).toBe(true);
  expect(ids.short()).toMatch(/^[0-9a-f]{8}$/);
  expect([ids.count("a"), ids.count("b"), ids.count("a")]).toEqual(["a-1", "b-1", "a-2"]);
});
