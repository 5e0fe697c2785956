import type { Section, Wanted } from "./build.ts";

/**
 * Which models are listed, best first, and what was checked by hand in the vendors' documentation. What is left out here
 * comes from the packages. Dollars per million tokens: input, output, cache read, cache write.
 */

/** The day the figures were checked; prices that begin later do not count yet. */
export const AS_OF = "2026-11-15";

type Levels = NonNullable<Wanted["thinkingLevelMap"]>;
type Quirks = Pick<Wanted, "compat" | "thinkingLevelMap">;

const MILLION = 1_000_000;
const thinks = (levels?: Levels, compat?: Wanted["compat"]): Partial<Wanted> => ({
  reasoning: true,
  ...(levels ? { thinkingLevelMap: levels } : {}),
  ...(compat ? { compat } : {}),
});
const image = { images: true };

// ── Anthropic ──────────────────────────────────────────────────────────────────────────────────────────────────────

/** Thinks by a budget of tokens. */
const BUDGET: Quirks = { compat: { thinking: "budget", interleavedThinking: true } };
/** Decides by itself how much to think; the effort is a hint. The generations differ in how thinking is turned off. */
const ADAPTIVE_4_6: Quirks = adaptive("omit", "max");
const ADAPTIVE_4_7: Quirks = adaptive("omit", "xhigh");
const ADAPTIVE_5: Quirks = adaptive("disabled", "xhigh");
/** From 5.5 on thoughts are bound to what stood before them. */
const ADAPTIVE_5_5: Quirks = bound(ADAPTIVE_5);
const ADAPTIVE_BETWEEN: Quirks = bound(adaptive("between_tools", "xhigh"));
const ADAPTIVE_ALWAYS: Quirks = {
  compat: { thinking: "adaptive", preservedThinking: true },
  thinkingLevelMap: { off: null, minimal: "low", xhigh: "xhigh" },
};

function adaptive(thinkingOff: string, xhigh: string): Quirks {
  return { compat: { thinking: "adaptive", thinkingOff }, thinkingLevelMap: { minimal: "low", xhigh } };
}

function bound(quirks: Quirks): Quirks {
  return { ...quirks, compat: { ...quirks.compat, preservedThinking: true } };
}

type Claude = [
  id: string,
  name: string,
  contextWindow: number,
  maxTokens: number,
  cost: Wanted["cost"],
  quirks: Quirks,
];
const claude = ([id, name, contextWindow, maxTokens, cost, quirks]: Claude): Wanted => ({
  ...{ id, name, contextWindow, maxTokens, cost, ...quirks },
  ...{ reasoning: true, images: true },
  ...(id === "claude-haiku-5-5" ? { costTiers: [[100_000, 0.5, 2.5, 0.05, 0.625]] } : {}),
});

const ANTHROPIC: Claude[] = [
  ["claude-opus-5-5", "Claude Opus 5.5", MILLION, 128_000, [4, 20, 0.2, 5], ADAPTIVE_ALWAYS],
  ["claude-opus-5", "Claude Opus 5", MILLION, 128_000, [5, 25, 0.5, 6.25], ADAPTIVE_5],
  ["claude-opus-4-8", "Claude Opus 4.8", MILLION, 128_000, [5, 25, 0.5, 6.25], ADAPTIVE_4_7],
  ["claude-opus-4-7", "Claude Opus 4.7", MILLION, 128_000, [5, 25, 0.5, 6.25], ADAPTIVE_4_7],
  ["claude-opus-4-6", "Claude Opus 4.6", MILLION, 128_000, [5, 25, 0.5, 6.25], ADAPTIVE_4_6],
  ["claude-opus-4-5", "Claude Opus 4.5", 200_000, 64_000, [5, 25, 0.5, 6.25], BUDGET],
  ["claude-sonnet-5-5", "Claude Sonnet 5.5", MILLION, 128_000, [2, 10, 0.2, 2.5], ADAPTIVE_BETWEEN],
  ["claude-sonnet-5", "Claude Sonnet 5", MILLION, 128_000, [2, 10, 0.2, 2.5], ADAPTIVE_5],
  ["claude-sonnet-4-6", "Claude Sonnet 4.6", MILLION, 128_000, [3, 15, 0.3, 3.75], ADAPTIVE_4_6],
  ["claude-sonnet-4-5", "Claude Sonnet 4.5", 200_000, 64_000, [3, 15, 0.3, 3.75], BUDGET],
  ["claude-sonnet-4-5-20250929", "Claude Sonnet 4.5 (2025-09-29)", 200_000, 64_000, [3, 15, 0.3, 3.75], BUDGET],
  ["claude-haiku-5-5", "Claude Haiku 5.5", MILLION, 128_000, [0.1, 0.5, 0.01, 0.125], ADAPTIVE_5_5],
  ["claude-haiku-4-5", "Claude Haiku 4.5", 200_000, 64_000, [1, 5, 0.1, 1.25], BUDGET],
  ["claude-haiku-4-5-20251001", "Claude Haiku 4.5 (2025-10-01)", 200_000, 64_000, [1, 5, 0.1, 1.25], BUDGET],
  ["claude-fable-5-1", "Claude Fable 5.1", MILLION, 128_000, [10, 50, 0.25, 12.5], ADAPTIVE_ALWAYS],
];

