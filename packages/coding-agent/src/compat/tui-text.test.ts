import fc from "fast-check";
import { expect, test } from "vitest";
import { sliceByColumn, stripTerminalSequences, truncateToWidth, visibleWidth, wrapTextWithAnsi } from "./tui-text.ts";

const RED = "\x1b[31m";
const RESET = "\x1b[0m";

test.each([
  ["", 0],
  ["hello", 5],
  [`${RED}hello${RESET}`, 5],
  ["\x1b]8;;http://x\x07link\x1b]8;;\x07", 4],
  ["\x1b_pi:c\x07x", 1],
  ["日本", 4],
  ["e\u0301", 1],
  ["🙂", 2],
  ["a\tb", 5],
])("%j takes %i columns", (text, width) => {
  expect(visibleWidth(text)).toBe(width);
});

test.each([
  ["Hello World", 8, undefined, "Hello..."],
  ["Hello World", 8, "", "Hello Wo"],
  ["Hello", 8, undefined, "Hello"],
  ["日本語", 5, "", "日本"],
  ["Hello", 2, "...", "He"],
  [`${RED}Hello World`, 8, undefined, `${RED}Hello${RESET}...`],
])("%j cut to %i columns with %j", (text, width, ellipsis, cut) => {
  expect(truncateToWidth(text, width, ellipsis)).toBe(cut);
});

test("what is shorter is filled up when asked", () => {
  expect(truncateToWidth("ab", 4, "...", true)).toBe("ab  ");
});

test.each([
  ["one two three", 8, ["one two", "three"]],
  ["abcdefgh", 3, ["abc", "def", "gh"]],
  ["a\nb", 10, ["a", "b"]],
  ["", 10, [""]],
  ["x verylongword", 5, ["x", "veryl", "ongwo", "rd"]],
])("%j wrapped at %i", (text, width, lines) => {
  expect(wrapTextWithAnsi(text, width)).toEqual(lines);
});

test("columns are cut out, and sequences stay", () => {
  expect(sliceByColumn(`${RED}abcdef`, 1, 3)).toBe(`${RED}bcd`);
  expect(stripTerminalSequences(`${RED}a${RESET}b`)).toBe("ab");
});

test("whatever is wrapped fits, and no letter is lost", () => {
  fc.assert(
    fc.property(fc.string({ unit: "grapheme-ascii" }), fc.integer({ min: 2, max: 20 }), (text, width) => {
      const lines = wrapTextWithAnsi(text, width);
      for (const line of lines) expect(visibleWidth(line)).toBeLessThanOrEqual(width);
      expect(lines.join("").replace(/\s/g, "")).toBe(text.replace(/\s/g, ""));
    }),
  );
});
