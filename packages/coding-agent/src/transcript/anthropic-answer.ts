import type { ProviderError, ProviderErrorKind } from "@tiller/ai/errors";
import type { Delta } from "@tiller/ai/provider";

/** An answer of the script model as a server of the Anthropic Messages API would send it. Pure. */

export interface AnthropicAnswer {
  /** The events of the next delta; empty when it waits for others. */
  events(delta: Delta): string;
  /** False as long as nothing was said: a failure is an HTTP status then. */
  readonly hasBegun: boolean;
}

type Usage = Omit<Extract<Delta, { type: "usage" }>, "type">;
type OpenBlock = Extract<Delta, { type: "open" }>["block"];
type Ended = Extract<Delta, { type: "close" }>;

export function createAnswer(id: string, model: string): AnthropicAnswer {
  /** The kind of each block, by its index. */
  const kinds: OpenBlock["type"][] = [];
  let usage: Usage = {};
  let hasBegun = false;
  const opening = (): string => {
    if (hasBegun) return "";
    hasBegun = true;
    const head = { id, type: "message", role: "assistant", model, content: [], stop_reason: null, stop_sequence: null };
    return event({ type: "message_start", message: { ...head, usage: counts(usage) } });
  };
  return {
    get hasBegun() {
      return hasBegun;
    },
    events(delta) {
      switch (delta.type) {
        case "usage": {
          const { type: _, ...told } = delta;
          usage = { ...usage, ...told };
          return "";
        }
        case "open":
          kinds[delta.index] = delta.block.type;
          return (
            opening() + event({ type: "content_block_start", index: delta.index, content_block: begun(delta.block) })
          );
        case "grow":
          return blockDelta(delta.index, GROWTH[kinds[delta.index] ?? "text"](delta.text));
        case "close":
          return closing(delta);
        case "done":
          return opening() + ending(STOP_REASONS[delta.stopReason], usage);
        case "error":
          return event({ type: "error", error: failureOf(delta.error).body.error });
        case "response":
          return "";
      }
    },
  };
}

const STOP_REASONS = { stop: "end_turn", length: "max_tokens", toolUse: "tool_use" } as const;

const GROWTH: Readonly<Record<OpenBlock["type"], (text: string) => object>> = {
  text: (text) => ({ type: "text_delta", text }),
  thinking: (thinking) => ({ type: "thinking_delta", thinking }),
  toolCall: (partial_json) => ({ type: "input_json_delta", partial_json }),
};

function begun(block: OpenBlock): object {
  if (block.type === "text") return { type: "text", text: "" };
  if (block.type === "thinking") return { type: "thinking", thinking: "", signature: "" };
  return { type: "tool_use", id: block.id, name: block.name, input: {} };
}

/** What a script hides of its thinking is sent as it is: the API hides whole blocks, and says so when they begin. */
function closing({ index, signature }: Ended): string {
  const signed = signature === undefined ? "" : blockDelta(index, { type: "signature_delta", signature });
  return signed + event({ type: "content_block_stop", index });
}

function blockDelta(index: number, delta: object): string {
  return event({ type: "content_block_delta", index, delta });
}

function ending(stop_reason: string, usage: Usage): string {
  return (
    event({ type: "message_delta", delta: { stop_reason, stop_sequence: null }, usage: counts(usage) }) +
    event({ type: "message_stop" })
  );
}

function counts({ input = 0, output = 0, cacheRead = 0, cacheWrite = 0 }: Usage): object {
  return {
    input_tokens: input,
    output_tokens: output,
    cache_read_input_tokens: cacheRead,
    cache_creation_input_tokens: cacheWrite,
  };
}

function event(data: { type: string } & Record<string, unknown>): string {
  return `event: ${data.type}\ndata: ${JSON.stringify(data)}\n\n`;
}

export interface HttpFailure {
  status: number;
  headers: Record<string, string>;
  body: { type: "error"; error: { type: string; message: string } };
}

/** Where the script names no status. What is no answer at all (`network`, `stalled`) is not sent as one. */
const FAILURES: Readonly<Record<ProviderErrorKind, readonly [status: number, type: string]>> = {
  auth: [401, "authentication_error"],
  rate_limit: [429, "rate_limit_error"],
  overloaded: [529, "overloaded_error"],
  server: [500, "api_error"],
  overflow: [413, "request_too_large"],
  bad_request: [400, "invalid_request_error"],
  content_filter: [400, "invalid_request_error"],
  aborted: [400, "invalid_request_error"],
  malformed: [500, "api_error"],
  network: [500, "api_error"],
  stalled: [500, "api_error"],
};

export function failureOf({ kind, message, status, retryAfterMs }: ProviderError): HttpFailure {
  const [usual, type] = FAILURES[kind];
  return {
    status: status ?? usual,
    // Each call of the model is a turn of the story: what retries must be the agent, where one sees it, and not its library.
    headers: {
      "x-should-retry": "false",
      ...(retryAfterMs !== undefined && { "retry-after": String(Math.ceil(retryAfterMs / 1000)) }),
    },
    body: { type: "error", error: { type, message } },
  };
}