// ── OpenAI ─────────────────────────────────────────────────────────────────────────────────────────────────────────

const NONE_TO_XHIGH: Levels = { off: "none", minimal: "low", xhigh: "xhigh" };
const LOW_TO_XHIGH: Levels = { off: null, minimal: "low", xhigh: "xhigh" };
const NONE_TO_HIGH: Levels = { off: "none", minimal: "low" };
const LOW_TO_HIGH: Levels = { off: null, minimal: "low" };
const MINIMAL_TO_HIGH: Levels = { off: null };
const MEDIUM_TO_XHIGH: Levels = { off: null, minimal: null, low: null, xhigh: "xhigh" };
const ONLY_HIGH: Levels = { off: null, minimal: null, low: null, medium: null };
/** From gpt-5.6 on, a request can say that nothing is to be kept; how long it is kept can no longer be asked for. */
const CACHE_OPTIONS = { supportsPromptCacheOptions: true };
/** The models before that, as far as they are listed for it, keep a prompt for a day when asked. */
const KEEPS_A_DAY = { supportsLongCacheRetention: true };

const big = { contextWindow: 1_050_000, maxTokens: 128_000, ...image };
const usual = { contextWindow: 400_000, maxTokens: 128_000, ...image };

const OPENAI: Wanted[] = [
  {
    ...{ id: "gpt-6.1-sol", name: "GPT-6.1 Sol", ...big, ...thinks(LOW_TO_XHIGH, CACHE_OPTIONS) },
    ...{ cost: [2, 10, 0.1, 2.5], costTiers: [[272_000, 4, 15, 0.2, 5]] },
  },
  { id: "gpt-6-astra", name: "GPT-6 Astra", ...big, ...thinks(LOW_TO_XHIGH, CACHE_OPTIONS) },
  {
    ...{ id: "gpt-6.1-terra", name: "GPT-6.1 Terra", ...big, ...thinks(NONE_TO_XHIGH, CACHE_OPTIONS) },
    ...{ cost: [1, 5, 0.05, 1.25], costTiers: [[272_000, 2, 7.5, 0.1, 2.5]] },
  },
  { id: "gpt-6-sol", name: "GPT-6 Sol", ...big, ...thinks(NONE_TO_XHIGH, CACHE_OPTIONS) },
  { id: "gpt-6-luna", name: "GPT-6 Luna", ...big, ...thinks(NONE_TO_XHIGH, CACHE_OPTIONS) },
  { id: "gpt-5.6-sol", name: "GPT-5.6 Sol", ...big, ...thinks(NONE_TO_XHIGH, CACHE_OPTIONS) },
  { id: "gpt-5.6-terra", name: "GPT-5.6 Terra", ...big, ...thinks(NONE_TO_XHIGH, CACHE_OPTIONS) },
  { id: "gpt-5.6-luna", name: "GPT-5.6 Luna", ...big, ...thinks(NONE_TO_XHIGH, CACHE_OPTIONS) },
  { id: "gpt-5.5", name: "GPT-5.5", ...big, ...thinks(NONE_TO_XHIGH, KEEPS_A_DAY) },
  { id: "gpt-5.5-pro", name: "GPT-5.5 Pro", ...big, ...thinks(MEDIUM_TO_XHIGH, KEEPS_A_DAY) },
  { id: "gpt-5.4", name: "GPT-5.4", ...big, ...thinks(NONE_TO_XHIGH, KEEPS_A_DAY) },
  { id: "gpt-5.4-mini", name: "GPT-5.4 mini", ...usual, ...thinks(NONE_TO_XHIGH) },
  { id: "gpt-5.4-nano", name: "GPT-5.4 nano", ...usual, ...thinks(NONE_TO_XHIGH) },
  { id: "gpt-5.4-pro", name: "GPT-5.4 Pro", ...big, ...thinks(MEDIUM_TO_XHIGH) },
  { id: "gpt-5.3-codex", name: "GPT-5.3 Codex", ...usual, ...thinks(LOW_TO_XHIGH) },
  { id: "gpt-5.2", name: "GPT-5.2", ...usual, ...thinks(NONE_TO_XHIGH, KEEPS_A_DAY) },
  { id: "gpt-5.2-pro", name: "GPT-5.2 Pro", ...usual, ...thinks(MEDIUM_TO_XHIGH) },
  { id: "gpt-5.1", name: "GPT-5.1", ...usual, ...thinks(NONE_TO_HIGH, KEEPS_A_DAY) },
  { id: "gpt-5", name: "GPT-5", ...usual, ...thinks(MINIMAL_TO_HIGH, KEEPS_A_DAY) },
  { id: "gpt-5-mini", name: "GPT-5 mini", ...usual, ...thinks(MINIMAL_TO_HIGH) },
  { id: "gpt-5-nano", name: "GPT-5 nano", ...usual, ...thinks(MINIMAL_TO_HIGH) },
  { id: "gpt-5-pro", name: "GPT-5 Pro", ...thinks(ONLY_HIGH) },
  { id: "gpt-4.1", name: "GPT-4.1", contextWindow: 1_047_576, compat: KEEPS_A_DAY },
  { id: "gpt-4.1-mini", name: "GPT-4.1 mini", contextWindow: 1_047_576 },
  { id: "gpt-4o", name: "GPT-4o" },
  { id: "gpt-4o-mini", name: "GPT-4o mini" },
  { id: "o3", name: "o3", ...thinks(LOW_TO_HIGH) },
];

