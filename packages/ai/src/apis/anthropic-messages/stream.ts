import { cutWords } from "../../cut-words.ts";
import { ProviderError, type ProviderErrorKind } from "../../errors.ts";
import { kindOfError } from "../../http/error-kind.ts";
import { parseEventObject } from "../../http/sse.ts";
import type { Delta } from "../../provider.ts";
import { textOf } from "../wire-values.ts";
import { learnWrapping, noWrapping, pushWrapped, type Wrapping } from "../wrapped-text.ts";
import { createUsage, pushUsage, type UsageState } from "./usage.ts";
import type { StopDetails, WireBlock, WireEvent } from "./wire.ts";

/**
 * The event stream of the Anthropic Messages API in neutral deltas. Pure: `step` changes its state and its list only.
 * Many servers speak this dialect, not all of them well, so every field may be missing or null.
 */

export interface StreamState {
  /** The provider's block index to ours; -1 for a block that is closed or of a kind that we do not carry. */
  indexes: Map<number, number>;
  blockCount: number;
  /** By our index: the signature so far, and the arguments that came whole with the opening of a tool call. */
  signatures: string[];
  wholeInputs: (string | undefined)[];
  messageId: string;
  callIds: Set<string>;
  usage: UsageState;
  /** Empty while it is not known. */
  stopReason: string;
  stopDetails: StopDetails | undefined;
  wrapping: Wrapping;
  ended: boolean;
}

export function initial(): StreamState {
  return {
    indexes: new Map(),
    blockCount: 0,
    signatures: [],
    wholeInputs: [],
    messageId: "",
    callIds: new Set(),
    usage: createUsage(),
    stopReason: "",
    stopDetails: undefined,
    wrapping: noWrapping(),
    ended: false,
  };
}

type Handler = (state: StreamState, event: WireEvent, out: Delta[]) => void;

const HANDLERS: ReadonlyMap<string, Handler> = new Map([
  ["message_start", onMessageStart],
  ["content_block_start", onBlockStart],
  ["content_block_delta", onBlockDelta],
  ["content_block_stop", onBlockStop],
  ["message_delta", onMessageDelta],
  ["message_stop", onMessageStop],
  ["error", onError],
]);

export function step(state: StreamState, data: string, out: Delta[]): void {
  if (state.ended || pushWrapped(state.wrapping, data, out)) return;
  const event: WireEvent | undefined = parseEventObject(data);
  if (event === undefined) {
    if (data.trim() === "") return;
    fail(state, out, "malformed", `Anthropic sent an event that is not JSON: ${cutWords(data, 200)}`);
    return;
  }
  const grown = out.length;
  const handler = event.type === undefined && event.error ? onError : HANDLERS.get(event.type ?? "");
  handler?.(state, event, out);
  learnWrapping(state.wrapping, data, out[grown]);
}

export function finish(state: StreamState, out: Delta[]): void {
  if (state.ended || failedStop(state, out)) return;
  fail(state, out, "malformed", "Anthropic stream ended before message_stop");
}

function onMessageStart(state: StreamState, { message }: WireEvent, out: Delta[]): void {
  const id = textOf(message?.id);
  const model = textOf(message?.model);
  state.messageId = id;
  state.stopReason = textOf(message?.stop_reason);
  if (id || model) out.push({ type: "response", ...(id ? { id } : {}), ...(model ? { model } : {}) });
  pushUsage(state.usage, message?.usage, out);
}

function onBlockStart(state: StreamState, event: WireEvent, out: Delta[]): void {
  const block = event.content_block ?? {};
  const at = event.index ?? 0;
  closeBlock(state, at, out);
  if (block.type === "redacted_thinking") {
    pushRedacted(state, textOf(block.data), out);
    return;
  }
  const opened = neutralBlock(state, block);
  if (!opened) return;
  const index = openBlock(state, at, opened, out);
  state.signatures[index] = textOf(block.signature);
  state.wholeInputs[index] = wholeInput(block.input);
  const text = textOf(block.text) || textOf(block.thinking);
  if (text !== "") out.push({ type: "grow", index, text });
}

type NeutralBlock = Extract<Delta, { type: "open" }>["block"];

/** Blocks that tools of the provider itself leave, and kinds that came later, are not ours to carry. */
function neutralBlock(state: StreamState, block: WireBlock): NeutralBlock | undefined {
  if (block.type === "text" || block.type === "thinking") return { type: block.type };
  if (block.type !== "tool_use") return undefined;
  return { type: "toolCall", id: uniqueCallId(state, textOf(block.id)), name: textOf(block.name) };
}

/** Some servers send no ids, or the same one twice: results could not be told apart. */
function uniqueCallId(state: StreamState, id: string): string {
  const number = state.blockCount;
  let unique = id === "" ? `call_${state.messageId || "0"}_${number}` : id;
  if (state.callIds.has(unique)) unique = `${unique}_${number}`;
  state.callIds.add(unique);
  return unique;
}

