import { ProviderError, type ProviderErrorKind } from "../../errors.ts";
import { parseEventObject } from "../../http/sse.ts";
import { isOverflowText } from "../../overflow.ts";
import type { Delta } from "../../provider.ts";
import { learnWrapping, noWrapping, pushWrapped, type Wrapping } from "../wrapped-text.ts";

/** The event stream of the Anthropic Messages API in neutral deltas. Pure: `step` changes its state and its list only. */

export interface StreamState {
  /** The provider's block index to ours; -1 for kinds of blocks that we do not carry. */
  indexes: number[];
  blockCount: number;
  /** By our index: the signature so far, and the arguments that came whole with the opening of a tool call. */
  signatures: string[];
  wholeInputs: (string | undefined)[];
  hasToolCall: boolean;
  stopReason: string | undefined;
  wrapping: Wrapping;
  ended: boolean;
}

export function initial(): StreamState {
  return {
    indexes: [],
    blockCount: 0,
    signatures: [],
    wholeInputs: [],
    hasToolCall: false,
    stopReason: undefined,
    wrapping: noWrapping(),
    ended: false,
  };
}

/** What is read of the events. Nothing is promised by the other side, so everything may be missing. */
interface WireEvent {
  type?: string;
  index?: number;
  message?: { id?: string; usage?: WireUsage | null };
  content_block?: {
    type?: string;
    text?: string;
    thinking?: string;
    signature?: string;
    data?: string;
    id?: string;
    name?: string;
    input?: unknown;
  };
  delta?: {
    type?: string;
    text?: string;
    thinking?: string;
    partial_json?: string;
    signature?: string;
    stop_reason?: string | null;
  };
  usage?: WireUsage | null;
  error?: { type?: string; message?: string };
}

interface WireUsage {
  input_tokens?: number | null;
  output_tokens?: number | null;
  cache_read_input_tokens?: number | null;
  cache_creation_input_tokens?: number | null;
}

type Handler = (state: StreamState, event: WireEvent, out: Delta[]) => void;

const HANDLERS: Readonly<Record<string, Handler>> = {
  message_start: onMessageStart,
  content_block_start: onBlockStart,
  content_block_delta: onBlockDelta,
  content_block_stop: onBlockStop,
  message_delta: onMessageDelta,
  message_stop: onMessageStop,
  error: onError,
};

export function step(state: StreamState, data: string, out: Delta[]): void {
  if (state.ended || pushWrapped(state.wrapping, data, out)) return;
  const event: WireEvent | undefined = parseEventObject(data);
  if (event === undefined) {
    fail(state, out, "malformed", `Anthropic sent an event that is not JSON: ${data.slice(0, 200)}`);
    return;
  }
  const grown = out.length;
  const handler = event.type === undefined ? event.error && onError : HANDLERS[event.type];
  handler?.(state, event, out);
  learnWrapping(state.wrapping, data, out[grown]);
}

export function finish(state: StreamState, out: Delta[]): void {
  if (!state.ended) fail(state, out, "malformed", "Anthropic stream ended before message_stop");
}

function onMessageStart(_state: StreamState, event: WireEvent, out: Delta[]): void {
  const { message } = event;
  if (typeof message?.id === "string") out.push({ type: "response", id: message.id });
  pushUsage(message?.usage, out);
}

function onBlockStart(state: StreamState, event: WireEvent, out: Delta[]): void {
  const block = event.content_block;
  const at = event.index ?? 0;
  const index = state.blockCount;
  if (block?.type === "text") out.push({ type: "open", index, block: { type: "text" } });
  else if (block?.type === "thinking" || block?.type === "redacted_thinking") {
    out.push({ type: "open", index, block: { type: "thinking" } });
  } else if (block?.type === "tool_use") {
    out.push({ type: "open", index, block: { type: "toolCall", id: block.id ?? "", name: block.name ?? "" } });
    state.hasToolCall = true;
  } else {
    state.indexes[at] = -1;
    return;
  }
  state.blockCount++;
  state.indexes[at] = index;
  state.signatures[index] = block.signature ?? "";
  if (block.type === "redacted_thinking") {
    closeRedacted(state, at, block.data ?? "", out);
    return;
  }
  state.wholeInputs[index] = isEmpty(block.input) ? undefined : JSON.stringify(block.input);
  const text = block.text || block.thinking;
  if (text) out.push({ type: "grow", index, text });
}

