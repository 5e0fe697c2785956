import type { Model, ThinkingLevel } from "@tiller/protocol/model";

/**
 * How a thinking level is said to a model. Older ones take a budget of tokens, newer ones decide for themselves and take
 * an effort. Which one, and how thinking is turned off, is data of the model (`compat`):
 *
 *   thinking:    "budget" (default) | "adaptive"
 *   thinkingOff: "omit" (default) | "disabled" | "between_tools"      what an adaptive model is told at level `off`
 *   interleavedThinking: true       a budget model that can think between tool calls when asked by a beta header
 *   preservedThinking: true         a model that refuses its own thoughts once anything before them has changed
 *   forgetsThoughts: true           it has refused them, and at `between_tools` cannot be asked to drop them itself
 *
 * `thinkingLevelMap` names the effort of a level, or the tokens of its budget; `off: null` is a model that always thinks.
 */
export interface ThinkingPlan {
  fields: { thinking?: Record<string, unknown>; output_config?: { effort: string } };
  maxTokens: number;
  betas: string[];
  /** Thoughts of earlier turns are not sent: nobody reads them, and some models check them nevertheless. */
  forgetThoughts?: true;
}

const DEFAULT_ANSWER_TOKENS = 32_000;
const BUDGETS: Readonly<Record<ThinkingLevel, number>> = {
  off: 0,
  minimal: 1024,
  low: 4096,
  medium: 10_240,
  high: 20_480,
  xhigh: 32_768,
};
const SMALLEST_BUDGET = 1024;
/** What a budget leaves to the answer itself, or half of all where that is less. */
const ANSWER_SHARE = 8192;
const EFFORTS: Readonly<Record<ThinkingLevel, string>> = {
  off: "low",
  minimal: "low",
  low: "low",
  medium: "medium",
  high: "high",
  xhigh: "max",
};

/** `askedTokens` caps everything the model writes, thoughts included. */
export function planThinking(model: Model, level: ThinkingLevel, askedTokens?: number): ThinkingPlan {
  if (!model.reasoning) return planPlain(model, askedTokens);
  return model.compat?.thinking === "adaptive"
    ? planAdaptive(model, level, askedTokens)
    : planBudget(model, level, askedTokens);
}

function planPlain(model: Model, askedTokens = DEFAULT_ANSWER_TOKENS): ThinkingPlan {
  return { fields: {}, maxTokens: Math.min(askedTokens, model.maxTokens), betas: [] };
}

function planAdaptive(model: Model, level: ThinkingLevel, askedTokens: number | undefined): ThinkingPlan {
  const preserved = model.compat?.preservedThinking === true;
  const forgets = model.compat?.forgetsThoughts === true ? FORGET : {};
  if (level === "off" && model.thinkingLevelMap?.off !== null) {
    const type = model.compat?.thinkingOff;
    const plan = planPlain(model, askedTokens);
    if (typeof type !== "string" || type === "omit") return { ...plan, ...forgets };
    return { ...plan, fields: { thinking: { type } }, ...(preserved && type === "disabled" ? FORGET : forgets) };
  }
  const thinking = { type: "adaptive", display: "summarized", ...(preserved ? DROP_WHAT_CHANGED : {}) };
  const effort = model.thinkingLevelMap?.[level] ?? EFFORTS[level];
  return {
    fields: { thinking, output_config: { effort } },
    // What is thought counts as output too, so without a cap an adaptive model gets all the room there is.
    maxTokens: Math.min(askedTokens ?? model.maxTokens, model.maxTokens),
    betas: preserved ? ["thinking-binding-controls-2026-08-01"] : [],
    ...(preserved ? {} : forgets),
  };
}

const FORGET: Pick<ThinkingPlan, "forgetThoughts"> = { forgetThoughts: true };

/**
 * A thought is bound to all that was sent before it. Tools come and go in a session, and so do pages of the system
 * prompt: the provider shall then forget the thoughts concerned; by default it refuses the whole conversation for good.
 */
const DROP_WHAT_CHANGED = { block_binding: { prefix_mismatch_behavior: "drop_block" } };

/** The budget comes on top of the answer where nothing caps both; otherwise they share. */
function planBudget(model: Model, level: ThinkingLevel, askedTokens: number | undefined): ThinkingPlan {
  const wanted = Number(model.thinkingLevelMap?.[level] ?? Number.NaN) || BUDGETS[level];
  const maxTokens = Math.min(askedTokens ?? DEFAULT_ANSWER_TOKENS + wanted, model.maxTokens);
  const budget = Math.min(wanted, maxTokens - Math.min(ANSWER_SHARE, Math.floor(maxTokens / 2)));
  if (level === "off" || budget < SMALLEST_BUDGET) return planPlain(model, askedTokens);
  return {
    fields: { thinking: { type: "enabled", budget_tokens: budget } },
    maxTokens,
    betas: model.compat?.interleavedThinking === true ? ["interleaved-thinking-2025-05-14"] : [],
  };
}
