import type { ChatCompat } from "./chat-compat.ts";

/** What is known of the servers that speak this API: the one place where a vendor is treated in its own way. */
export interface Vendor {
  /** Of base URLs; what stands under them (`eu.api.example.com`) counts too. */
  hosts: readonly string[];
  /** Of providers, for servers whose host says nothing. */
  ids: readonly string[];
  compat: Partial<ChatCompat>;
  /** Exceptions by model id, later ones over earlier ones. */
  models?: readonly (readonly [pattern: RegExp, compat: Partial<ChatCompat>])[];
}

/** A server on one's own machine limits its answers itself; some refuse a limit that does not fit behind the prompt. */
const LOCAL: Partial<ChatCompat> = { sendsMaxTokens: false };
/** The limit of an answer is counted as spent before the answer begins: 32,000 is more than a free plan has for a minute. */
const COUNTS_AHEAD: Partial<ChatCompat> = { sendsMaxTokens: false };

export const VENDORS: readonly Vendor[] = [
  {
    ids: ["openai"],
    hosts: ["openai.com"],
    compat: {
      supportsStore: true,
      supportsDeveloperRole: true,
      supportsStrictMode: true,
      supportsPromptCacheKey: true,
      maxTokensField: "max_completion_tokens",
      requiresShortToolIds: true,
      reasoningEffortMap: {},
    },
  },
  {
    ids: ["azure-openai", "azure"],
    hosts: ["openai.azure.com", "cognitiveservices.azure.com", "services.ai.azure.com"],
    compat: {
      rootPath: "/openai/v1",
      authHeaderName: "api-key",
      supportsDeveloperRole: true,
      supportsStrictMode: true,
      maxTokensField: "max_completion_tokens",
      requiresShortToolIds: true,
      reasoningEffortMap: {},
    },
  },
  {
    ids: ["github-models"],
    hosts: ["models.github.ai", "models.inference.ai.azure.com"],
    compat: { requiresShortToolIds: true },
    models: [[/^openai\/(o\d|gpt-5)/, { maxTokensField: "max_completion_tokens", reasoningEffortMap: {} }]],
  },
  {
    ids: ["openrouter"],
    hosts: ["openrouter.ai"],
    compat: { thinkingFormat: "openrouter", reasoningEffortMap: { off: "none" } },
    models: [[/^anthropic\//, { cacheControlFormat: "anthropic", requiresShortToolIds: true }]],
  },
  {
    ids: ["groq"],
    hosts: ["groq.com"],
    compat: { maxTokensField: "max_completion_tokens", ...COUNTS_AHEAD },
    // It knows thinking and no thinking, and nothing between.
    models: [[/qwen/i, { reasoningEffortMap: { off: "none", ...allLevels("default") } }]],
  },
  {
    ids: ["xai"],
    hosts: ["x.ai"],
    compat: { maxTokensField: "max_completion_tokens", supportsReasoningEffort: false },
    // The older ones refuse to be told how hard to think.
    models: [[/grok-4\.[3-9]|grok-[5-9]/, { supportsReasoningEffort: true }]],
  },
  {
    ids: ["deepseek"],
    hosts: ["deepseek.com"],
    compat: {
      thinkingFormat: "deepseek",
      requiresReasoningContent: true,
      reasoningEffortMap: { minimal: "low", medium: "high", xhigh: "max" },
    },
  },
  {
    ids: ["moonshot", "moonshotai", "kimi"],
    hosts: ["moonshot.ai", "moonshot.cn", "kimi.com"],
    compat: { thinkingFormat: "deepseek", supportsReasoningEffort: false, requiresReasoningContent: true },
  },
  {
    ids: ["zai"],
    hosts: ["z.ai", "bigmodel.cn"],
    compat: { thinkingFormat: "zai", supportsReasoningEffort: false },
  },
  {
    ids: ["dashscope", "alibaba"],
    hosts: ["aliyuncs.com"],
    compat: { thinkingFormat: "qwen", supportsReasoningEffort: false },
  },
  {
    ids: ["mistral"],
    hosts: ["mistral.ai"],
    compat: {
      // It counts without being asked, and refuses the question.
      supportsUsageInStreaming: false,
      requiresMistralToolIds: true,
      requiresToolResultName: true,
      requiresAssistantAfterToolResult: true,
      reasoningEffortMap: { off: "none", ...allLevels("high") },
    },
    models: [
      [/^magistral/, { supportsReasoningEffort: false }],
      [/^mistral-large/, { reasoningEffortMap: { off: "none", minimal: "low" } }],
    ],
  },
  {
    ids: ["cerebras"],
    hosts: ["cerebras.ai"],
    // It refuses messages with fields it does not know, its own thinking among them.
    compat: { maxTokensField: "max_completion_tokens", thinkingReplay: "none", ...COUNTS_AHEAD },
    models: [[/glm/, { supportsReasoningEffort: false }]],
  },
  { ids: ["together"], hosts: ["together.ai", "together.xyz"], compat: {} },
  { ids: ["fireworks"], hosts: ["fireworks.ai"], compat: { reasoningEffortMap: { off: "none", minimal: "low" } } },
  { ids: ["ollama"], hosts: [], compat: { ...LOCAL, reasoningEffortMap: { off: "none", minimal: "low" } } },
  { ids: ["lmstudio", "llamacpp", "llama.cpp", "vllm"], hosts: [], compat: LOCAL },
];

function allLevels(word: string): Record<string, string> {
  return { minimal: word, low: word, medium: word, high: word };
}
