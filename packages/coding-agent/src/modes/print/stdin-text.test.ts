import { PassThrough } from "node:stream";
import { expect, test } from "vitest";
import { FakeClock } from "../../../../../test/support/fake-clock.ts";
import { readText } from "./stdin-text.ts";

function reading(maxBytes = 1000) {
  const clock = new FakeClock();
  const input = new PassThrough();
  let waits = 0;
  const text = readText(input, { clock, maxBytes, onWaiting: () => void waits++ });
  return { clock, input, text, waits: () => waits };
}

test("all of it is one text, however it is cut", async () => {
  const { input, text } = reading();
  const bytes = Buffer.from("\uFEFFgrün\r\nund 🌱\n");
  for (const byte of bytes) input.write(Buffer.from([byte]));
  input.end();
  expect(await text).toEqual({ text: "grün\r\nund 🌱\n" });
});

test("what is no UTF-8 becomes U+FFFD", async () => {
  const { input, text } = reading();
  input.end(Buffer.from([0x61, 0xff, 0x62]));
  expect(await text).toEqual({ text: "a\uFFFDb" });
});

test("too much is refused at once, without waiting for its end", async () => {
  const { input, text } = reading(4);
  input.write("12345");
  expect(await text).toEqual({
    problem: "stdin has more than 4 bytes; --set input.maxLineBytes=N allows more",
  });
  expect(input.destroyed).toBe(true);
});

test("an error of the stream is told", async () => {
  const { input, text } = reading();
  input.destroy(new Error("EIO"));
  expect(await text).toEqual({ problem: "stdin cannot be read: EIO" });
});

test("a stdin that stays silent is told once; one that speaks is not", async () => {
  const silent = reading();
  await silent.clock.advance(10_000);
  expect(silent.waits()).toBe(1);
  silent.input.end("late");
  expect(await silent.text).toEqual({ text: "late" });

  const speaking = reading();
  speaking.input.write("x");
  await speaking.clock.advance(0);
  await speaking.clock.advance(10_000);
  expect(speaking.waits()).toBe(0);
});