// ── Google ─────────────────────────────────────────────────────────────────────────────────────────────────────────

const gemini = { contextWindow: 1_048_576, ...image };
const newGemini = { ...gemini, maxTokens: 65_536 };
/** Gemini 3 cannot be kept from thinking; `minimal` comes near. */
const BY_LEVEL = { thinking: "level" };
const BY_BUDGET = { thinking: "budget" };

const GOOGLE: Wanted[] = [
  { id: "gemini-3.8-flash", name: "Gemini 3.8 Flash", ...newGemini, ...thinks(LOW_TO_HIGH, BY_LEVEL) },
  { id: "gemini-3.1-pro-preview", name: "Gemini 3.1 Pro (preview)", ...newGemini, ...thinks(LOW_TO_HIGH, BY_LEVEL) },
  { id: "gemini-3.7-flash", name: "Gemini 3.7 Flash", ...newGemini, ...thinks(LOW_TO_HIGH, BY_LEVEL) },
  { id: "gemini-3.6-flash", name: "Gemini 3.6 Flash", ...newGemini, ...thinks(MINIMAL_TO_HIGH, BY_LEVEL) },
  { id: "gemini-3.5-flash-lite", name: "Gemini 3.5 Flash-Lite", ...newGemini, ...thinks(MINIMAL_TO_HIGH, BY_LEVEL) },
  { id: "gemini-3.1-flash-lite", name: "Gemini 3.1 Flash-Lite", ...newGemini, ...thinks(MINIMAL_TO_HIGH, BY_LEVEL) },
  {
    ...{ id: "gemini-3-flash-preview", name: "Gemini 3 Flash (preview)" },
    ...{ ...newGemini, ...thinks(MINIMAL_TO_HIGH, BY_LEVEL) },
  },
  { id: "gemini-2.5-pro", name: "Gemini 2.5 Pro", ...newGemini, ...thinks(MINIMAL_TO_HIGH, BY_BUDGET) },
  { id: "gemini-2.5-flash", name: "Gemini 2.5 Flash", ...newGemini, ...thinks(undefined, BY_BUDGET) },
  { id: "gemini-2.5-flash-lite", name: "Gemini 2.5 Flash-Lite", ...newGemini, ...thinks(undefined, BY_BUDGET) },
];

