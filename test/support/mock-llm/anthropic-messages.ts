import { argumentsOf, bearerIn, type Dialect, namedEvent, slices, stopReasonOf, usageOf } from "./dialect.ts";
import type { ContentStep, Reply } from "./reply.ts";

/** Anthropic Messages: blocks that are started, grow and are stopped, between the start and the stop of a message. */

const STOP_REASONS: Record<string, string> = {
  stop: "end_turn",
  length: "max_tokens",
  toolUse: "tool_use",
  refusal: "refusal",
};

export const anthropicMessages: Dialect = {
  family: "anthropic-messages",
  provider: "mock",
  basePath: "",
  path: /\/messages$/,
  write(reply, asked) {
    let index = 0;
    let refusal: string | undefined;
    return {
      open: () => messageStart(reply, reply.model ?? asked.model),
      content(step) {
        if (step.type === "refusal") {
          refusal = step.text;
          return "";
        }
        const text = block(index, ...blockOf(step, index));
        index += 1;
        return text;
      },
      error: ({ kind, message }) => event("error", { error: { type: kind, message }, request_id: null }),
      close: () => messageEnd(reply, refusal),
    };
  },
  errorBody: (_status, { type, message }) => ({ type: "error", error: { type, message }, request_id: "req_mock" }),
  keyIn: (headers) => (headers["x-api-key"] as string | undefined) ?? bearerIn(headers),
  wrongKey: { status: 401, error: { type: "authentication_error", message: "invalid x-api-key" } },
  modelList: (ids) => ({
    data: ids.map((id) => ({ type: "model", id, display_name: id, created_at: "2025-01-01T00:00:00Z" })),
    has_more: false,
    first_id: ids[0],
    last_id: ids.at(-1),
  }),
};

const event = (type: string, fields: object): string => namedEvent({ type, ...fields });

function messageStart(reply: Reply, model: string): string {
  const { input_tokens, cache_read_tokens, cache_write_tokens } = usageOf(reply);
  const usage = {
    input_tokens,
    cache_creation_input_tokens: cache_write_tokens,
    cache_read_input_tokens: cache_read_tokens,
    output_tokens: 1,
    service_tier: "standard",
  };
  const message = { id: "msg_mock", type: "message", role: "assistant", model, content: [] };
  return event("message_start", { message: { ...message, stop_reason: null, stop_sequence: null, usage } });
}

function messageEnd(reply: Reply, refusal: string | undefined): string {
  const reason = stopReasonOf(reply);
  const { output_tokens, reasoning_tokens } = usageOf(reply);
  const thought = reasoning_tokens > 0 ? { output_tokens_details: { thinking_tokens: reasoning_tokens } } : {};
  const details =
    refusal === undefined ? {} : { stop_details: { type: "refusal", category: null, explanation: refusal } };
  const delta = { stop_reason: STOP_REASONS[reason] ?? reason, stop_sequence: null, ...details };
  return event("message_delta", { delta, usage: { output_tokens, ...thought } }) + event("message_stop", {});
}

function block(index: number, contentBlock: object, deltas: object[]): string {
  return [
    event("content_block_start", { index, content_block: contentBlock }),
    ...deltas.map((delta) => event("content_block_delta", { index, delta })),
    event("content_block_stop", { index }),
  ].join("");
}

function blockOf(step: Exclude<ContentStep, { type: "refusal" }>, index: number): [block: object, deltas: object[]] {
  switch (step.type) {
    case "text":
      return [{ type: "text", text: "" }, slices(step.text, step.size).map((text) => ({ type: "text_delta", text }))];
    case "thinking":
      if (step.encrypted !== undefined) return [{ type: "redacted_thinking", data: step.encrypted }, []];
      return [
        { type: "thinking", thinking: "", signature: "" },
        [
          ...slices(step.text, step.size).map((thinking) => ({ type: "thinking_delta", thinking })),
          { type: "signature_delta", signature: step.signature ?? "c2lnbmVk" },
        ],
      ];
    case "toolUse":
      return [
        { type: "tool_use", id: step.id ?? `toolu_mock_${index}`, name: step.name, input: {} },
        slices(argumentsOf(step), step.size ?? 8).map((part) => ({ type: "input_json_delta", partial_json: part })),
      ];
  }
}
