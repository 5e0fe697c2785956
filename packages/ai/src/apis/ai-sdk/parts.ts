import { ProviderError } from "../../errors.ts";
import type { Delta } from "../../provider.ts";
import { isRecord } from "../wire-values.ts";
import { toldFailure } from "./failure.ts";
import type { StreamPart, Usage } from "./spec.ts";

/** The parts an AI SDK model streams in neutral deltas. Pure: `step` changes its state and its list only. */

export interface PartsState {
  /** The model that was asked: another one that answers is told. */
  asked: string;
  blockCount: number;
  /** By kind and id. Ids of blocks may be used again once a block is closed. */
  open: Map<string, OpenBlock>;
  /** Calls that were closed, and those that the vendor runs itself. */
  settledCalls: Set<string>;
  hasToolCall: boolean;
  ended: boolean;
}

interface OpenBlock {
  index: number;
  /** What the vendor told about the block, to be given back to it. */
  metadata: Record<string, unknown> | undefined;
  /** The input of a call so far; `takesPieces` is false when only the whole of it is JSON. */
  raw: string;
  takesPieces: boolean;
}

export function initialParts(asked: string): PartsState {
  return {
    asked,
    blockCount: 0,
    open: new Map(),
    settledCalls: new Set(),
    hasToolCall: false,
    ended: false,
  };
}

type Handler = (state: PartsState, part: StreamPart, out: Delta[]) => void;

const HANDLERS: Readonly<Record<string, Handler>> = {
  "text-start": (state, part, out) => void openBlock(state, "text", part, out),
  "text-delta": (state, part, out) => growBlock(state, "text", part, out),
  "text-end": (state, part, out) => closeBlock(state, `text ${part.id}`, part, out),
  "reasoning-start": (state, part, out) => void openBlock(state, "thinking", part, out),
  "reasoning-delta": (state, part, out) => growBlock(state, "thinking", part, out),
  "reasoning-end": (state, part, out) => closeBlock(state, `thinking ${part.id}`, part, out),
  "tool-input-start": onInputStart,
  "tool-input-delta": onInputDelta,
  "tool-input-end": onInputEnd,
  "tool-call": onToolCall,
  "response-metadata": onResponse,
  finish: onFinish,
};

/** `now` is for errors that name a time to come back. */
export function stepParts(state: PartsState, value: unknown, now: number, out: Delta[]): void {
  if (state.ended || typeof value !== "object" || value === null) return;
  const part = value as StreamPart;
  if (part.type === "error") fail(state, toldFailure(part.error, now), out);
  else if (part.type !== undefined && Object.hasOwn(HANDLERS, part.type)) HANDLERS[part.type]!(state, part, out);
}

/** The stream has ended. */
export function finishParts(state: PartsState, out: Delta[]): void {
  if (!state.ended) fail(state, new ProviderError("malformed", "The model's stream ended before its finish part"), out);
}

function openBlock(state: PartsState, kind: "text" | "thinking", part: StreamPart, out: Delta[]): OpenBlock {
  const key = `${kind} ${part.id}`;
  let block = state.open.get(key);
  if (!block) {
    block = newBlock(state, key);
    out.push({ type: "open", index: block.index, block: { type: kind } });
  }
  block.metadata = merged(block.metadata, part.providerMetadata);
  return block;
}

function newBlock(state: PartsState, key: string): OpenBlock {
  const block: OpenBlock = { index: state.blockCount++, metadata: undefined, raw: "", takesPieces: true };
  state.open.set(key, block);
  return block;
}

/** The hot path: once per token. A block that nobody opened is opened. */
function growBlock(state: PartsState, kind: "text" | "thinking", part: StreamPart, out: Delta[]): void {
  const known = state.open.get(`${kind} ${part.id}`);
  const block = known && !part.providerMetadata ? known : openBlock(state, kind, part, out);
  if (part.delta && typeof part.delta === "string") out.push({ type: "grow", index: block.index, text: part.delta });
}

function closeBlock(state: PartsState, key: string, part: StreamPart, out: Delta[]): void {
  const block = state.open.get(key);
  if (!block) return;
  state.open.delete(key);
  const metadata = merged(block.metadata, part.providerMetadata);
  const { index } = block;
  out.push(metadata ? { type: "close", index, signature: JSON.stringify(metadata) } : { type: "close", index });
}

function onInputStart(state: PartsState, part: StreamPart, out: Delta[]): void {
  const { id = "", toolName = "" } = part;
  if (part.providerExecuted || state.settledCalls.has(id) || state.open.has(callKey(id))) {
    if (part.providerExecuted) state.settledCalls.add(id);
    return;
  }
  const block = newBlock(state, callKey(id));
  block.takesPieces = part.inputEncoding !== "text";
  block.metadata = part.providerMetadata;
  state.hasToolCall = true;
  out.push({ type: "open", index: block.index, block: { type: "toolCall", id, name: toolName } });
}

