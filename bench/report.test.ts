import { expect, test } from "vitest";
import { chart } from "./chart.mjs";
import { growthChart } from "./growth-chart.mjs";
import { markdown, type PeerRow, type Row } from "./report.mjs";

const lastLine = (row: Row) =>
  markdown([], [{ title: "T", rows: [row] }])
    .trimEnd()
    .split("\n")
    .at(-1);
const floor = { name: "floor agent", samples: [10, 30, 20] };

test.each([
  ["a number alone", { ours: [3, 1, 2], limit: 2 }, "| n, ms |  |  | 2.00 (1.00) |  | ≤ 2 ms | met |"],
  [
    "a ratio of the medians",
    { ours: [9, 8, 50], against: floor, limit: 0.4, goal: 0.3 },
    "| n, ms | floor agent | 20.0 (10.0) | 9.00 (8.00) | 0.45× (0.80×) | ≤ 0.4×, goal 0.3× | **not met** |",
  ],
  [
    "a command that the agent does not have",
    { ours: [], against: floor, limit: 1 },
    "| n, ms | floor agent | 20.0 (10.0) | not available |  | ≤ 1× | **not met** |",
  ],
  ["the same without a target", { ours: [] }, "| n, ms |  |  | not available |  |  |  |"],
])("a row: %s", (_, row, line) => {
  expect(lastLine({ what: "n", unit: "ms", ...row })).toBe(line);
});

test("what could not be measured counts as a target that is not met", () => {
  const rows = [
    { what: "done", unit: "ms", ours: [1], limit: 2 },
    { what: "missing", unit: "ms", ours: [], limit: 2 },
  ];
  expect(markdown([], [{ title: "T", rows }])).toContain("**1 of 2 targets met.** Not met: missing.");
});

const compared: PeerRow[] = [
  {
    ...{
      what: "start",
      unit: "ms",
      limit: 2,
      goal: 1.4,
      floorName: "node -e 0",
      floor: [20, 25, 10],
      ours: [31, 30, 18],
    },
    peers: { pi: [200], omp: [1000] },
  },
  {
    ...{ what: "`deltas`", unit: "ms", limit: 2, floorName: "floor agent", floor: [10], ours: [30] },
    peers: { pi: [45], omp: [] },
  },
];

test("the comparison with peers: what each needs, its ratio, and how far the best of them is behind", () => {
  const report = markdown([], [], { rows: compared, failures: [] });
  expect(report).toContain("1 of 2 targets met, 0 of their goals reached.");
  expect(report).toContain("No sample failed.");
  expect(report.trimEnd().split("\n").slice(-2)).toEqual([
    "| start (node -e 0) | 20.0 ms | 30.0 ms | 1.50× (1.80×) | 200 ms, 10.0× | 1 000 ms, 50.0× | 6.67× | ≤ 2×, goal 1.4× | met, goal not met |",
    "| `deltas` | 10.0 ms | 30.0 ms | 3.00× (3.00×) | 45.0 ms, 4.50× | –, – | 1.50× | ≤ 2× | **not met** |",
  ]);
});

test("what failed is said, with whose it was", () => {
  const failures = [{ doing: "`deltas`", name: "omp", why: "no end within 60 s" }];
  expect(markdown([], [], { rows: compared, failures })).toContain("\n- omp, `deltas`: no end within 60 s\n");
});

test("a number without a target has a table of its own, and counts for none", () => {
  const other = {
    ...compared[0]!,
    what: "exit",
    limit: undefined,
    ours: [10],
    floor: [],
    peers: { pi: [] },
  };
  const report = markdown([], [], { rows: [...compared, other], failures: [] });
  expect(report).toContain("1 of 2 targets met, 0");
  expect(report.trimEnd().split("\n").slice(-3)).toEqual([
    "| number | floor | Tiller | ratio | pi | best of them / Tiller |",
    "|---|---:|---:|---:|---:|---:|",
    "| exit (node -e 0) | – | 10.0 ms | – | –, – | – |",
  ]);
});

test("the picture of it has a dot for every number there is", () => {
  const picture = chart(compared);
  // Three in the legend, five numbers.
  expect(picture.match(/<circle/g)).toHaveLength(8);
  expect(picture).toContain("omp: 50.00×");
  expect(picture).not.toMatch(/NaN|undefined|Infinity/);
});

test("the picture of growth has a line for each program, and none beyond what was measured", () => {
  const of = (what: string, mb: number, omp: number[]): PeerRow => ({
    ...{ what, unit: "MB", floorName: "floor agent", floor: [mb], ours: [mb * 2] },
    peers: { pi: [mb * 3], omp },
  });
  const rows = [of("10,000 deltas, stdout", 1, [900]), of("50,000 deltas, stdout", 5, []), ...compared];
  const picture = growthChart(rows);
  expect(picture.match(/<polyline/g)).toHaveLength(4);
  expect(picture.match(/<title>/g)).toHaveLength(7);
  expect(picture).toContain("omp: 10000 pieces, 900.00 MB");
  expect(picture).not.toMatch(/NaN|undefined|Infinity/);
});

test("a count is compared with nobody's", () => {
  const count = { what: "frames", unit: "", floorName: "floor agent", floor: [0], ours: [1200], peers: { pi: [3, 4] } };
  expect(
    markdown([], [], { rows: [...compared, count], failures: [] })
      .trimEnd()
      .split("\n")
      .at(-1),
  ).toBe("| frames | 0 | 1 200 | – | 3.5, – | – |");
});

test("of a number that Tiller could not give the others have their dots, and the target is not met", () => {
  const missing = compared.map((row) => ({ ...row, ours: [] }));
  const picture = chart(missing);
  // Three in the legend, three numbers.
  expect(picture.match(/<circle/g)).toHaveLength(6);
  expect(picture).not.toMatch(/NaN|undefined|Infinity/);
  const report = markdown([], [], { rows: missing, failures: [] });
  expect(report).toContain("0 of 2 targets met, 0");
  expect(report.trimEnd().split("\n").at(-1)).toBe(
    "| `deltas` | 10.0 ms | – | – (–) | 45.0 ms, 4.50× | –, – | – | ≤ 2× | **not met** |",
  );
});
