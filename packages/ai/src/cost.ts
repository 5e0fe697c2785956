import type { Usage } from "@tiller/protocol/message";
import type { Model } from "@tiller/protocol/model";

/** Prices are dollars per million tokens; nothing is ever rounded. */

export function emptyUsage(): Usage {
  return {
    input: 0,
    output: 0,
    cacheRead: 0,
    cacheWrite: 0,
    totalTokens: 0,
    cost: { input: 0, output: 0, cacheRead: 0, cacheWrite: 0, total: 0 },
  };
}

/** Brings the total and the cost of a usage up to date with its token counts. */
export function settleUsage(usage: Usage, model: Pick<Model, "cost" | "costTiers">): void {
  const { cost } = usage;
  const prices = pricesFor(usage, model);
  const hourly = usage.cacheWrite1h ?? 0;
  usage.totalTokens = usage.input + usage.output + usage.cacheRead + usage.cacheWrite;
  cost.input = (usage.input * prices.input) / 1_000_000;
  cost.output = (usage.output * prices.output) / 1_000_000;
  cost.cacheRead = (usage.cacheRead * prices.cacheRead) / 1_000_000;
  // What is kept for an hour costs twice the input everywhere it can be bought.
  cost.cacheWrite = ((usage.cacheWrite - hourly) * prices.cacheWrite + hourly * prices.input * 2) / 1_000_000;
  cost.total = cost.input + cost.output + cost.cacheRead + cost.cacheWrite;
}

/** A long prompt may have other prices: for all of its tokens, not only for those above the mark. */
function pricesFor(usage: Usage, { cost, costTiers }: Pick<Model, "cost" | "costTiers">): Model["cost"] {
  const prompt = usage.input + usage.cacheRead + usage.cacheWrite;
  return costTiers?.findLast(({ above }) => prompt > above) ?? cost;
}