function onInputDelta(state: PartsState, { id = "", delta = "" }: StreamPart, out: Delta[]): void {
  const block = state.open.get(callKey(id));
  if (!block?.takesPieces || delta === "") return;
  block.raw += delta;
  out.push({ type: "grow", index: block.index, text: delta });
}

/** The call itself is still to come, and it closes the block. */
function onInputEnd(state: PartsState, { id = "", providerMetadata }: StreamPart): void {
  const block = state.open.get(callKey(id));
  if (block) block.metadata = merged(block.metadata, providerMetadata);
}

/** The whole call: most of it was streamed before, or nothing. Calls that the vendor runs itself are not ours. */
function onToolCall(state: PartsState, part: StreamPart, out: Delta[]): void {
  const { toolCallId: id = "", toolName = "", input } = part;
  if (part.providerExecuted || state.settledCalls.has(id)) return;
  onInputStart(state, { id, toolName }, out);
  const block = state.open.get(callKey(id))!;
  const whole = typeof input === "string" ? input : JSON.stringify(input ?? {});
  const rest = whole.startsWith(block.raw) ? whole.slice(block.raw.length) : "";
  if (rest !== "") out.push({ type: "grow", index: block.index, text: rest });
  state.settledCalls.add(id);
  closeBlock(state, callKey(id), part, out);
}

function callKey(id: string): string {
  return `call ${id}`;
}

function onResponse(state: PartsState, { id, modelId }: StreamPart, out: Delta[]): void {
  const isOther = typeof modelId === "string" && modelId !== state.asked;
  if (!id && !isOther) return;
  out.push({ type: "response", ...(id ? { id } : {}), ...(isOther ? { model: modelId } : {}) });
}

function onFinish(state: PartsState, part: StreamPart, out: Delta[]): void {
  pushUsage(part.usage, out);
  const { finishReason } = part;
  const unified = typeof finishReason === "string" ? finishReason : (finishReason?.unified ?? "other");
  const raw = typeof finishReason === "string" ? undefined : finishReason?.raw;
  const failure = failedFinish(unified, raw, typeof finishReason === "string");
  if (failure) {
    fail(state, failure, out);
    return;
  }
  for (const key of [...state.open.keys()]) closeBlock(state, key, {}, out);
  state.ended = true;
  const stopReason = unified === "length" ? "length" : state.hasToolCall ? "toolUse" : "stop";
  out.push({ type: "done", stopReason });
}

/** Packages tell a finish even where the connection was cut; then the vendor's own reason is missing. */
function failedFinish(unified: string, raw: string | undefined, isWord: boolean): ProviderError | undefined {
  const words = raw === undefined ? unified : `${unified}: ${raw}`;
  if (unified === "content-filter") {
    return new ProviderError("content_filter", `The provider held back the answer (${words})`);
  }
  if (unified === "error") return new ProviderError("server", `The model stopped with an error (${words})`);
  const isCut = isWord ? unified === "unknown" : unified === "other" && raw === undefined;
  return isCut ? new ProviderError("malformed", "The model's stream ended without a reason to finish") : undefined;
}

/** Version 2 counts in plain numbers; whether cached tokens are among those of the input is up to the vendor there. */
function pushUsage(usage: Usage | undefined, out: Delta[]): void {
  if (!usage) return;
  const { inputTokens, outputTokens } = usage;
  const input = typeof inputTokens === "object" ? inputTokens : plainInput(inputTokens, usage.cachedInputTokens);
  const output =
    typeof outputTokens === "object" ? outputTokens : { total: outputTokens, reasoning: usage.reasoningTokens };
  const { cacheRead, cacheWrite } = input;
  const counts = {
    input: input.noCache ?? rest(input.total, (cacheRead ?? 0) + (cacheWrite ?? 0)),
    output: output.total,
    cacheRead,
    cacheWrite,
    reasoning: output.reasoning,
  };
  const told = Object.entries(counts).filter(([, count]) => typeof count === "number" && Number.isFinite(count));
  if (told.length > 0) out.push({ type: "usage", ...Object.fromEntries(told) });
}

interface InputCounts {
  total?: number;
  noCache?: number;
  cacheRead?: number;
  cacheWrite?: number;
}

function plainInput(total: number | undefined, cacheRead: number | undefined): InputCounts {
  return { ...(total === undefined ? {} : { total }), ...(cacheRead === undefined ? {} : { cacheRead }) };
}

function rest(total: number | undefined, cached: number): number | undefined {
  return total === undefined || total < cached ? total : total - cached;
}

function merged(
  before: Record<string, unknown> | undefined,
  more: Record<string, unknown> | undefined,
): Record<string, unknown> | undefined {
  if (!before || !more) return before ?? more;
  const all = { ...before };
  for (const [vendor, told] of Object.entries(more)) {
    all[vendor] = isRecord(told) && isRecord(all[vendor]) ? { ...all[vendor], ...told } : told;
  }
  return all;
}

function fail(state: PartsState, error: ProviderError, out: Delta[]): void {
  state.ended = true;
  out.push({ type: "error", error });
}
