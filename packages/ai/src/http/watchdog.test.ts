import { expect, test } from "vitest";
import { fakeClock } from "../testing.ts";
import { createWatchdog } from "./watchdog.ts";

function setUp() {
  const clock = fakeClock();
  const silences: string[] = [];
  const dog = createWatchdog(clock, (what, ms) => silences.push(`${what} ${ms}`));
  return { clock, silences, dog };
}

test("silence is told once, exactly when patience is over", () => {
  const { clock, silences, dog } = setUp();
  dog.expect("an answer", 1000);
  clock.advance(999);
  expect(silences).toEqual([]);
  clock.advance(1);
  clock.advance(10_000);
  expect(silences).toEqual(["an answer 1000"]);
});

test("a new phase starts its own wait", () => {
  const { clock, silences, dog } = setUp();
  dog.expect("a connection", 1000);
  clock.advance(999);
  dog.expect("an answer", 500);
  clock.advance(499);
  expect(silences).toEqual([]);
  clock.advance(1);
  expect(silences).toEqual(["an answer 500"]);
});

test("a sign of life starts the wait anew", () => {
  const { clock, silences, dog } = setUp();
  dog.expect("more", 1000);
  clock.advance(900);
  dog.alive();
  dog.wait();
  clock.advance(900);
  expect(silences).toEqual([]);
  clock.advance(100);
  expect(silences).toEqual(["more 1000"]);
});

test("what brings no sign of life does not help: the waits before it count", () => {
  const { clock, silences, dog } = setUp();
  dog.expect("more", 1000);
  for (let i = 0; i < 3; i++) {
    clock.advance(300);
    dog.rest();
    dog.wait();
  }
  expect(silences).toEqual([]);
  clock.advance(100);
  expect(silences).toEqual(["more 1000"]);
});

test("while nobody waits, time does not count, and no timer runs", () => {
  const { clock, silences, dog } = setUp();
  dog.expect("more", 1000);
  clock.advance(400);
  dog.rest();
  clock.advance(60_000);
  dog.wait();
  clock.advance(599);
  expect(silences).toEqual([]);
  clock.advance(1);
  expect(silences).toEqual(["more 1000"]);
});

test("once stopped it stays silent", () => {
  const { clock, silences, dog } = setUp();
  dog.expect("more", 1000);
  dog.stop();
  dog.wait();
  dog.expect("more", 10);
  clock.advance(60_000);
  expect(silences).toEqual([]);
});
