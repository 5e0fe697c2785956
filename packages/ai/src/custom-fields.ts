import { THINKING_LEVELS } from "./thinking-levels.ts";

/** What may stand in models.json: one check for each field of a provider and of a model. Unknown fields are ignored. */

export type Fields = Record<string, unknown>;

export interface Check {
  expected: string;
  holds(value: unknown): boolean;
}

export const isRecord = (value: unknown): value is Fields =>
  typeof value === "object" && value !== null && !Array.isArray(value);
const isAmount = (value: unknown): boolean => typeof value === "number" && value >= 0 && Number.isFinite(value);
const everyValue = (value: unknown, holds: (item: unknown) => boolean): boolean =>
  isRecord(value) && Object.values(value).every(holds);

const TEXT: Check = { expected: "a text", holds: (value) => typeof value === "string" && value !== "" };
const FLAG: Check = { expected: "true or false", holds: (value) => typeof value === "boolean" };
const COUNT: Check = { expected: "a number above 0", holds: (value) => isAmount(value) && value !== 0 };
const OBJECT: Check = { expected: "an object", holds: isRecord };
const LIST: Check = { expected: "a list", holds: Array.isArray };
const TEXTS: Check = {
  expected: "an object of texts",
  holds: (value) => everyValue(value, (text) => typeof text === "string"),
};
const LEVEL_NAMES: Check = {
  expected: "an object of texts and nulls",
  holds: (value) => everyValue(value, (name) => name === null || typeof name === "string"),
};
const INPUTS: Check = {
  expected: 'a list of "text" and "image"',
  holds: (value) =>
    Array.isArray(value) && value.length > 0 && value.every((kind) => kind === "text" || kind === "image"),
};
const COSTS: Check = {
  expected: "an object of numbers (dollars per million tokens)",
  holds: (value) => everyValue(value, isAmount),
};
const COST_TIERS: Check = {
  expected: 'a list of {"above": tokens, "input": ..., "output": ..., "cacheRead": ..., "cacheWrite": ...}',
  holds: (value) =>
    Array.isArray(value) && value.every((tier) => everyValue(tier, isAmount) && isRecord(tier) && "above" in tier),
};
const CACHE_LIFETIMES: Check = {
  expected: 'an object with "short" and "long" in seconds',
  holds: (value) =>
    isRecord(value) && [value.short, value.long].every((lifetime) => lifetime === undefined || isAmount(lifetime)),
};
/** The levels from the lowest to the highest; `max` is another word for `xhigh`. */
const levelOf = (word: unknown): number =>
  THINKING_LEVELS.findIndex((level) => level === word || (word === "max" && level === "xhigh"));
const THINKING: Check = {
  expected: `an object with minLevel and maxLevel out of ${THINKING_LEVELS.join(", ")}`,
  holds: (value) =>
    isRecord(value) && [value.minLevel, value.maxLevel].every((word) => word === undefined || levelOf(word) !== -1),
};

function oneOf(...words: string[]): Check {
  const last = words.at(-1);
  const expected = `${words
    .slice(0, -1)
    .map((word) => `"${word}"`)
    .join(", ")} or "${last}"`;
  return { expected, holds: (value) => typeof value === "string" && words.includes(value) };
}

/** How a server is asked for its models, and which of our providers it is like. */
export const DISCOVERY: Readonly<Record<string, string>> = {
  ollama: "ollama",
  "llama.cpp": "llamacpp",
  "lm-studio": "lmstudio",
  vllm: "vllm",
  openai: "vllm",
};
const DISCOVERIES = Object.keys(DISCOVERY);
const DISCOVERY_FIELD: Check = {
  expected: `an object whose type is one of ${DISCOVERIES.join(", ")}`,
  holds: (value) => isRecord(value) && DISCOVERIES.includes(String(value.type)),
};

export const PROVIDER_CHECKS: Readonly<Record<string, Check>> = {
  name: TEXT,
  baseUrl: TEXT,
  apiKey: TEXT,
  api: TEXT,
  auth: oneOf("apiKey", "none", "oauth"),
  headers: TEXTS,
  compat: OBJECT,
  authHeader: FLAG,
  discovery: DISCOVERY_FIELD,
  models: LIST,
  modelOverrides: OBJECT,
};

export const MODEL_CHECKS: Readonly<Record<string, Check>> = {
  id: TEXT,
  name: TEXT,
  api: TEXT,
  baseUrl: TEXT,
  reasoning: FLAG,
  input: INPUTS,
  cost: COSTS,
  costTiers: COST_TIERS,
  contextWindow: COUNT,
  maxTokens: COUNT,
  headers: TEXTS,
  compat: OBJECT,
  promptCache: CACHE_LIFETIMES,
  thinkingLevelMap: LEVEL_NAMES,
  thinking: THINKING,
};

/** The first field that is not what it should be. `null` counts as not given. */
export function firstProblem(
  fields: Fields,
  checks: Readonly<Record<string, Check>>,
): { field: string; expected: string } | undefined {
  for (const [field, check] of Object.entries(checks)) {
    const value = fields[field];
    if (value !== undefined && value !== null && !check.holds(value)) return { field, expected: check.expected };
  }
  return undefined;
}

/** omp's way to say which levels a model has, in the words of ours: what lies outside is not there. */
export function levelsBetween(thinking: unknown): Record<string, string | null> | undefined {
  if (!isRecord(thinking)) return undefined;
  const lowest = levelOf(thinking.minLevel ?? "off");
  const highest = levelOf(thinking.maxLevel ?? "high");
  const map: Record<string, string | null> = {};
  for (const [place, level] of THINKING_LEVELS.entries()) {
    if (level === "off") continue;
    if (place < lowest || place > highest) map[level] = null;
    else if (level === "xhigh") map[level] = "xhigh";
  }
  return map;
}
