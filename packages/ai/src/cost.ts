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
export function settleUsage(usage: Usage, prices: Model["cost"]): void {
  const { cost } = usage;
  usage.totalTokens = usage.input + usage.output + usage.cacheRead + usage.cacheWrite;
  cost.input = (usage.input * prices.input) / 1_000_000;
  cost.output = (usage.output * prices.output) / 1_000_000;
  cost.cacheRead = (usage.cacheRead * prices.cacheRead) / 1_000_000;
  cost.cacheWrite = (usage.cacheWrite * prices.cacheWrite) / 1_000_000;
  cost.total = cost.input + cost.output + cost.cacheRead + cost.cacheWrite;
}