function openBlock(state: StreamState, at: number, block: NeutralBlock, out: Delta[]): number {
  const index = state.blockCount++;
  state.indexes.set(at, index);
  state.signatures[index] = "";
  out.push({ type: "open", index, block });
  return index;
}

/** It comes in one piece: its stop event finds no open block. */
function pushRedacted(state: StreamState, data: string, out: Delta[]): void {
  const index = state.blockCount++;
  out.push({ type: "open", index, block: { type: "thinking" } });
  out.push({ type: "grow", index, text: "[Reasoning redacted]" });
  out.push({ type: "close", index, signature: data, redacted: true });
}

/** Arguments as an object, or as its text; none if they are still to come. */
function wholeInput(input: unknown): string | undefined {
  if (typeof input === "string") return input.trim() === "" ? undefined : input;
  if (typeof input !== "object" || input === null || Object.keys(input).length === 0) return undefined;
  return JSON.stringify(input);
}

/** The hot path: once per token. */
function onBlockDelta(state: StreamState, event: WireEvent, out: Delta[]): void {
  const { delta } = event;
  if (!delta) return;
  const at = event.index ?? 0;
  const index = state.indexes.get(at) ?? openUnannounced(state, at, delta, out);
  if (index === -1) return;
  const text = delta.text ?? delta.thinking ?? delta.partial_json;
  if (typeof text === "string") {
    if (text !== "") out.push({ type: "grow", index, text });
    if (delta.partial_json) state.wholeInputs[index] = undefined;
  } else if (typeof delta.signature === "string") state.signatures[index] += delta.signature;
}

/** Words of a block that was never opened are not lost. A tool call cannot be made up: nobody said which tool. */
function openUnannounced(state: StreamState, at: number, delta: NonNullable<WireEvent["delta"]>, out: Delta[]): number {
  if (typeof delta.text === "string") return openBlock(state, at, { type: "text" }, out);
  if (typeof delta.thinking === "string") return openBlock(state, at, { type: "thinking" }, out);
  return -1;
}

function onBlockStop(state: StreamState, event: WireEvent, out: Delta[]): void {
  closeBlock(state, event.index ?? 0, out);
}

/** Also before a block is opened: a server that does not number its blocks gives all of them the same index. */
function closeBlock(state: StreamState, at: number, out: Delta[]): void {
  const index = state.indexes.get(at) ?? -1;
  state.indexes.set(at, -1);
  if (index === -1) return;
  state.wrapping = noWrapping();
  const whole = state.wholeInputs[index];
  if (whole !== undefined) out.push({ type: "grow", index, text: whole });
  const signature = state.signatures[index];
  out.push(signature ? { type: "close", index, signature } : { type: "close", index });
}

function onMessageDelta(state: StreamState, event: WireEvent, out: Delta[]): void {
  state.stopReason = textOf(event.delta?.stop_reason) || state.stopReason;
  if (event.delta?.stop_details) state.stopDetails = event.delta.stop_details;
  pushUsage(state.usage, event.usage, out);
}

const STOP_REASONS: ReadonlyMap<string, "stop" | "length" | "toolUse"> = new Map([
  ["end_turn", "stop"],
  ["stop_sequence", "stop"],
  // A tool of the provider itself takes long. We ask for none, so there is nothing to wait for.
  ["pause_turn", "stop"],
  ["max_tokens", "length"],
  ["tool_use", "toolUse"],
]);

function onMessageStop(state: StreamState, _event: WireEvent, out: Delta[]): void {
  for (const at of [...state.indexes.keys()]) closeBlock(state, at, out);
  if (failedStop(state, out)) return;
  state.ended = true;
  const stopReason = STOP_REASONS.get(state.stopReason) ?? (state.callIds.size > 0 ? "toolUse" : "stop");
  out.push({ type: "done", stopReason });
}

/** Reasons to stop that are no answer. */
function failedStop(state: StreamState, out: Delta[]): boolean {
  if (state.stopReason === "refusal") fail(state, out, "content_filter", refusalWords(state.stopDetails));
  else if (state.stopReason === "model_context_window_exceeded") {
    fail(state, out, "overflow", "The answer ran out of context (model_context_window_exceeded)");
  } else return false;
  return true;
}

function refusalWords(details: StopDetails | undefined): string {
  const category = textOf(details?.category);
  const explanation = textOf(details?.explanation);
  const name = category ? `refusal, ${category}` : "stop_reason refusal";
  return `The model refused to answer (${name})${explanation ? `: ${explanation}` : ""}`;
}

function onError(state: StreamState, { error }: WireEvent, out: Delta[]): void {
  const { type, message, code, details } = typeof error === "string" ? { message: error } : (error ?? {});
  const name = textOf(details?.error_code) || String(code ?? "");
  const words = textOf(message) || "no message";
  const kind = kindOfError({ code: name, type: textOf(type), message: words });
  fail(state, out, kind, `${textOf(type) || "error"}: ${words}`);
}

function fail(state: StreamState, out: Delta[], kind: ProviderErrorKind, message: string): void {
  state.ended = true;
  out.push({ type: "error", error: new ProviderError(kind, message) });
}
