import { argumentsOf, bearerIn, CREATED, type Dialect, namedEvent, slices, stopReasonOf, usageOf } from "./dialect.ts";
import { openaiCompletions, openaiError, openaiModels } from "./openai-completions.ts";
import type { ContentStep, Reply } from "./reply.ts";

/** OpenAI Responses: numbered events about items that are added, grow and are done, between `created` and `completed`. */

type Event = { type: string } & Record<string, unknown>;
type Item = Record<string, unknown>;

export const openaiResponses: Dialect = {
  family: "openai-responses",
  provider: "mock-openai-responses",
  basePath: "/v1",
  path: /\/responses$/,
  write(reply, asked) {
    const output: Item[] = [];
    let sequence_number = 0;
    const send = (events: readonly Event[]): string =>
      events.map((event) => namedEvent({ ...event, sequence_number: sequence_number++ })).join("");
    const response = (fields: object = {}): object => responseObject(reply.model ?? asked.model, fields);
    return {
      open: () =>
        send([
          { type: "response.created", response: response() },
          { type: "response.in_progress", response: response() },
        ]),
      content(step) {
        const { item, events } = itemOf(step, output.length);
        output.push(item);
        return send(events);
      },
      error({ kind, message }) {
        const error = { code: kind, message };
        return send([
          { type: "error", ...error, param: null },
          { type: "response.failed", response: response({ status: "failed", error, output }) },
        ]);
      },
      close() {
        const ending = endingOf(stopReasonOf(reply));
        return send([{ type: ending.type, response: response({ ...ending.fields, output, usage: wireUsage(reply) }) }]);
      },
    };
  },
  errorBody: openaiError,
  keyIn: bearerIn,
  wrongKey: openaiCompletions.wrongKey,
  modelList: openaiModels,
};

const COMPLETED = { type: "response.completed", fields: { status: "completed" } };
const incomplete = (reason: string): { type: string; fields: object } => ({
  type: "response.incomplete",
  fields: { status: "incomplete", incomplete_details: { reason } },
});

function endingOf(reason: string): { type: string; fields: object } {
  if (reason === "stop" || reason === "toolUse" || reason === "refusal") return COMPLETED;
  return incomplete(reason === "length" ? "max_output_tokens" : reason);
}

function responseObject(model: string, fields: object): object {
  return {
    id: "resp_mock",
    object: "response",
    created_at: CREATED,
    status: "in_progress",
    background: false,
    error: null,
    incomplete_details: null,
    instructions: null,
    max_output_tokens: null,
    model,
    output: [],
    parallel_tool_calls: true,
    previous_response_id: null,
    reasoning: { effort: "medium", summary: "auto" },
    service_tier: "default",
    store: false,
    temperature: 1,
    text: { format: { type: "text" } },
    tool_choice: "auto",
    tools: [],
    top_p: 1,
    truncation: "disabled",
    usage: null,
    metadata: {},
    ...fields,
  };
}

function wireUsage(reply: Reply): object {
  const usage = usageOf(reply);
  const input_tokens = usage.input_tokens + usage.cache_read_tokens + usage.cache_write_tokens;
  return {
    input_tokens,
    input_tokens_details: { cached_tokens: usage.cache_read_tokens, cache_write_tokens: usage.cache_write_tokens },
    output_tokens: usage.output_tokens,
    output_tokens_details: { reasoning_tokens: usage.reasoning_tokens },
    total_tokens: input_tokens + usage.output_tokens,
  };
}

function itemOf(step: ContentStep, output_index: number): { item: Item; events: Event[] } {
  switch (step.type) {
    case "text":
      return messageItem(output_index, "output_text", step.text, step.size);
    case "refusal":
      return messageItem(output_index, "refusal", step.text);
    case "thinking":
      return reasoningItem(step, output_index);
    case "toolUse":
      return callItem(step, output_index);
  }
}

/** Every item is added unfinished, and told once more as a whole when it is done. */
function around(output_index: number, begun: Item, item: Item, events: Event[]): { item: Item; events: Event[] } {
  return {
    item,
    events: [
      { type: "response.output_item.added", output_index, item: begun },
      ...events,
      { type: "response.output_item.done", output_index, item },
    ],
  };
}

function messageItem(output_index: number, kind: "output_text" | "refusal", text: string, size?: number) {
  const id = `msg_mock_${output_index}`;
  const place = { item_id: id, output_index, content_index: 0 };
  const [field, extra, logprobs] =
    kind === "output_text" ? ["text", { annotations: [], logprobs: [] }, { logprobs: [] }] : ["refusal", {}, {}];
  const part = { type: kind, [field as string]: text, ...(extra as object) };
  const message = { id, type: "message", role: "assistant" };
  return around(
    output_index,
    { ...message, status: "in_progress", content: [] },
    { ...message, status: "completed", content: [part] },
    [
      { type: "response.content_part.added", ...place, part: { ...part, [field as string]: "" } },
      ...slices(text, size).map((delta) => ({
        type: `response.${kind}.delta`,
        ...place,
        delta,
        ...(logprobs as object),
      })),
      { type: `response.${kind}.done`, ...place, [field as string]: text, ...(logprobs as object) },
      { type: "response.content_part.done", ...place, part },
    ],
  );
}

function reasoningItem(step: ContentStep & { type: "thinking" }, output_index: number) {
  const id = `rs_mock_${output_index}`;
  const reasoning = { id, type: "reasoning", summary: [] };
  const encrypted_content = step.encrypted ?? step.signature;
  const sealed = encrypted_content === undefined ? {} : { encrypted_content };
  if (step.encrypted !== undefined) return around(output_index, reasoning, { ...reasoning, ...sealed }, []);
  const place = { item_id: id, output_index, summary_index: 0 };
  const part = { type: "summary_text", text: step.text };
  return around(output_index, reasoning, { ...reasoning, summary: [part], ...sealed }, [
    { type: "response.reasoning_summary_part.added", ...place, part: { ...part, text: "" } },
    ...slices(step.text, step.size).map((delta) => ({
      type: "response.reasoning_summary_text.delta",
      ...place,
      delta,
    })),
    { type: "response.reasoning_summary_text.done", ...place, text: step.text },
    { type: "response.reasoning_summary_part.done", ...place, part },
  ]);
}

function callItem(step: ContentStep & { type: "toolUse" }, output_index: number) {
  const id = `fc_mock_${output_index}`;
  const place = { item_id: id, output_index };
  const text = argumentsOf(step);
  const call = { id, type: "function_call", call_id: step.id ?? `call_mock_${output_index}`, name: step.name };
  return around(
    output_index,
    { ...call, arguments: "", status: "in_progress" },
    { ...call, arguments: text, status: "completed" },
    [
      ...slices(text, step.size ?? 8).map((delta) => ({
        type: "response.function_call_arguments.delta",
        ...place,
        delta,
      })),
      { type: "response.function_call_arguments.done", ...place, name: step.name, arguments: text },
    ],
  );
}
