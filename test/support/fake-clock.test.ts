import { expect, test } from "vitest";
import { FakeClock, fakeIds } from "./fake-clock.ts";

test("timers fire in the order of their time, those of the same time in the order they were set", () => {
  const clock = new FakeClock(1000);
  const fired: string[] = [];
  clock.after(20, () => fired.push(`late ${clock.now()}`));
  clock.after(10, () => fired.push(`first ${clock.now()}`));
  clock.after(10, () => fired.push(`second ${clock.now()}`));
  clock.advanceSync(15);
  expect(fired).toEqual(["first 1010", "second 1010"]);
  expect(clock.now()).toBe(1015);
  expect(clock.waits).toEqual([5]);
});

test("a cancelled timer does not fire", () => {
  const clock = new FakeClock();
  const cancel = clock.after(1, () => expect.unreachable("it was cancelled"));
  cancel();
  clock.advanceSync(10);
  expect(clock.pending).toBe(0);
});

test("a timer set after an await on the way fires too", async () => {
  const clock = new FakeClock(0);
  const times: number[] = [];
  const wait = (ms: number): Promise<void> => new Promise((resolve) => void clock.after(ms, resolve));
  const story = (async () => {
    await wait(10);
    times.push(clock.now());
    await wait(10);
    times.push(clock.now());
  })();
  await clock.advance(25);
  await story;
  expect(times).toEqual([10, 20]);
});

test("ids count", () => {
  const ids = fakeIds();
  expect([ids.count("prompt"), ids.count("prompt"), ids.short(), ids.uuid()]).toEqual([
    "prompt-1",
    "prompt-2",
    "00000001",
    "00000000-0000-7000-8000-000000000001",
  ]);
});
