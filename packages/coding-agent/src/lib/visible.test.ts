import fc from "fast-check";
import { expect, it } from "vitest";
import { oneLine, visible } from "./visible.ts";

it.each([
  ["what is usual", "a\tb Grün 日本 👩\u200d🚀 x\u00a0y", "a\tb Grün 日本 👩\u200d🚀 x\u00a0y"],
  ["escape sequences", "\u001b]52;c;cHduZWQ=\u0007\u001b[2J", "\\u{1b}]52;c;cHduZWQ=\\u{7}\\u{1b}[2J"],
  ["those of one character", "a\u009b2J\u007f\u0000", "a\\u{9b}2J\\u{7f}\\u{0}"],
  ["what writes over a line", "good\rbad", "good\\u{d}bad"],
  ["turned text", "user\u202egnp.exe \u2066x\u2069", "user\\u{202e}gnp.exe \\u{2066}x\\u{2069}"],
  ["line ends of Unicode", "a\u2028b\u2029c\u0085d", "a\\u{2028}b\\u{2029}c\\u{85}d"],
])("shows %s", (_, text, shown) => {
  expect([visible(text), oneLine(text)]).toEqual([shown, shown]);
});

it("keeps line ends in a text, and none in a line", () => {
  expect([visible("a\nb"), oneLine("a\nb")]).toEqual(["a\nb", "a\\nb"]);
  expect([visible("a\r\nb"), oneLine("a\r\nb")]).toEqual(["a\r\nb", "a\\nb"]);
});

it("lets nothing through that steers, whatever it is given", () => {
  fc.assert(
    fc.property(fc.string({ unit: "binary" }), (text) => {
      expect(oneLine(text)).not.toMatch(/(?!\t)[\p{Cc}\u202a-\u202e\u2066-\u2069]/u);
    }),
  );
});
