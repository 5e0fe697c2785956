/** The ways to say a thinking level: see `thinking.ts`. */
export type ThinkingFormat = "openai" | "openrouter" | "deepseek" | "zai" | "qwen" | "qwen-chat-template" | "together";

/**
 * What differs between the many servers that speak this API. Every key can be written in `compat` of a model or a
 * provider and then wins; what is not written is known from the host of the base URL, else from the id of the provider
 * (`vendors.ts`), else it is as in `CAUTIOUS`.
 */
export interface ChatCompat {
  /** The path of a base URL that has none: `http://127.0.0.1:8080` means `http://127.0.0.1:8080/v1`. */
  rootPath: string;
  /** Azure: added to the URL as `api-version`. */
  apiVersion: string;
  /** The header of the key. In `Authorization` it follows the word `Bearer`, in any other it stands alone. */
  authHeaderName: string;
  supportsStore: boolean;
  /** The system prompt of a reasoning model is said by a `developer`. */
  supportsDeveloperRole: boolean;
  supportsReasoningEffort: boolean;
  supportsUsageInStreaming: boolean;
  supportsStrictMode: boolean;
  supportsPromptCacheKey: boolean;
  maxTokensField: "max_tokens" | "max_completion_tokens";
  /** False: the length of an answer is only limited when someone asks for it. */
  sendsMaxTokens: boolean;
  requiresToolResultName: boolean;
  requiresAssistantAfterToolResult: boolean;
  requiresThinkingAsText: boolean;
  /** While it thinks, every earlier answer must have `reasoning_content`. */
  requiresReasoningContent: boolean;
  requiresMistralToolIds: boolean;
  /** Ids of tool calls have only letters, digits, `_` and `-`, and at most 40 of them. */
  requiresShortToolIds: boolean;
  /** What a model gets back of its own thinking: the field it came in, or nothing. */
  thinkingReplay: "field" | "none";
  thinkingFormat: ThinkingFormat;
  /** The words for the thinking levels, where they are not the names of the levels. */
  reasoningEffortMap: Readonly<Record<string, string>>;
  /** `anthropic`: marks for the prompt cache inside the messages. */
  cacheControlFormat: "none" | "anthropic";
  /** OpenRouter: sent as `provider`. Empty: not sent. */
  openRouterRouting: Readonly<Record<string, unknown>>;
}

/** What every server understands. */
export const CAUTIOUS: ChatCompat = {
  rootPath: "/v1",
  apiVersion: "",
  authHeaderName: "Authorization",
  supportsStore: false,
  supportsDeveloperRole: false,
  supportsReasoningEffort: true,
  supportsUsageInStreaming: true,
  supportsStrictMode: false,
  supportsPromptCacheKey: false,
  maxTokensField: "max_tokens",
  sendsMaxTokens: true,
  requiresToolResultName: false,
  requiresAssistantAfterToolResult: false,
  requiresThinkingAsText: false,
  requiresReasoningContent: false,
  requiresMistralToolIds: false,
  requiresShortToolIds: false,
  thinkingReplay: "field",
  thinkingFormat: "openai",
  reasoningEffortMap: { minimal: "low" },
  cacheControlFormat: "none",
  openRouterRouting: {},
};
