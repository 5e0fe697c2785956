import type { Usage } from "@tiller/protocol/message";
import type { Model } from "@tiller/protocol/model";
import { expect, test } from "vitest";
import { emptyUsage, settleUsage } from "./cost.ts";

const cost = { input: 3, output: 15, cacheRead: 0.3, cacheWrite: 3.75 };

function settled(tokens: Partial<Usage>, model: Pick<Model, "cost" | "costTiers"> = { cost }): Usage {
  const usage = { ...emptyUsage(), ...tokens };
  settleUsage(usage, model);
  return usage;
}

test("every kind of token has its price, and the total is all of them", () => {
  const usage = settled({ input: 1_000_000, output: 200_000, cacheRead: 500_000, cacheWrite: 100_000 });
  expect(usage.totalTokens).toBe(1_800_000);
  expect(usage.cost).toEqual({ input: 3, output: 3, cacheRead: 0.15, cacheWrite: 0.375, total: 3 + 3 + 0.15 + 0.375 });
});

test("thoughts are a part of the output and are not paid twice", () => {
  expect(settled({ output: 1000, reasoning: 900 }).cost.output).toBe(settled({ output: 1000 }).cost.output);
});

test("what is kept for an hour costs twice the input, the rest of what was written its own price", () => {
  const { cost: paid, totalTokens } = settled({ cacheWrite: 1_000_000, cacheWrite1h: 400_000 });
  expect(paid.cacheWrite).toBeCloseTo(0.6 * 3.75 + 0.4 * 2 * 3, 12);
  expect(paid.total).toBe(paid.cacheWrite);
  expect(totalTokens).toBe(1_000_000);
});

const dear = { above: 200_000, input: 6, output: 22.5, cacheRead: 0.6, cacheWrite: 7.5 };
const dearest = { above: 500_000, input: 12, output: 45, cacheRead: 1.2, cacheWrite: 15 };

test.each<[story: string, tokens: Partial<Usage>, input: number, output: number]>([
  ["a short prompt", { input: 199_999 }, 3, 15],
  ["exactly at the mark", { input: 200_000 }, 3, 15],
  ["one above it: all tokens at the other price", { input: 200_001 }, 6, 22.5],
  ["cached tokens make a prompt long too", { input: 1, cacheRead: 100_000, cacheWrite: 100_000 }, 6, 22.5],
  ["a long answer does not", { input: 10, output: 900_000 }, 3, 15],
  ["the highest mark that is passed counts", { input: 600_000 }, 12, 45],
])("prices for long prompts: %s", (_story, tokens, input, output) => {
  const usage = settled({ output: 1000, ...tokens }, { cost, costTiers: [dear, dearest] });
  expect(usage.cost.input).toBe((usage.input * input) / 1_000_000);
  expect(usage.cost.output).toBe((usage.output * output) / 1_000_000);
});

test("an hour in the cache of a long prompt is paid by the price of long prompts", () => {
  const usage = settled({ cacheWrite: 300_000, cacheWrite1h: 300_000 }, { cost, costTiers: [dear] });
  expect(usage.cost.cacheWrite).toBe((300_000 * 6 * 2) / 1_000_000);
});

test("nothing is rounded, and nothing costs nothing", () => {
  expect(settled({ input: 1 }).cost.input).toBe(0.000003);
  expect(settled({ cacheRead: 1 }, { cost: { ...cost, cacheRead: 0.0125 } }).cost.total).toBe(0.0125 / 1_000_000);
  expect(settled({}).cost).toEqual(emptyUsage().cost);
});

test("settling again with new counts forgets the old cost", () => {
  const usage = settled({ input: 1000, output: 1000 });
  usage.output = 10;
  settleUsage(usage, { cost });
  expect(usage).toEqual(settled({ input: 1000, output: 10 }));
});
