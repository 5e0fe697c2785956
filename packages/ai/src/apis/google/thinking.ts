import type { Model, ThinkingLevel } from "@tiller/protocol/model";
import type { Traits } from "./traits.ts";

/**
 * How a thinking level is said to Gemini: a budget of tokens or the name of a level. The model's `thinkingLevelMap` has
 * the last word; a number in it is a budget (`-1`: the model decides), any other word a level.
 */
export interface ThinkingPlan {
  thinkingConfig?: { includeThoughts?: true; thinkingBudget?: number; thinkingLevel?: string };
  maxOutputTokens: number;
}

const BUDGETS: Readonly<Record<ThinkingLevel, number>> = {
  off: 0,
  minimal: 512,
  low: 2048,
  medium: 8192,
  high: 24_576,
  xhigh: 32_768,
};
const LEVELS: Readonly<Record<ThinkingLevel, string>> = {
  off: "MINIMAL",
  minimal: "MINIMAL",
  low: "LOW",
  medium: "MEDIUM",
  high: "HIGH",
  xhigh: "HIGH",
};
/** Pro models cannot stop thinking: this is the least they take. */
const LEAST_PRO_BUDGET = 128;
/** What is thought counts as output: this much is kept for the answer. */
const LEAST_ANSWER = 1024;

export function planThinking(model: Model, level: ThinkingLevel, traits: Traits, answerTokens: number): ThinkingPlan {
  const limit = model.maxTokens;
  const asked = Math.min(answerTokens, limit);
  if (!model.reasoning) return { maxOutputTokens: asked };
  const setting = model.thinkingLevelMap?.[level] ?? defaultSetting(model, level, traits);
  if (level === "off") return { maxOutputTokens: asked, thinkingConfig: configOf(setting) };
  const budget = Number(setting);
  // Nobody knows how much will be thought, so there is all the room the model has.
  if (Number.isNaN(budget) || budget < 0) {
    return { maxOutputTokens: limit, thinkingConfig: { includeThoughts: true, ...configOf(setting) } };
  }
  const maxOutputTokens = Math.min(answerTokens + budget, limit);
  const affordable = Math.min(budget, maxOutputTokens - LEAST_ANSWER);
  if (affordable < LEAST_PRO_BUDGET) return planThinking(model, "off", traits, answerTokens);
  return { maxOutputTokens, thinkingConfig: { includeThoughts: true, thinkingBudget: affordable } };
}

function configOf(setting: string): { thinkingBudget: number } | { thinkingLevel: string } {
  const budget = Number(setting);
  return Number.isNaN(budget) ? { thinkingLevel: setting.toUpperCase() } : { thinkingBudget: budget };
}

function defaultSetting(model: Model, level: ThinkingLevel, traits: Traits): string {
  const isPro = /\bpro\b/i.test(model.id);
  if (traits.thinking === "budget") return String(level === "off" && isPro ? LEAST_PRO_BUDGET : BUDGETS[level]);
  const name = LEVELS[level];
  const hasMinimal = !isPro && model.thinkingLevelMap?.minimal !== null;
  if (name === "MINIMAL" && !hasMinimal) return "LOW";
  // The first Pro of this generation knows only two levels.
  return name === "MEDIUM" && /gemini-3-pro/i.test(model.id) ? "HIGH" : name;
}
