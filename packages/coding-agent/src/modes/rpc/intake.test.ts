import type { Clock } from "@tiller/protocol/clock";
import { expect, test } from "vitest";
import { createIntake } from "./intake.ts";

const MB = 1024 * 1024;

/** A host whose reading, and a clock whose timers, the test moves. */
function stage() {
  const writer = { waiting: 0, isFull: false };
  const lanes = { waiting: 0 };
  const levels: { bytes: number; resolve(): void }[] = [];
  const rooms: (() => void)[] = [];
  const timers = new Set<() => void>();
  const clock: Clock = {
    now: () => 0,
    after(_ms, fire) {
      timers.add(fire);
      return () => timers.delete(fire);
    },
  };
  const intake = createIntake({
    writer: {
      get waiting() {
        return writer.waiting;
      },
      roomForAnswers: () => (writer.isFull ? new Promise((resolve) => rooms.push(resolve)) : undefined),
      drainedTo: (bytes) => new Promise((resolve) => levels.push({ bytes, resolve })),
    },
    lanes,
    clock,
  });
  return {
    intake,
    writer,
    lanes,
    timers,
    /** The host has read until only so much waits. */
    async read(waiting: number) {
      Object.assign(writer, { waiting, isFull: false });
      for (const { bytes, resolve } of levels) if (waiting <= bytes) resolve();
      for (const resolve of rooms.splice(0)) resolve();
      await Promise.resolve();
    },
  };
}

async function isOver(promise: undefined | Promise<void>): Promise<boolean> {
  let over = false;
  void promise?.then(() => {
    over = true;
  });
  await new Promise((resolve) => setImmediate(resolve));
  return over;
}

test("who reads is read no faster: with much unread it waits until half of it is gone", async () => {
  const { intake, writer, timers, read } = stage();
  writer.waiting = MB;
  expect(intake.took(1000)).toBeUndefined();
  writer.waiting = 3 * MB;
  const held = intake.took(1000);
  expect(await isOver(held)).toBe(false);
  await read(2 * MB);
  expect(await isOver(held)).toBe(false);
  await read(MB);
  expect(await isOver(held)).toBe(true);
  expect(timers.size).toBe(0);
});

test("who does not read yet is read all the same, until they do", async () => {
  const { intake, writer, timers, read } = stage();
  writer.waiting = 3 * MB;
  const held = intake.took(1000);
  for (const fire of timers) fire();
  expect(await isOver(held)).toBe(true);
  writer.waiting = 20 * MB;
  expect(intake.took(1000)).toBeUndefined();
  await read(0);
  expect(intake.took(1000)).toBeUndefined();
  writer.waiting = 3 * MB;
  expect(intake.took(1000)).toBeInstanceOf(Promise);
});

test("without room for answers much is read, but not without end; commands weigh more than their bytes", async () => {
  const { intake, writer, lanes, read } = stage();
  writer.isFull = true;
  for (let taken = 0; taken < 31; taken++) expect(intake.took(MB)).toBeUndefined();
  const held = intake.took(MB);
  expect(await isOver(held)).toBe(false);
  await read(0);
  expect(await isOver(held)).toBe(true);
  expect(intake.took(MB)).toBeUndefined();
  writer.isFull = true;
  lanes.waiting = 50_000;
  expect(intake.took(MB)).toBeUndefined();
  lanes.waiting = 150_000;
  expect(intake.took(MB)).toBeInstanceOf(Promise);
});

test("who reads a little and then stops is not read without end: the commands still wait", async () => {
  const { intake, writer, lanes, timers, read } = stage();
  writer.waiting = 3 * MB;
  void intake.took(1000);
  for (const fire of timers) fire();
  Object.assign(writer, { waiting: 33 * MB, isFull: true });
  lanes.waiting = 10;
  void intake.answered();
  // There is room again, but nothing is answered before the rest is read.
  Object.assign(writer, { waiting: 20 * MB, isFull: false });
  lanes.waiting = 150_000;
  const held = intake.took(1000);
  expect(await isOver(held)).toBe(false);
  await read(MB);
  expect(await isOver(held)).toBe(true);
});

test("after there was no room, what waits is worked off no faster than it is read; then all is as before", async () => {
  const { intake, writer, lanes, read } = stage();
  writer.waiting = 20 * MB;
  lanes.waiting = 10;
  expect(intake.answered()).toBeUndefined();
  writer.isFull = true;
  const held = intake.answered();
  expect(await isOver(held)).toBe(false);
  await read(0);
  expect(await isOver(held)).toBe(true);
  writer.waiting = 3 * MB;
  const next = intake.answered();
  expect(await isOver(next)).toBe(false);
  await read(MB);
  expect(await isOver(next)).toBe(true);
  expect(intake.answered()).toBeUndefined();
  lanes.waiting = 0;
  writer.waiting = 3 * MB;
  expect(intake.answered()).toBeUndefined();
});
