import type { AssistantMessage, Usage } from "@tiller/protocol/message";

/** What was spent: the answers and the tool calls since a moment. Counted once, looked at by results and limits. */
export interface Spending {
  turns: number;
  toolCalls: number;
  usage: Usage;
}

export function noSpending(): Spending {
  return {
    turns: 0,
    toolCalls: 0,
    usage: {
      input: 0,
      output: 0,
      cacheRead: 0,
      cacheWrite: 0,
      totalTokens: 0,
      cost: { input: 0, output: 0, cacheRead: 0, cacheWrite: 0, total: 0 },
    },
  };
}

export function addAnswer(spending: Spending, { usage }: Pick<AssistantMessage, "usage">): void {
  const total = spending.usage;
  spending.turns += 1;
  for (const kind of ["input", "output", "cacheRead", "cacheWrite"] as const) {
    total[kind] += usage[kind];
    total.cost[kind] = sumOfMoney(total.cost[kind], usage.cost[kind]);
  }
  total.totalTokens += usage.totalTokens;
  total.cost.total = sumOfMoney(total.cost.total, usage.cost.total);
  if (usage.cacheWrite1h !== undefined) total.cacheWrite1h = (total.cacheWrite1h ?? 0) + usage.cacheWrite1h;
  if (usage.reasoning !== undefined) total.reasoning = (total.reasoning ?? 0) + usage.reasoning;
}

/** Prices have few decimals, binary fractions have none of them: without this a sum would depend on the order of its parts. */
const PARTS_OF_A_DOLLAR = 1e12;

export function sumOfMoney(a: number, b: number): number {
  const sum = (a + b) * PARTS_OF_A_DOLLAR;
  return sum < Number.MAX_SAFE_INTEGER ? Math.round(sum) / PARTS_OF_A_DOLLAR : a + b;
}
