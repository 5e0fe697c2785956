import { describe, expect, it } from "vitest";
import { citationsInCode, citationsInTranscript } from "./citations.ts";

describe("citations in test code", () => {
  const cases: [string, string, [string, number][]][] = [
    ["one id", 'proves("pi.a.b", "story", test);', [["pi.a.b", 1]]],
    [
      "several ids over several lines",
      'proves(\n  ["pi.a.b",\n   "omp.c.d"],\n  "story"',
      [
        ["pi.a.b", 2],
        ["omp.c.d", 3],
      ],
    ],
    ["a column of a table", '{ proves: ["pi.a.b"], line: "x" }', [["pi.a.b", 1]]],
    ["no id in the name of the test", 'proves("pi.a.b", "tells [pi.c.d]", test);', [["pi.a.b", 1]]],
    ["a type is no citation", "interface Case { proves: Proves; ids: string[] }", []],
    ["a longer word is no citation", 'improves("pi.a.b")', []],
  ];
  for (const [name, source, expected] of cases) {
    it(name, () => {
      expect(citationsInCode(source).map(({ id, line }) => [id, line])).toEqual(expected);
    });
  }
});

describe("citations in transcripts", () => {
  it("stand on a line of their own, as a directive or a comment", () => {
    const source = '# a story\nproves: pi.a.b, omp.c.d\n> {"proves: ":1}\n# proves: pi.e.f\n';
    expect(citationsInTranscript(source)).toEqual([
      { id: "pi.a.b", line: 2 },
      { id: "omp.c.d", line: 2 },
      { id: "pi.e.f", line: 4 },
    ]);
  });
});
