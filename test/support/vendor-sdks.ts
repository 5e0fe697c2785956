import type { MockLlm } from "./mock-llm.ts";
import type { Family, Heard } from "./streams/expected.ts";

/** The vendors' own SDKs, all asked in the same way. They are loaded when they are first asked. */

export const KEY = "made-up-key";

/** Asks through the SDK of a vendor and puts what it understood into neutral words. */
export interface Sdk {
  ask(apiKey?: string): Promise<Heard>;
  /** The text that came before the error, and the error as the SDK tells it. */
  askForTrouble(): Promise<{ text: string; error: unknown; events: unknown[] }>;
  /** The models that the server says it has. */
  modelIds(): Promise<string[]>;
  /** The class of the errors that it raises for an answer of this status. */
  errorClass(status: 401 | 429): Promise<new (...args: never[]) => Error>;
}

const STOPS: Record<string, Heard["stopReason"]> = {
  end_turn: "stop",
  stop: "stop",
  completed: "stop",
  STOP: "stop",
  max_tokens: "length",
  length: "length",
  max_output_tokens: "length",
  MAX_TOKENS: "length",
  tool_use: "toolUse",
  tool_calls: "toolUse",
};
const stopOf = (word: string | null | undefined): Heard["stopReason"] => STOPS[word ?? ""] ?? (`?${word}` as "stop");
const textsOf = (values: (string | null | undefined | false)[]): string => values.filter(Boolean).join("");

/** The events up to the error, which is part of the result. */
async function untilError<T>(start: () => Promise<AsyncIterable<T>>): Promise<{ events: T[]; error: unknown }> {
  const events: T[] = [];
  try {
    for await (const event of await start()) events.push(event);
    return { events, error: undefined };
  } catch (error) {
    return { events, error };
  }
}

const messages = [{ role: "user" as const, content: "Hello" }];

function anthropicSdk(llm: MockLlm): Sdk {
  const client = async (apiKey = KEY) => {
    const { default: Anthropic } = await import("@anthropic-ai/sdk");
    return new Anthropic({ apiKey, authToken: null, baseURL: llm.baseUrlOf("anthropic-messages"), maxRetries: 0 });
  };
  const question = { model: "mock-1", max_tokens: 1000, messages };
  return {
    async ask(apiKey) {
      const answer = await (await client(apiKey)).messages.stream(question).finalMessage();
      const { content, usage, stop_reason } = answer;
      return {
        text: textsOf(content.map((block) => block.type === "text" && block.text)),
        thinking: textsOf(content.map((block) => block.type === "thinking" && block.thinking)),
        calls: content.flatMap((block) => (block.type === "tool_use" ? [[block.name, block.input]] : [])),
        usage: {
          input: usage.input_tokens,
          output: usage.output_tokens,
          cacheRead: usage.cache_read_input_tokens ?? 0,
          cacheWrite: usage.cache_creation_input_tokens ?? 0,
          reasoning: usage.output_tokens_details?.thinking_tokens ?? 0,
        },
        stopReason: stopOf(stop_reason),
      };
    },
    async askForTrouble() {
      const asked = await client();
      const { events, error } = await untilError(() => asked.messages.create({ ...question, stream: true }));
      const deltas = events.map((event) => event.type === "content_block_delta" && event.delta);
      return {
        text: textsOf(deltas.map((delta) => delta && delta.type === "text_delta" && delta.text)),
        error,
        events,
      };
    },
    modelIds: async () => (await (await client()).models.list()).data.map(({ id }) => id),
    async errorClass(status) {
      const sdk = await import("@anthropic-ai/sdk");
      return status === 401 ? sdk.AuthenticationError : sdk.RateLimitError;
    },
  };
}

async function openaiClient(llm: MockLlm, family: Family, apiKey = KEY) {
  const { default: OpenAI } = await import("openai");
  return new OpenAI({ apiKey, baseURL: llm.baseUrlOf(family), maxRetries: 0 });
}

async function openaiErrorClass(status: 401 | 429) {
  const sdk = await import("openai");
  return status === 401 ? sdk.AuthenticationError : sdk.RateLimitError;
}

function openaiChatSdk(llm: MockLlm): Sdk {
  const question = { model: "mock-1", messages, stream_options: { include_usage: true } };
  return {
    async ask(apiKey) {
      const asked = (await openaiClient(llm, "openai-completions", apiKey)).chat.completions.stream(question);
      const thoughts: unknown[] = [];
      // No field of OpenAI's own, so the SDK lets it pass but does not put it together.
      asked.on("chunk", ({ choices: [choice] }) => {
        const thought = (choice?.delta as { reasoning_content?: string | null } | undefined)?.reasoning_content;
        thoughts.push(thought);
      });
      const { choices, usage } = await asked.finalChatCompletion();
      const [choice] = choices;
      const cached = usage?.prompt_tokens_details?.cached_tokens ?? 0;
      const calls = choice?.message.tool_calls ?? [];
      return {
        text: choice?.message.content ?? "",
        thinking: textsOf(thoughts as string[]),
        calls: calls.map((call) => [call.function.name, JSON.parse(call.function.arguments)]),
        usage: {
          input: (usage?.prompt_tokens ?? 0) - cached,
          output: usage?.completion_tokens ?? 0,
          cacheRead: cached,
          cacheWrite: 0,
          reasoning: usage?.completion_tokens_details?.reasoning_tokens ?? 0,
        },
        stopReason: stopOf(choice?.finish_reason),
      };
    },
    async askForTrouble() {
      const client = await openaiClient(llm, "openai-completions");
      const { events, error } = await untilError(() => client.chat.completions.create({ ...question, stream: true }));
      return { text: textsOf(events.map(({ choices: [choice] }) => choice?.delta.content)), error, events };
    },
    modelIds: async () =>
      (await (await openaiClient(llm, "openai-completions")).models.list()).data.map(({ id }) => id),
    errorClass: openaiErrorClass,
  };
}