// ── Others ─────────────────────────────────────────────────────────────────────────────────────────────────────────

/** Thinks, and cannot be told how much. */
const THINKS_AS_IT_LIKES = thinks({ off: null }, { supportsReasoningEffort: false });
const ON_OR_OFF: Levels = { minimal: "high", low: "high", medium: "high", xhigh: "max" };
const QWEN_ON_GROQ: Levels = { off: "none", minimal: "default", low: "default", medium: "default", high: "default" };
const KIMI_K3: Levels = { off: null, minimal: "low", medium: "high", xhigh: "max" };
const MISTRAL_EFFORT: Levels = { off: "none", minimal: "high", low: "high", medium: "high" };

/** xAI sets no limit to an answer. */
const grok = { maxTokens: 128_000, ...image };
const XAI: Wanted[] = [
  {
    ...{ id: "grok-4.7", name: "Grok 4.7", contextWindow: 500_000, ...grok, ...thinks(LOW_TO_XHIGH) },
    ...{ cost: [2, 6, 0.5, 0], costTiers: [[199_999, 4, 12, 1, 0]] },
  },
  { id: "grok-4.6", name: "Grok 4.6", ...grok, ...thinks(LOW_TO_HIGH) },
  { id: "grok-4.5", name: "Grok 4.5", ...grok, ...thinks(LOW_TO_HIGH) },
  { id: "grok-4.3", name: "Grok 4.3", ...grok, ...thinks(LOW_TO_HIGH) },
  { id: "grok-build-0.1", name: "Grok Build 0.1", ...grok, ...THINKS_AS_IT_LIKES },
];

const deepseek = { contextWindow: MILLION, maxTokens: 384_000 };
const DEEPSEEK: Wanted[] = [
  { id: "deepseek-v4-pro", name: "DeepSeek V4 Pro", ...deepseek, ...thinks(ON_OR_OFF) },
  { id: "deepseek-v4-flash", name: "DeepSeek V4 Flash", ...deepseek, ...thinks(ON_OR_OFF) },
];

/** Mistral publishes no limit for an answer; this is ours. */
const mistral = { contextWindow: 262_144, maxTokens: 65_536 };
const MISTRAL: Wanted[] = [
  { id: "mistral-medium-latest", name: "Mistral Medium", ...mistral, ...image, ...thinks(MISTRAL_EFFORT) },
  { id: "mistral-medium-3-5", name: "Mistral Medium 3.5", ...mistral, ...image, ...thinks(MISTRAL_EFFORT) },
  { id: "mistral-large-2512", name: "Mistral Large 3", ...mistral, ...image },
  { id: "mistral-small-2603", name: "Mistral Small 4", ...mistral, ...image, ...thinks(MISTRAL_EFFORT) },
  { id: "devstral-2512", name: "Devstral 2", ...mistral },
  { id: "codestral-2508", name: "Codestral", ...mistral, contextWindow: 256_000 },
  { id: "ministral-14b-2512", name: "Ministral 3 14B", ...mistral, ...image },
];

const gptOss = { contextWindow: 131_072, maxTokens: 65_536, ...thinks(LOW_TO_HIGH) };
const GROQ: Wanted[] = [
  { id: "openai/gpt-oss-120b", name: "GPT OSS 120B", ...gptOss },
  { id: "openai/gpt-oss-20b", name: "GPT OSS 20B", ...gptOss },
  {
    ...{ id: "qwen/qwen3.6-27b", name: "Qwen 3.6 27B", contextWindow: 131_072, maxTokens: 16_384 },
    ...{ cost: [0.6, 3, 0, 0], ...image, ...thinks(QWEN_ON_GROQ) },
  },
];

const CEREBRAS: Wanted[] = [
  { id: "gpt-oss-120b", name: "GPT OSS 120B", ...gptOss, maxTokens: 40_960 },
  { id: "gemma-4-31b", name: "Gemma 4 31B", contextWindow: 131_072, maxTokens: 40_960 },
];

