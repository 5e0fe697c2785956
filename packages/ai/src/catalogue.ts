import { pathToFileURL } from "node:url";
import type { Model } from "@tiller/protocol/model";

/**
 * The models we know without being told. Ids and figures are the vendor's: tokens, and dollars per million tokens.
 * `thinkingLevelMap` says what a level is called there (null: the model does not have it).
 */

const ANTHROPIC_URL = "https://api.anthropic.com";

type Prices = [input: number, output: number, cacheRead: number, cacheWrite: number];
type Quirks = Pick<Model, "compat" | "thinkingLevelMap">;

/** Thinks by a budget of tokens. */
const BUDGET: Quirks = { compat: { thinking: "budget", interleavedThinking: true } };
/** Decides by itself how much to think; the effort is a hint. The generations differ in how thinking is turned off. */
const ADAPTIVE_4_6: Quirks = adaptive("omit", "max");
const ADAPTIVE_4_7: Quirks = adaptive("omit", "xhigh");
const ADAPTIVE_5: Quirks = adaptive("disabled", "xhigh");
const ADAPTIVE_BETWEEN: Quirks = adaptive("between_tools", "xhigh");
const ADAPTIVE_ALWAYS: Quirks = {
  compat: { thinking: "adaptive" },
  thinkingLevelMap: { off: null, minimal: "low", xhigh: "xhigh" },
};

function adaptive(thinkingOff: string, xhigh: string): Quirks {
  return { compat: { thinking: "adaptive", thinkingOff }, thinkingLevelMap: { minimal: "low", xhigh } };
}

function claude(
  id: string,
  name: string,
  contextWindow: number,
  maxTokens: number,
  prices: Prices,
  quirks: Quirks,
): Model {
  const [input, output, cacheRead, cacheWrite] = prices;
  return {
    id,
    name,
    api: "anthropic-messages",
    provider: "anthropic",
    baseUrl: ANTHROPIC_URL,
    reasoning: true,
    input: ["text", "image"],
    cost: { input, output, cacheRead, cacheWrite },
    contextWindow,
    maxTokens,
    ...quirks,
  };
}

const MILLION = 1_000_000;

/** Newest first within a line. Haiku 5.5 has a second price for prompts above 100,000 tokens; this is the first one. */
export const CATALOGUE: readonly Model[] = [
  claude("claude-opus-5-5", "Claude Opus 5.5", MILLION, 128_000, [4, 20, 0.2, 5], ADAPTIVE_ALWAYS),
  claude("claude-opus-5", "Claude Opus 5", MILLION, 128_000, [5, 25, 0.5, 6.25], ADAPTIVE_5),
  claude("claude-opus-4-8", "Claude Opus 4.8", MILLION, 128_000, [5, 25, 0.5, 6.25], ADAPTIVE_4_7),
  claude("claude-opus-4-7", "Claude Opus 4.7", MILLION, 128_000, [5, 25, 0.5, 6.25], ADAPTIVE_4_7),
  claude("claude-opus-4-6", "Claude Opus 4.6", MILLION, 128_000, [5, 25, 0.5, 6.25], ADAPTIVE_4_6),
  claude("claude-opus-4-5", "Claude Opus 4.5", 200_000, 64_000, [5, 25, 0.5, 6.25], BUDGET),
  claude("claude-sonnet-5-5", "Claude Sonnet 5.5", MILLION, 128_000, [2, 10, 0.2, 2.5], ADAPTIVE_BETWEEN),
  claude("claude-sonnet-5", "Claude Sonnet 5", MILLION, 128_000, [2, 10, 0.2, 2.5], ADAPTIVE_5),
  claude("claude-sonnet-4-6", "Claude Sonnet 4.6", MILLION, 128_000, [3, 15, 0.3, 3.75], ADAPTIVE_4_6),
  claude("claude-sonnet-4-5", "Claude Sonnet 4.5", 200_000, 64_000, [3, 15, 0.3, 3.75], BUDGET),
  claude("claude-sonnet-4-5-20250929", "Claude Sonnet 4.5 (2025-09-29)", 200_000, 64_000, [3, 15, 0.3, 3.75], BUDGET),
  claude("claude-haiku-5-5", "Claude Haiku 5.5", MILLION, 128_000, [0.1, 0.5, 0.01, 0.125], ADAPTIVE_5),
  claude("claude-haiku-4-5", "Claude Haiku 4.5", 200_000, 64_000, [1, 5, 0.1, 1.25], BUDGET),
  claude("claude-haiku-4-5-20251001", "Claude Haiku 4.5 (2025-10-01)", 200_000, 64_000, [1, 5, 0.1, 1.25], BUDGET),
  claude("claude-fable-5-1", "Claude Fable 5.1", MILLION, 128_000, [10, 50, 0.25, 12.5], ADAPTIVE_ALWAYS),
];

/** Which model a provider means when only the provider is named. */
export const PROVIDER_DEFAULTS: Readonly<Record<string, string>> = {
  anthropic: "claude-opus-5-5",
  offline: "scout",
};

const FREE: Model["cost"] = { input: 0, output: 0, cacheRead: 0, cacheWrite: 0 };
const LOCAL_LIMITS = { cost: FREE, contextWindow: 200_000, maxTokens: 8_192 };

/** The rule-based model that needs neither network nor key. */
export const OFFLINE_MODEL: Model = {
  id: "scout",
  name: "Scout (offline, rule-based)",
  api: "offline",
  provider: "offline",
  baseUrl: "offline://scout",
  reasoning: false,
  input: ["text"],
  ...LOCAL_LIMITS,
};

/** The model that plays turns from a file; `baseUrl` tells where the file is. */
export function scriptModel(path: string): Model {
  return {
    id: "script",
    name: "Script (plays turns from a file)",
    api: "script",
    provider: "script",
    baseUrl: pathToFileURL(path).href,
    reasoning: true,
    input: ["text", "image"],
    ...LOCAL_LIMITS,
  };
}

export function isLocal(model: Model): boolean {
  return model.api === "offline" || model.api === "script";
}
