import fc from "fast-check";
import { expect, test } from "vitest";
import { countOf, filledText, isRecord, textOf, toJson, wellFormed } from "./wire-values.ts";

test("values are read as what they should be, or not at all", () => {
  expect([textOf("a"), textOf(""), textOf(7), textOf(null)]).toEqual(["a", "", "", ""]);
  expect([filledText("a"), filledText(""), filledText({})]).toEqual(["a", undefined, undefined]);
  expect([countOf(3), countOf(0), countOf(-1), countOf("3"), countOf(Number.NaN), countOf(null)]).toEqual([
    3,
    0,
    undefined,
    undefined,
    undefined,
    undefined,
  ]);
  expect([countOf(Number.MAX_SAFE_INTEGER), countOf(1e308), countOf(Number.POSITIVE_INFINITY)]).toEqual([
    Number.MAX_SAFE_INTEGER,
    undefined,
    undefined,
  ]);
  expect([isRecord({}), isRecord([]), isRecord(null), isRecord("a")]).toEqual([true, false, false, false]);
});

test.each<[story: string, text: string, read: string]>([
  ["the first half of a pair", "a\ud83dz", "a\ufffdz"],
  ["the second half", "\ude00", "\ufffd"],
  ["halves in the wrong order", "\ude00\ud83d", "\ufffd\ufffd"],
  ["a whole pair", "😀", "😀"],
  ["a literal escape is text", "\\ud83d", "\\ud83d"],
  ["a literal escape behind backslashes", "\\\\\\ud83d", "\\\\\\ud83d"],
  ["a half behind a backslash", "\\\ud83d", "\\\ufffd"],
  ["other escapes", '\u0001"\n\\u0041', '\u0001"\n\\u0041'],
])("%s", (_story, text, read) => {
  expect(JSON.parse(toJson({ text }))).toEqual({ text: read });
});

test("every text comes out as String.prototype.toWellFormed would have it", () => {
  const units = fc.constantFrom("a", "\\", "u", "d83d", "\ud83d", "\ude00", '"', "\n", "é");
  fc.assert(
    fc.property(fc.string({ unit: units, maxLength: 12 }), (text) => {
      const expected = text.replace(/[\ud800-\udbff][\udc00-\udfff]|[\ud800-\udfff]/g, (found) =>
        found.length === 2 ? found : "\ufffd",
      );
      expect(JSON.parse(wellFormed(JSON.stringify(text)))).toBe(expected);
    }),
  );
});
