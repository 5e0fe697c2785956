import type { ReadableStream } from "node:stream/web";

/**
 * What is used of the AI SDK's specification of a language model, versions 2, 3 and 4. Written down here, as the SDK
 * itself is not a dependency: whoever wants a model of it installs its package.
 */

export const KNOWN_VERSIONS = ["v2", "v3", "v4"] as const;
export type SpecVersion = (typeof KNOWN_VERSIONS)[number];

export interface LanguageModel {
  specificationVersion: SpecVersion;
  /** The vendor and its API, e.g. `openai.chat`. */
  provider: string;
  doStream(options: CallOptions): PromiseLike<{ stream: ReadableStream<unknown> }>;
}

/** By the name of the vendor. */
export type ProviderOptions = Record<string, Record<string, unknown>>;

export interface CallOptions {
  prompt: PromptMessage[];
  maxOutputTokens: number;
  tools?: { type: "function"; name: string; description: string; inputSchema: Record<string, unknown> }[];
  /** From version 4 on. */
  reasoning?: string;
  providerOptions?: ProviderOptions;
  abortSignal: AbortSignal;
}

export interface PromptMessage {
  role: "system" | "user" | "assistant" | "tool";
  content: string | PromptPart[];
  providerOptions?: ProviderOptions;
}

export interface PromptPart {
  type: "text" | "file" | "reasoning" | "tool-call" | "tool-result";
  text?: string;
  /** Base64; wrapped in an object from version 4 on. */
  data?: string | { type: "data"; data: string };
  mediaType?: string;
  toolCallId?: string;
  toolName?: string;
  input?: unknown;
  output?: { type: string; value: unknown };
  providerOptions?: ProviderOptions;
}

/** What is read of the parts of a stream, all kinds in one. Nothing is promised, so everything may be missing. */
export interface StreamPart {
  type?: string;
  id?: string;
  delta?: string;
  toolName?: string;
  toolCallId?: string;
  input?: unknown;
  /** `text` when the pieces of an input are not JSON; the whole input is. */
  inputEncoding?: string;
  providerExecuted?: boolean;
  providerMetadata?: Record<string, unknown>;
  modelId?: string;
  /** A word in version 2. */
  finishReason?: string | { unified?: string; raw?: string };
  usage?: Usage;
  error?: unknown;
}

export interface Usage {
  /** Numbers in version 2. */
  inputTokens?: number | { total?: number; noCache?: number; cacheRead?: number; cacheWrite?: number };
  outputTokens?: number | { total?: number; text?: number; reasoning?: number };
  reasoningTokens?: number;
  cachedInputTokens?: number;
}
