import {
  type Asked,
  argumentsOf,
  bearerIn,
  CREATED,
  type Dialect,
  dataEvent,
  slices,
  stopReasonOf,
  usageOf,
} from "./dialect.ts";
import type { ContentStep, Reply } from "./reply.ts";

/** OpenAI Chat Completions: nameless chunks with a delta each, a finish reason, the usage if asked for, then `[DONE]`. */

const FINISH_REASONS: Record<string, string> = {
  stop: "stop",
  length: "length",
  toolUse: "tool_calls",
  // The words of a refusal stand in the message; the answer itself ends like any other.
  refusal: "stop",
};

export const openaiCompletions: Dialect = {
  family: "openai-completions",
  provider: "mock-openai-completions",
  basePath: "/v1",
  path: /\/chat\/completions$/,
  write(reply, asked) {
    const chunk = (fields: object): string => dataEvent({ ...envelope(reply, asked), ...fields });
    const delta = (fields: object, finish_reason: string | null = null): string =>
      chunk({ choices: [{ index: 0, delta: fields, logprobs: null, finish_reason }] });
    let calls = 0;
    return {
      open: () => delta({ role: "assistant", content: "", refusal: null }),
      content(step) {
        const deltas = deltasOf(step, calls);
        if (step.type === "toolUse") calls += 1;
        return deltas.map((fields) => delta(fields)).join("");
      },
      error: ({ kind, message }) => dataEvent({ error: { message, type: kind, param: null, code: null } }),
      close() {
        const reason = stopReasonOf(reply);
        const usage = wantsUsage(asked) ? chunk({ choices: [], usage: wireUsage(reply) }) : "";
        return `${delta({}, FINISH_REASONS[reason] ?? reason)}${usage}data: [DONE]\n\n`;
      },
    };
  },
  errorBody: openaiError,
  keyIn: bearerIn,
  wrongKey: {
    status: 401,
    error: { type: "invalid_request_error", message: "Incorrect API key provided.", code: "invalid_api_key" },
  },
  modelList: openaiModels,
};

export function openaiError(
  _status: number,
  { type, message, code }: { type: string; message: string; code?: string },
) {
  return { error: { message, type, param: null, code: code ?? null } };
}

export function openaiModels(ids: readonly string[]): object {
  return {
    object: "list",
    data: ids.map((id) => ({ id, object: "model", created: CREATED, owned_by: "mock" })),
  };
}

function envelope(reply: Reply, asked: Asked): object {
  return {
    id: "chatcmpl-mock",
    object: "chat.completion.chunk",
    created: CREATED,
    model: reply.model ?? asked.model,
    service_tier: "default",
    system_fingerprint: "fp_mock",
    // Only whoever asks for the usage finds the field at all.
    ...(wantsUsage(asked) ? { usage: null } : {}),
  };
}

const wantsUsage = ({ body }: Asked): boolean =>
  (body.stream_options as { include_usage?: boolean } | undefined)?.include_usage === true;

function wireUsage(reply: Reply): object {
  const usage = usageOf(reply);
  const prompt_tokens = usage.input_tokens + usage.cache_read_tokens + usage.cache_write_tokens;
  const written = usage.cache_write_tokens > 0 ? { cache_write_tokens: usage.cache_write_tokens } : {};
  return {
    prompt_tokens,
    completion_tokens: usage.output_tokens,
    total_tokens: prompt_tokens + usage.output_tokens,
    prompt_tokens_details: { cached_tokens: usage.cache_read_tokens, audio_tokens: 0, ...written },
    completion_tokens_details: {
      reasoning_tokens: usage.reasoning_tokens,
      audio_tokens: 0,
      accepted_prediction_tokens: 0,
      rejected_prediction_tokens: 0,
    },
  };
}

function deltasOf(step: ContentStep, index: number): object[] {
  switch (step.type) {
    case "text":
      return slices(step.text, step.size).map((content) => ({ content }));
    case "refusal":
      return slices(step.text).map((refusal) => ({ refusal }));
    case "thinking":
      return thinkingDeltas(step);
    case "toolUse": {
      const start = { index, id: step.id ?? `call_mock_${index}`, type: "function" };
      const parts = slices(argumentsOf(step), step.size ?? 8);
      return [
        { tool_calls: [{ ...start, function: { name: step.name, arguments: "" } }] },
        ...parts.map((part) => ({ tool_calls: [{ index, function: { arguments: part } }] })),
      ];
    }
  }
}

/** OpenAI itself shows no thinking here. The fields are those of compatible servers: DeepSeek's, and OpenRouter's list. */
function thinkingDeltas(step: ContentStep & { type: "thinking" }): object[] {
  const detail = { format: "unknown", index: 0 };
  if (step.encrypted !== undefined) {
    const encrypted = { type: "reasoning.encrypted", id: "rs_mock_0", data: step.encrypted, ...detail };
    return [{ content: "", reasoning_details: [encrypted] }];
  }
  const words = slices(step.text, step.size).map((reasoning_content) => ({ reasoning_content }));
  if (step.signature === undefined) return words;
  return [...words, { reasoning_details: [{ type: "reasoning.text", signature: step.signature, ...detail }] }];
}
