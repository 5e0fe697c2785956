import fc from "fast-check";
import { expect, it } from "vitest";
import { diffOfRegions } from "./edit-diff.ts";
import { applyRegions, type Region } from "./edit-match.ts";

it.each<[string, string, Region[], string]>([
  ["a line taken out", "a\nb\nc\n", [{ start: 2, end: 4, newText: "" }], " 1 a\n-2 b\n 3 c"],
  ["a line put in at the end", "a\n", [{ start: 2, end: 2, newText: "b\n" }], " 1 a\n+2 b"],
  [
    "two changes in one line",
    "ab\n",
    [
      { start: 0, end: 1, newText: "x" },
      { start: 1, end: 2, newText: "y" },
    ],
    "-1 ab\n+1 xy",
  ],
  [
    "two changes far apart",
    "0\n1\n2\n3\n4\n5\n6\n7\n8\n9\n0\n1",
    [
      { start: 0, end: 1, newText: "x" },
      { start: 22, end: 23, newText: "y" },
    ],
    "- 1 0\n+ 1 x\n  2 1\n  3 2\n  4 3\n  5 4\n    ...\n  8 7\n  9 8\n 10 9\n 11 0\n-12 1\n+12 y",
  ],
])("%s", (_, text, regions, diff) => expect(diffOfRegions(text, regions).diff).toBe(diff));

it("tells the whole change for any regions: taking - out and putting + in turns the old text into the new", () => {
  const line = fc.stringMatching(/^[ab]{0,3}$/);
  const anyRegions = fc.array(fc.tuple(fc.nat(60), fc.nat(60), fc.stringMatching(/^[ab\n]{0,6}$/)), { maxLength: 5 });
  fc.assert(
    fc.property(fc.array(line, { maxLength: 20 }), anyRegions, (lines, raw) => {
      const oldText = lines.join("\n");
      const regions = toRegions(raw, oldText.length);
      const newLines = applyRegions(oldText, regions).split("\n");
      const oldLines = oldText.split("\n");
      const marks = diffOfRegions(oldText, regions)
        .diff.split("\n")
        .map((text) => /^([+-]) *(\d+) (.*)$/.exec(text))
        .filter((match) => match !== null);
      const removed = new Set(marks.filter((m) => m[1] === "-").map((m) => Number(m[2])));
      const added = new Map(marks.filter((m) => m[1] === "+").map((m) => [Number(m[2]), m[3]]));
      const kept = oldLines.filter((_, index) => !removed.has(index + 1));
      const rebuilt: (string | undefined)[] = [];
      for (let n = 1; n <= newLines.length; n++) rebuilt.push(added.has(n) ? added.get(n) : kept.shift());
      expect(rebuilt).toEqual(newLines);
      expect(kept).toEqual([]);
    }),
  );
});

/** Sorted and apart, as the matcher gives them. */
function toRegions(raw: [number, number, string][], length: number): Region[] {
  const points = [...new Set(raw.flatMap(([a, b]) => [a % (length + 1), b % (length + 1)]))].sort((a, b) => a - b);
  const regions: Region[] = [];
  for (let i = 0; i + 1 < points.length; i += 2) {
    regions.push({ start: points[i]!, end: points[i + 1]!, newText: raw[i / 2]?.[2] ?? "" });
  }
  return regions;
}