const TOGETHER: Wanted[] = [{ id: "openai/gpt-oss-120b", name: "GPT OSS 120B", ...gptOss, cost: [0.15, 0.6, 0, 0] }];

const FIREWORKS_MODELS: [name: string, id: string, fields: Partial<Wanted>][] = [
  ["Kimi K3", "kimi-k3", { ...image, ...thinks({ off: null }) }],
  ["Kimi K2.7 Code", "kimi-k2p7-code", thinks({ off: null })],
  ["GLM 5.2", "glm-5p2", thinks({ minimal: "high", low: "high", medium: "high" })],
  ["DeepSeek V4 Pro", "deepseek-v4-pro", thinks()],
  ["DeepSeek V4 Flash", "deepseek-v4-flash", thinks()],
  ["MiniMax M3", "minimax-m3", thinks()],
  ["Qwen 3.7 Plus", "qwen3p7-plus", { ...image, ...thinks() }],
  ["GPT OSS 120B", "gpt-oss-120b", gptOss],
  ["GPT OSS 20B", "gpt-oss-20b", gptOss],
];
const FIREWORKS: Wanted[] = FIREWORKS_MODELS.map(([name, id, fields]) => ({
  ...{ id: `accounts/fireworks/models/${id}`, pricedAs: id, name, maxTokens: 65_536 },
  ...fields,
}));

const glm = { contextWindow: MILLION, maxTokens: 131_072, ...thinks() };
const ZAI: Wanted[] = [
  { id: "glm-5.3", name: "GLM-5.3", pricedAs: "GLM-5.3", ...glm },
  { id: "glm-5.3-flash", name: "GLM-5.3 Flash", pricedAs: "GLM-5.3-Flash", ...glm },
  { id: "glm-5.2", name: "GLM-5.2", pricedAs: "GLM-5.2", ...glm },
];

const MINIMAX: Wanted[] = [
  {
    ...{ id: "MiniMax-M3", name: "MiniMax M3", pricedAs: "minimax-m3", maxTokens: 131_072 },
    ...{ ...image, ...thinks(undefined, { thinking: "budget" }) },
  },
  { id: "MiniMax-M2.7", name: "MiniMax M2.7", maxTokens: 131_072, ...thinks({ off: null }, { thinking: "budget" }) },
];

/** K3 takes an effort; the older ones can only be switched. */
const KIMI_EFFORT = { thinkingFormat: "openai", supportsReasoningEffort: true };
const kimiOnOff = thinks(undefined, { thinkingFormat: "deepseek", supportsReasoningEffort: false });
const MOONSHOT: Wanted[] = [
  { id: "kimi-k3", name: "Kimi K3", maxTokens: 131_072, ...image, ...thinks(KIMI_K3, KIMI_EFFORT) },
  { id: "kimi-k2.7-code", name: "Kimi K2.7 Code", maxTokens: 65_536, ...THINKS_AS_IT_LIKES },
  { id: "kimi-k2.6", name: "Kimi K2.6", maxTokens: 65_536, ...image, ...kimiOnOff },
  { id: "kimi-k2.5", name: "Kimi K2.5", maxTokens: 65_536, ...image, ...kimiOnOff },
];

/** Paid by subscription. */
const KIMI: Wanted[] = [
  {
    ...{ id: "kimi-for-coding", name: "Kimi for Coding", contextWindow: 262_144, maxTokens: 32_768 },
    ...{ cost: [0, 0, 0, 0], ...image, ...THINKS_AS_IT_LIKES },
  },
];

// ── Sold on ────────────────────────────────────────────────────────────────────────────────────────────────────────

/** Routers take the same words for the effort whatever the model, and translate them. */
const routed = (id: string, like: string, levels: Levels = { xhigh: "xhigh" }): Wanted => ({
  ...{ id, like, api: undefined, compat: undefined },
  thinkingLevelMap: levels,
});
const ALWAYS: Levels = { off: null, xhigh: "xhigh" };

