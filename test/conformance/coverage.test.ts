import { fileURLToPath } from "node:url";
import { describe, expect, it } from "vitest";
import { type Citation, findCitations, switchedOffTests } from "./citations.ts";
import { countOpen, measureCoverage, openListChanges, proofsWanted, repeatedIds } from "./coverage.ts";
import recordedOpenCount from "./open-count.json" with { type: "json" };
import { AREAS } from "./requirements/row.ts";
import { REQUIREMENTS, type Requirement, SEED_TABLES, toRequirements } from "./requirements.ts";

const root = fileURLToPath(new URL("../../", import.meta.url));
const where = ({ id, file, line }: Citation) => `${id} (${file}:${line})`;

describe("the requirements of the seed documents", () => {
  const coverage = measureCoverage(REQUIREMENTS, findCitations(root));

  it("are all proved by a test or on the open list", () => {
    const { proved, open, unproved } = coverage;
    console.log(`requirements: ${proved.length} proved, ${open.length} open of ${REQUIREMENTS.length}`);
    expect(proofsWanted(unproved).map(({ id, text }) => `${id}: ${text}`)).toEqual([]);
  });

  it("are not proved by tests that are switched off", () => {
    expect(switchedOffTests(root)).toEqual([]);
  });

  it("are not cited under a name that does not exist", () => {
    expect(coverage.unknown.map(where)).toEqual([]);
  });

  it("leave the open list when a test proves them", () => {
    expect(coverage.closable.map(where)).toEqual([]);
  });

  it("have an open list that only shrinks, written down in open-count.json", () => {
    expect(openListChanges(countOpen(REQUIREMENTS), recordedOpenCount)).toEqual([]);
  });

  it("have ids that are unique, readable and begin with their seed", () => {
    expect(repeatedIds(REQUIREMENTS)).toEqual([]);
    const odd = REQUIREMENTS.filter(({ id, source }) => !new RegExp(`^${source.seed}(\\.[a-z0-9-]+){2}$`).test(id));
    expect(odd.map(({ id }) => id)).toEqual([]);
  });

  it("are at least two hundred, from every seed and for every area", () => {
    expect(REQUIREMENTS.length).toBeGreaterThan(200);
    expect(SEED_TABLES.flatMap(({ files }) => files).sort()).toEqual(["000", "001", "002", "003", "004"]);
    const used = new Set(REQUIREMENTS.flatMap(({ area, open }) => (open === undefined ? [area] : [area, open])));
    expect(AREAS.filter((area) => !used.has(area))).toEqual([]);
  });
});

describe("measuring coverage", () => {
  const requirements = toRequirements([
    {
      seed: "pi",
      files: ["004"],
      sections: [
        { heading: "One", area: "prompt", rows: { "pi.a.now": "Now.", "pi.a.later": { text: "L.", open: "queues" } } },
      ],
    },
    {
      seed: "omp",
      files: ["002"],
      sections: [
        {
          heading: "Two",
          area: "queues",
          open: "queues",
          rows: { "omp.a.now": { same: "pi.a.now" }, "omp.a.later": { same: "pi.a.later" }, "omp.a.own": "Own." },
        },
      ],
    },
  ]);
  const cited = (id: string): Citation => ({ id, file: "x.test.ts", line: 1 });
  const ids = (rows: readonly Requirement[]) => rows.map(({ id }) => id);

  it("finds a requirement that lost its test, and names only the first of its siblings", () => {
    const { unproved } = measureCoverage(requirements, []);
    expect(ids(unproved)).toEqual(["pi.a.now", "omp.a.now"]);
    expect(ids(proofsWanted(unproved))).toEqual(["pi.a.now"]);
  });

  it("counts a row as proved by the test of its sibling, but not the other way round", () => {
    expect(ids(measureCoverage(requirements, [cited("pi.a.now")]).proved)).toEqual(["pi.a.now", "omp.a.now"]);
    expect(ids(measureCoverage(requirements, [cited("omp.a.now")]).unproved)).toEqual(["pi.a.now"]);
  });

  it("notices citations of unknown and of open rows", () => {
    const coverage = measureCoverage(requirements, [cited("pi.a.new"), cited("omp.a.later")]);
    expect(coverage.unknown).toEqual([cited("pi.a.new")]);
    expect(coverage.closable).toEqual([cited("omp.a.later")]);
  });

  it("takes text and openness of a sibling, and the section's openness otherwise", () => {
    expect(requirements.map(({ id, text, open }) => [id, text, open])).toEqual([
      ["pi.a.now", "Now.", undefined],
      ["pi.a.later", "L.", "queues"],
      ["omp.a.now", "Now.", undefined],
      ["omp.a.later", "L.", "queues"],
      ["omp.a.own", "Own.", "queues"],
    ]);
    expect(countOpen(requirements)).toEqual({ queues: 3 });
  });

  it("refuses a sibling that does not exist and a row without text", () => {
    const table = (row: object) => [
      {
        seed: "pi" as const,
        files: [],
        sections: [{ heading: "H", area: "prompt" as const, rows: { "pi.a.b": row } }],
      },
    ];
    expect(() => toRequirements(table({ same: "pi.x.y" }))).toThrow(/no row above it/);
    expect(() => toRequirements(table({}))).toThrow(/has no text/);
  });

  it("lets the open list shrink only, and wants the new number written down", () => {
    expect(openListChanges({ queues: 3 }, { queues: 3 })).toEqual([]);
    expect(openListChanges({ queues: 4 }, { queues: 3 })).toEqual([expect.stringContaining("may only shrink")]);
    expect(openListChanges({ retry: 1 }, {})).toEqual([expect.stringContaining("may only shrink")]);
    expect(openListChanges({}, { retry: 1 })).toEqual([expect.stringContaining("write 0")]);
  });

  it("finds ids that repeat", () => {
    expect(repeatedIds([...requirements, ...requirements.slice(0, 1)])).toEqual(["pi.a.now"]);
  });
});
