import type { Model, ThinkingLevel } from "@tiller/protocol/model";

/**
 * How a thinking level is said to a model. Older ones take a budget of tokens, newer ones decide for themselves and take
 * an effort. Which one, and how thinking is turned off, is data of the model (`compat`):
 *
 *   thinking:    "budget" (default) | "adaptive"
 *   thinkingOff: "omit" (default) | "disabled" | "between_tools"      what an adaptive model is told at level `off`
 *   interleavedThinking: true       a budget model that can think between tool calls when asked by a beta header
 */
export interface ThinkingPlan {
  fields: { thinking?: Record<string, unknown>; output_config?: { effort: string } };
  maxTokens: number;
  betas: string[];
}

const BUDGETS: Readonly<Record<ThinkingLevel, number>> = {
  off: 0,
  minimal: 1024,
  low: 4096,
  medium: 10_240,
  high: 20_480,
  xhigh: 32_768,
};
const SMALLEST_BUDGET = 1024;
const EFFORTS: Readonly<Record<ThinkingLevel, string>> = {
  off: "low",
  minimal: "low",
  low: "low",
  medium: "medium",
  high: "high",
  xhigh: "max",
};

export function planThinking(model: Model, level: ThinkingLevel, answerTokens: number): ThinkingPlan {
  const limit = model.maxTokens;
  const maxTokens = Math.min(answerTokens, limit);
  if (!model.reasoning) return { fields: {}, maxTokens, betas: [] };
  if (model.compat?.thinking === "adaptive") {
    if (level === "off") return { fields: offFields(model), maxTokens, betas: [] };
    const effort = model.thinkingLevelMap?.[level] ?? EFFORTS[level];
    // What is thought counts as output too, so an adaptive model gets all the room there is.
    const thinking = { type: "adaptive", display: "summarized" };
    return { fields: { thinking, output_config: { effort } }, maxTokens: limit, betas: [] };
  }
  return planBudget(model, BUDGETS[level], maxTokens);
}

function offFields(model: Model): ThinkingPlan["fields"] {
  const type = model.compat?.thinkingOff;
  return typeof type === "string" && type !== "omit" ? { thinking: { type } } : {};
}

/** The budget comes on top of the answer where the model has room for both; otherwise the answer keeps its minimum. */
function planBudget(model: Model, wanted: number, answerTokens: number): ThinkingPlan {
  const maxTokens = Math.min(answerTokens + wanted, model.maxTokens);
  const budget = Math.min(wanted, maxTokens - SMALLEST_BUDGET);
  if (budget < SMALLEST_BUDGET) return { fields: {}, maxTokens: answerTokens, betas: [] };
  return {
    fields: { thinking: { type: "enabled", budget_tokens: budget } },
    maxTokens,
    betas: model.compat?.interleavedThinking === true ? ["interleaved-thinking-2025-05-14"] : [],
  };
}