const GATEWAY: Wanted[] = [
  routed("anthropic/claude-opus-5.5", "anthropic/claude-opus-5-5", ALWAYS),
  routed("anthropic/claude-opus-5", "anthropic/claude-opus-5"),
  routed("anthropic/claude-sonnet-5.5", "anthropic/claude-sonnet-5-5"),
  routed("anthropic/claude-sonnet-5", "anthropic/claude-sonnet-5"),
  routed("anthropic/claude-sonnet-4.6", "anthropic/claude-sonnet-4-6"),
  routed("anthropic/claude-haiku-4.5", "anthropic/claude-haiku-4-5", {}),
  routed("openai/gpt-6.1-sol", "openai/gpt-6.1-sol", ALWAYS),
  routed("openai/gpt-6-astra", "openai/gpt-6-astra", ALWAYS),
  routed("openai/gpt-6.1-terra", "openai/gpt-6.1-terra"),
  routed("openai/gpt-6-luna", "openai/gpt-6-luna"),
  routed("google/gemini-3.8-flash", "google/gemini-3.8-flash", { off: null }),
  routed("google/gemini-3.1-pro-preview", "google/gemini-3.1-pro-preview", { off: null }),
];

const ON_AZURE = ["gpt-6.1-sol", "gpt-6-astra", "gpt-5.6-sol", "gpt-5.6-terra", "gpt-5.6-luna", "gpt-5.5", "gpt-5.4"];
const ON_AZURE_TOO = ["gpt-5.4-mini", "gpt-5.4-nano", "gpt-5.3-codex", "gpt-5.2", "gpt-5.1", "gpt-5", "gpt-5-mini"];
/** Azure's own list. */
const KEPT_A_DAY_ON_AZURE = /^gpt-(5\.[1245]|5\.3-codex|5|4\.1)$/;
const AZURE: Wanted[] = [...ON_AZURE, ...ON_AZURE_TOO, "gpt-4.1", "gpt-4o"].map((id) => ({
  ...{ id, like: `openai/${id}`, compat: KEPT_A_DAY_ON_AZURE.test(id) ? KEEPS_A_DAY : undefined },
}));

/** Variants of the same model, models that are gone or that were only tried. */
const NOT_ON_OPENROUTER = [
  /:(free|exacto|thinking|batch|extended)$/,
  /^openrouter\//,
  /claude-(3|opus-4$|sonnet-4$|opus-4\.1)/,
  /gemini-(2\.0|3-pro)|preview-0[5-9]/,
  /grok-(3|4$|4-fast|4\.1-fast)/,
  /gpt-4o|gpt-5\.1-codex|gpt-5(\.\d)?-chat|gpt-5-codex|gpt-5\.2-codex|o4-mini|safeguard/,
  /devstral-(medium|small)-250|devstral-small|mistral-(7b|nemo)|minimax-(01|m1)$/,
];

/** OpenRouter refuses to turn their thinking off: it is mandatory there. */
const ALWAYS_THINKS_ON_OPENROUTER = [
  /gemini-(2\.5-pro|3)/,
  /gpt-(5(-mini|-nano)?|oss-\d+b)$|gpt-5(\.\d)?-pro$/,
  /minimax-m2|kimi-k2-thinking|-thinking-2507$|-a3b-thinking$|grok-code-fast|step-3\.5-flash/,
];

export const OVERLAY: Readonly<Record<string, Section>> = {
  anthropic: { prices: "anthropic", models: ANTHROPIC.map(claude) },
  openai: { prices: "openai", models: OPENAI },
  google: { prices: "google", models: GOOGLE },
  "azure-openai": { models: AZURE },
  openrouter: {
    prices: "openrouter",
    models: GATEWAY,
    alsoProfiled: { except: NOT_ON_OPENROUTER, alwaysThinks: ALWAYS_THINKS_ON_OPENROUTER },
  },
  groq: { prices: "groq", models: GROQ },
  xai: { prices: "x-ai", models: XAI },
  deepseek: { prices: "deepseek", models: DEEPSEEK },
  mistral: { prices: "mistral", models: MISTRAL },
  cerebras: { prices: "cerebras", models: CEREBRAS },
  together: { models: TOGETHER },
  fireworks: { prices: "fireworks", models: FIREWORKS },
  "vercel-ai-gateway": { models: GATEWAY },
  zai: { prices: "zai", models: ZAI },
  minimax: { prices: "minimax", models: MINIMAX },
  moonshot: { prices: "moonshotai", models: MOONSHOT },
  kimi: { models: KIMI },
};