function openaiResponsesSdk(llm: MockLlm): Sdk {
  const question = { model: "mock-1", input: "Hello" };
  return {
    async ask(apiKey) {
      const client = await openaiClient(llm, "openai-responses", apiKey);
      const { output, output_text, usage, status, incomplete_details } = await client.responses
        .stream(question)
        .finalResponse();
      const cached = usage?.input_tokens_details.cached_tokens ?? 0;
      const calls = output.flatMap((item): Heard["calls"] =>
        item.type === "function_call" ? [[item.name, JSON.parse(item.arguments)]] : [],
      );
      const summaries = output.flatMap((item) => (item.type === "reasoning" ? item.summary : []));
      return {
        text: output_text,
        thinking: summaries.map(({ text }) => text).join("\n\n"),
        calls,
        usage: {
          input: (usage?.input_tokens ?? 0) - cached,
          output: usage?.output_tokens ?? 0,
          cacheRead: cached,
          cacheWrite: 0,
          reasoning: usage?.output_tokens_details.reasoning_tokens ?? 0,
        },
        stopReason: calls.length > 0 ? "toolUse" : stopOf(incomplete_details?.reason ?? status),
      };
    },
    async askForTrouble() {
      const client = await openaiClient(llm, "openai-responses");
      const { events, error } = await untilError(() => client.responses.create({ ...question, stream: true }));
      const text = textsOf(events.map((event) => event.type === "response.output_text.delta" && event.delta));
      // The SDK hands its error event on like any other, and so the answer that failed.
      const told = events.find((event) => event.type === "error");
      const failed = events.find((event) => event.type === "response.failed");
      return { text, error: error ?? (told && failed?.response.error), events };
    },
    modelIds: async () => (await (await openaiClient(llm, "openai-responses")).models.list()).data.map(({ id }) => id),
    errorClass: openaiErrorClass,
  };
}

function googleSdk(llm: MockLlm): Sdk {
  const client = async (apiKey = KEY) => {
    const { GoogleGenAI } = await import("@google/genai");
    return new GoogleGenAI({ apiKey, vertexai: false, httpOptions: { baseUrl: llm.baseUrl } });
  };
  const start = async (apiKey?: string) =>
    (await client(apiKey)).models.generateContentStream({ model: "mock-1", contents: "Hello" });
  return {
    async ask(apiKey) {
      const chunks = [];
      for await (const chunk of await start(apiKey)) chunks.push(chunk);
      const parts = chunks.flatMap((chunk) => chunk.candidates?.[0]?.content?.parts ?? []);
      const calls = parts.flatMap(({ functionCall: call }): Heard["calls"] =>
        call ? [[call.name ?? "", call.args]] : [],
      );
      const { usageMetadata: usage, candidates } = chunks.at(-1) ?? {};
      const [cached, thoughts] = [usage?.cachedContentTokenCount ?? 0, usage?.thoughtsTokenCount ?? 0];
      return {
        text: textsOf(parts.map((part) => !part.thought && part.text)),
        thinking: textsOf(parts.map((part) => part.thought && part.text)),
        calls,
        usage: {
          input: (usage?.promptTokenCount ?? 0) - cached,
          output: (usage?.candidatesTokenCount ?? 0) + thoughts,
          cacheRead: cached,
          cacheWrite: 0,
          reasoning: thoughts,
        },
        stopReason: calls.length > 0 ? "toolUse" : stopOf(candidates?.[0]?.finishReason),
      };
    },
    async askForTrouble() {
      const { events, error } = await untilError(() => start());
      const parts = events.flatMap((chunk) => chunk.candidates?.[0]?.content?.parts ?? []);
      return { text: textsOf(parts.map((part) => !part.thought && part.text)), error, events };
    },
    modelIds: async () =>
      (await (await client()).models.list()).page.map(({ name }) => `${name}`.replace("models/", "")),
    errorClass: async () => (await import("@google/genai")).ApiError,
  };
}

export const SDKS: Readonly<Record<Family, (llm: MockLlm) => Sdk>> = {
  "anthropic-messages": anthropicSdk,
  "openai-completions": openaiChatSdk,
  "openai-responses": openaiResponsesSdk,
  "google-generative-ai": googleSdk,
};
