import type { PromptLimits } from "@tiller/protocol/limits";
import type { Spending } from "./usage-tally.ts";

export type LimitName = keyof PromptLimits;

export interface LimitUse {
  scope: "prompt" | "session";
  limit: LimitName;
  used: number;
  max: number;
}

/** From this share on the host is warned. */
export const WARN_AT = 0.8;

const LIMITS: Readonly<
  Record<LimitName, { used(spending: Spending, elapsedMs: number): number; text(amount: number): string }>
> = {
  turns: { used: (s) => s.turns, text: (n) => `${n} turns` },
  toolCalls: { used: (s) => s.toolCalls, text: (n) => `${n} tool calls` },
  cost: { used: (s) => s.usage.cost.total, text: (n) => `$${n}` },
  tokens: { used: (s) => s.usage.totalTokens, text: (n) => `${n} tokens` },
  wallTimeMs: { used: (_s, elapsedMs) => elapsedMs, text: (n) => `${n / 1000} seconds` },
};

/** How much of each limit is used; only those that are set. Pure. */
export function limitUses(
  scope: LimitUse["scope"],
  limits: PromptLimits,
  spending: Spending,
  elapsedMs: number,
): LimitUse[] {
  const uses: LimitUse[] = [];
  for (const limit of Object.keys(LIMITS) as LimitName[]) {
    const max = limits[limit];
    if (max !== undefined) uses.push({ scope, limit, used: LIMITS[limit].used(spending, elapsedMs), max });
  }
  return uses;
}

/** Whether a further turn is impossible when it is reached. Without tool calls a model can still answer. */
export const endsTurns = ({ limit }: LimitUse): boolean => limit !== "toolCalls";
export const isReached = (use: LimitUse): boolean => use.used >= use.max;
export const isNear = (use: LimitUse): boolean => !isReached(use) && use.used >= use.max * WARN_AT;

export function reachedText({ scope, limit, max }: LimitUse): string {
  return `the limit of ${LIMITS[limit].text(max)} for this ${scope} is reached`;
}

export function nearText({ scope, limit, used, max }: LimitUse): string {
  return `${LIMITS[limit].text(used)} of the ${LIMITS[limit].text(max)} allowed for this ${scope} are used`;
}
