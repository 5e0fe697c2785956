import { type Asked, argumentsOf, type Dialect, json, slices, stopReasonOf, usageOf } from "./dialect.ts";
import type { ContentStep, Reply } from "./reply.ts";

/** Google Gemini: chunks that are each a small answer; the last one says why it ended. Tool calls come in one piece. */

const FINISH_REASONS: Record<string, string> = {
  stop: "STOP",
  length: "MAX_TOKENS",
  // Whoever wants to call a tool ends like whoever is done.
  toolUse: "STOP",
  refusal: "SAFETY",
};

const STATUS_NAMES: Record<number, string> = {
  400: "INVALID_ARGUMENT",
  401: "UNAUTHENTICATED",
  403: "PERMISSION_DENIED",
  404: "NOT_FOUND",
  429: "RESOURCE_EXHAUSTED",
  500: "INTERNAL",
  503: "UNAVAILABLE",
  504: "DEADLINE_EXCEEDED",
};

export const googleGenerativeAi: Dialect = {
  family: "google-generative-ai",
  provider: "mock-google-generative-ai",
  basePath: "/v1beta",
  path: /\/models\/[^/]+:streamGenerateContent$/,
  write(reply, asked) {
    const chunk = (fields: object): string => crlfEvent({ ...fields, ...envelope(reply, asked) });
    const parts = (list: object[]): object => ({ content: { parts: list, role: "model" }, index: 0 });
    let signature: string | undefined;
    let ending: object | undefined;
    let hasContent = false;
    const sign = (part: object): object => {
      const signed = signature === undefined ? part : { ...part, thoughtSignature: signature };
      signature = undefined;
      return signed;
    };
    return {
      open: () => "",
      content(step) {
        if (step.type === "refusal") {
          ending = refusalEnding(step.text, hasContent);
          return "";
        }
        if (step.type === "thinking") signature = step.signature ?? step.encrypted;
        const found = partsOf(step);
        if (!Array.isArray(found)) ending = found;
        else if (found.length > 0) hasContent = true;
        const list = Array.isArray(found) ? found : [];
        const mayBeSigned = step.type === "toolUse";
        return list.map((part) => chunk({ candidates: [parts([mayBeSigned ? sign(part) : part])] })).join("");
      },
      error: ({ kind, message }) => {
        const code = Number(Object.entries(STATUS_NAMES).find(([, name]) => name === kind)?.[0] ?? 500);
        return crlfEvent({ error: { code, message, status: kind } });
      },
      close() {
        const reason = stopReasonOf(reply);
        const finishReason = FINISH_REASONS[reason] ?? reason;
        const last = { candidates: [{ ...parts([sign({ text: "" })]), finishReason }] };
        return crlfEvent({ ...(ending ?? last), ...envelope(reply, asked), usageMetadata: finalUsage(reply) });
      },
    };
  },
  errorBody: (status, { type, message }) => ({
    error: { code: status, message, status: STATUS_NAMES[status] ?? type, ...detailsOf(type) },
  }),
  keyIn: (headers, query) => (headers["x-goog-api-key"] as string | undefined) ?? query.get("key") ?? undefined,
  // Not a 401: this is how the vendor answers a key it does not know.
  wrongKey: {
    status: 400,
    error: { type: "API_KEY_INVALID", message: "API key not valid. Please pass a valid API key." },
  },
  modelList: (ids) => ({
    models: ids.map((id) => ({
      name: `models/${id}`,
      version: "001",
      displayName: id,
      inputTokenLimit: 200_000,
      outputTokenLimit: 8192,
      supportedGenerationMethods: ["generateContent", "countTokens"],
    })),
  }),
};

const crlfEvent = (value: unknown): string => `data: ${json(value)}\r\n\r\n`;

/** The name of an error in capitals that is no status is told as its reason, as the vendor does. */
function detailsOf(type: string): object {
  if (!/^[A-Z_]+$/.test(type) || Object.values(STATUS_NAMES).includes(type)) return {};
  const info = { "@type": "type.googleapis.com/google.rpc.ErrorInfo", reason: type, domain: "googleapis.com" };
  return { details: [info] };
}

function envelope(reply: Reply, asked: Asked): object {
  const promptTokenCount = promptTokens(reply);
  const modelVersion = reply.model ?? asked.model;
  return {
    usageMetadata: { promptTokenCount, totalTokenCount: promptTokenCount },
    modelVersion,
    responseId: "mock-response",
  };
}

function promptTokens(reply: Reply): number {
  const usage = usageOf(reply);
  return usage.input_tokens + usage.cache_read_tokens + usage.cache_write_tokens;
}

function finalUsage(reply: Reply): object {
  const { output_tokens, reasoning_tokens, cache_read_tokens } = usageOf(reply);
  const promptTokenCount = promptTokens(reply);
  return {
    promptTokenCount,
    candidatesTokenCount: output_tokens - reasoning_tokens,
    totalTokenCount: promptTokenCount + output_tokens,
    ...(cache_read_tokens > 0 ? { cachedContentTokenCount: cache_read_tokens } : {}),
    promptTokensDetails: [{ modality: "TEXT", tokenCount: promptTokenCount }],
    ...(reasoning_tokens > 0 ? { thoughtsTokenCount: reasoning_tokens } : {}),
  };
}

/** Before any content it is the prompt that is blocked, afterwards the answer. */
function refusalEnding(text: string, hasContent: boolean): object {
  if (!hasContent) return { promptFeedback: { blockReason: "PROHIBITED_CONTENT", blockReasonMessage: text } };
  return { candidates: [{ finishReason: "SAFETY", finishMessage: text, index: 0 }] };
}

/** The parts of a step, or how the answer ends when it cannot be told in parts. */
function partsOf(step: Exclude<ContentStep, { type: "refusal" }>): object[] | object {
  if (step.type === "text") return slices(step.text, step.size).map((text) => ({ text }));
  if (step.type === "thinking") {
    return step.encrypted === undefined ? slices(step.text, step.size).map((text) => ({ text, thought: true })) : [];
  }
  const text = argumentsOf(step);
  try {
    const call = { name: step.name, args: JSON.parse(text) };
    return [{ functionCall: step.id === undefined ? call : { id: step.id, ...call } }];
  } catch {
    const finishMessage = `Malformed function call: ${step.name}(${text}`;
    return { candidates: [{ finishReason: "MALFORMED_FUNCTION_CALL", finishMessage, index: 0 }] };
  }
}
