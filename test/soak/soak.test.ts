import { expect, test } from "vitest";
import { soak } from "./soak.ts";
import { isLevel, riseOf } from "./trend.ts";

/** `npm run test:soak` keeps many agents busy for minutes; here is only how it judges. */

const samples = (...values: number[]) => values.map((value, n) => ({ at: n, value }));

test("what goes up is told from what goes up and down", () => {
  expect(riseOf(samples(10, 11, 12, 13, 14))).toBe(4);
  expect(riseOf(samples(10, 14, 10, 14, 10, 14, 10))).toBe(0);
  expect(riseOf(samples(10, 10, 90, 10, 10))).toBe(0);
  expect(riseOf(samples(14, 13, 12))).toBe(-2);
  expect(riseOf(samples(1))).toBe(0);
});

test("a level may rise a little, and one of nobody is level", () => {
  expect(isLevel({ first: 100, last: 111, rise: 11 })).toBe(true);
  expect(isLevel({ first: 100, last: 113, rise: 13 })).toBe(false);
  expect(isLevel({ first: 0, last: 0, rise: 0 })).toBe(true);
});

const durationMs = Number(process.env.TILLER_SOAK_MS ?? 0);

// Only when it is asked for.
if (durationMs > 0) {
  const agents = Number(process.env.TILLER_SOAK_AGENTS ?? 20);
  const seed = Number(process.env.TILLER_SEED ?? 1);
  /** Heaps that meet all of this find their size within two minutes: a short run says nothing about memory. */
  const judgesMemory = durationMs >= 240_000;
  const MOST_DESCRIPTORS = 2;

  test(`${agents} agents for ${durationMs / 1000} s, seed ${seed}`, { timeout: durationMs + 180_000 }, async () => {
    const report = await soak({ agents, durationMs, seed });
    process.stdout.write(`${JSON.stringify(report, null, 2)}\n`);
    expect(report.problems).toEqual([]);
    if (judgesMemory) for (const level of Object.values(report.memoryMb)) expect(level).toSatisfy(isLevel);
    expect(report.moreDescriptors).toBeLessThanOrEqual(MOST_DESCRIPTORS);
    expect(report.actions).toBeGreaterThan(agents);
  });
}