/** It comes in one piece; its stop event then finds no open block. */
function closeRedacted(state: StreamState, at: number, data: string, out: Delta[]): void {
  const index = state.indexes[at]!;
  out.push({ type: "grow", index, text: "[Reasoning redacted]" });
  out.push({ type: "close", index, signature: data, redacted: true });
  state.indexes[at] = -1;
}

/** The hot path: once per token. */
function onBlockDelta(state: StreamState, event: WireEvent, out: Delta[]): void {
  const { delta } = event;
  const index = state.indexes[event.index ?? 0];
  if (delta === undefined || index === undefined || index === -1) return;
  const text = delta.text ?? delta.thinking ?? delta.partial_json;
  if (typeof text === "string") {
    if (text !== "") out.push({ type: "grow", index, text });
    if (delta.partial_json) state.wholeInputs[index] = undefined;
  } else if (typeof delta.signature === "string") state.signatures[index] += delta.signature;
}

function onBlockStop(state: StreamState, event: WireEvent, out: Delta[]): void {
  const at = event.index ?? 0;
  const index = state.indexes[at];
  if (index === undefined || index === -1) return;
  state.indexes[at] = -1;
  const whole = state.wholeInputs[index];
  if (whole !== undefined) out.push({ type: "grow", index, text: whole });
  const signature = state.signatures[index];
  out.push(signature ? { type: "close", index, signature } : { type: "close", index });
}

function onMessageDelta(state: StreamState, event: WireEvent, out: Delta[]): void {
  if (event.delta?.stop_reason) state.stopReason = event.delta.stop_reason;
  pushUsage(event.usage, out);
}

const STOP_REASONS: Readonly<Record<string, "stop" | "length" | "toolUse">> = {
  end_turn: "stop",
  stop_sequence: "stop",
  pause_turn: "stop",
  max_tokens: "length",
  tool_use: "toolUse",
};

/** Reasons that are no answer. */
const FAILED_STOPS: Readonly<Record<string, [kind: ProviderErrorKind, message: string]>> = {
  refusal: ["content_filter", "The model refused to answer (stop_reason refusal)"],
  model_context_window_exceeded: ["overflow", "The answer ran out of context (model_context_window_exceeded)"],
};

function onMessageStop(state: StreamState, _event: WireEvent, out: Delta[]): void {
  const reason = state.stopReason ?? "";
  const failed = FAILED_STOPS[reason];
  if (failed) {
    fail(state, out, failed[0], failed[1]);
    return;
  }
  state.ended = true;
  out.push({ type: "done", stopReason: STOP_REASONS[reason] ?? (state.hasToolCall ? "toolUse" : "stop") });
}

const ERROR_KINDS: Readonly<Record<string, ProviderErrorKind>> = {
  overloaded_error: "overloaded",
  rate_limit_error: "rate_limit",
  authentication_error: "auth",
  permission_error: "auth",
  invalid_request_error: "bad_request",
  not_found_error: "bad_request",
  billing_error: "bad_request",
  request_too_large: "overflow",
  timeout_error: "stalled",
};

function onError(state: StreamState, event: WireEvent, out: Delta[]): void {
  const type = event.error?.type ?? "error";
  const words = `${type}: ${event.error?.message ?? "no message"}`;
  const kind = ERROR_KINDS[type] ?? "server";
  fail(state, out, kind === "bad_request" && isOverflowText(words) ? "overflow" : kind, words);
}

function fail(state: StreamState, out: Delta[], kind: ProviderErrorKind, message: string): void {
  state.ended = true;
  out.push({ type: "error", error: new ProviderError(kind, message) });
}

/** Counts are totals so far. A count that is missing or null says nothing. */
function pushUsage(usage: WireUsage | null | undefined, out: Delta[]): void {
  if (!usage) return;
  out.push({
    type: "usage",
    input: usage.input_tokens ?? undefined,
    output: usage.output_tokens ?? undefined,
    cacheRead: usage.cache_read_input_tokens ?? undefined,
    cacheWrite: usage.cache_creation_input_tokens ?? undefined,
  });
}

function isEmpty(input: unknown): boolean {
  return typeof input !== "object" || input === null || Object.keys(input).length === 0;
}
