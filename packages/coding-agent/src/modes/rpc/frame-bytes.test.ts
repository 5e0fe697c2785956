import fc from "fast-check";
import { expect, test } from "vitest";
import { anyText } from "../../../../../test/support/any-text.ts";
import { type Chunk, createChunks, fitsChunk, LONGEST_TOKEN, putLine, putToken } from "./frame-bytes.ts";

const WRAPPING = { head: Buffer.from('{"delta":'), tail: Buffer.from(',"seq":') };

const linesOf = ({ bytes, length }: Chunk): string[] => bytes.toString("utf8", 0, length).split("\n").slice(0, -1);

test("any token is one line of JSON with its number", () => {
  const text = fc.oneof(
    anyText({ maxLength: 20 }),
    fc.constantFrom("", '"', "a\\b", "\n", "\u007f", "\u2028", "\ud800", "ä😀", "x".repeat(LONGEST_TOKEN)),
  );
  const seq = fc.oneof(fc.nat(), fc.constantFrom(0, 9, 10, 99, 100, 999_999_999_999, Number.MAX_SAFE_INTEGER));
  fc.assert(
    fc.property(fc.array(fc.record({ text, seq }), { maxLength: 20 }), (tokens) => {
      const chunk = createChunks().next();
      for (const token of tokens) expect(putToken(chunk, WRAPPING, token.text, token.seq)).toBe(true);
      const expected = tokens.map((token) => JSON.stringify({ delta: token.text, seq: token.seq }));
      expect(linesOf(chunk)).toEqual(expected.map((json) => json.replaceAll("\u2028", "\\u2028")));
    }),
  );
});

test("what does not fit is refused as a whole, and fits the next chunk", () => {
  const chunks = createChunks();
  for (const text of ["x", "\u0001", "€"].map((unit) => unit.repeat(LONGEST_TOKEN))) {
    const chunk = chunks.next();
    let count = 0;
    while (putToken(chunk, WRAPPING, text, count)) count++;
    expect(linesOf(chunk).map((line) => JSON.parse(line).seq)).toEqual(Array.from({ length: count }, (_, i) => i));
    const before = chunk.length;
    const line = JSON.stringify("€".repeat(20_000));
    expect([putLine(chunk, line), chunk.length, fitsChunk(line)]).toEqual([false, before, true]);
    expect(putLine(chunks.next(), line)).toBe(true);
  }
});

test("lines of any characters come out as they went in", () => {
  fc.assert(
    fc.property(fc.array(fc.string({ unit: "grapheme" })), (texts) => {
      const chunk = createChunks().next();
      const lines = texts.map((text) => JSON.stringify(text));
      for (const line of lines) putLine(chunk, line);
      expect(linesOf(chunk)).toEqual(lines);
    }),
  );
});

test("a chunk that was given back is empty and used again", () => {
  const chunks = createChunks();
  const chunk = chunks.next();
  putLine(chunk, "{}");
  chunks.giveBack(chunk);
  expect([chunks.next(), chunk.length]).toEqual([chunk, 0]);
  expect(chunks.next()).not.toBe(chunk);
});
