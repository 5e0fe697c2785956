import { cutWords } from "../../cut-words.ts";
import { parseEventObject } from "../../http/sse.ts";
import type { Delta } from "../../provider.ts";
import { filledText, textOf } from "../wire-values.ts";
import { joinCallId, signText } from "./carried.ts";
import { endOf, errorOf, failure, usageOf } from "./ending.ts";
import { learnRepeated, nothingRepeated, pushRepeated, type Repeated } from "./repeated.ts";
import {
  argumentsOf,
  joinedReasoning,
  joinedText,
  refusalOf,
  type WireEvent,
  type WireItem,
  type WireResponse,
} from "./wire.ts";

/**
 * The event stream of the OpenAI Responses API in neutral deltas. Pure: `step` changes its state and its list only.
 *
 * Each output item (message, reasoning, function call) becomes one block. Everything that is told is told up to four
 * times: in pieces, as a finished part, as a finished item and in the finished response. The pieces are taken; the later
 * tellings only where no pieces came, as servers that speak this dialect leave out one or the other.
 */

interface Block {
  /** -1 for kinds of items that we do not carry. */
  index: number;
  kind: "text" | "thinking" | "toolCall" | "other";
  itemId: string | undefined;
  hasText: boolean;
  /** Which part of the thoughts came last; parts are set apart. */
  part: number | undefined;
  closed: boolean;
}

export interface StreamState {
  /** By the place of the item in the output. */
  blocks: Map<number, Block>;
  /** By the id of the item, for servers that tell no place: to look through all of them for each event would be too long. */
  byItem: Map<string, Block>;
  /** The block that came last, with its place. */
  latest: Block | undefined;
  latestAt: number;
  blockCount: number;
  hasToolCall: boolean;
  refusal: string;
  announced: boolean;
  repeated: Repeated;
  ended: boolean;
}

export function initial(): StreamState {
  return {
    blocks: new Map(),
    byItem: new Map(),
    latest: undefined,
    latestAt: -1,
    blockCount: 0,
    hasToolCall: false,
    refusal: "",
    announced: false,
    repeated: nothingRepeated(),
    ended: false,
  };
}

type Handler = (state: StreamState, event: WireEvent, out: Delta[]) => void;

const HANDLERS: ReadonlyMap<string, Handler> = new Map(
  Object.entries<Handler>({
    "response.created": (state, event, out) => announce(state, event.response ?? {}, out),
    "response.output_item.added": onItemAdded,
    "response.output_item.done": onItemDone,
    "response.output_text.delta": (state, event, out) => grow(state, "text", event, event.delta, out),
    "response.output_text.done": (state, event, out) => growIfEmpty(state, "text", event, event.text, out),
    "response.refusal.delta": (state, event, out) => onRefusal(state, event, event.delta, out),
    "response.refusal.done": onRefusalDone,
    "response.reasoning_summary_text.delta": (state, event, out) => onThought(state, event, event.summary_index, out),
    "response.reasoning_text.delta": (state, event, out) => onThought(state, event, ~(event.content_index ?? 0), out),
    "response.function_call_arguments.delta": (state, event, out) => grow(state, "toolCall", event, event.delta, out),
    "response.function_call_arguments.done": (state, event, out) =>
      growIfEmpty(state, "toolCall", event, event.arguments, out),
    "response.completed": onEnd,
    "response.incomplete": onEnd,
    "response.failed": onEnd,
    "response.cancelled": onEnd,
    "response.done": onEnd,
    "response.error": onError,
    error: onError,
  }),
);

export function step(state: StreamState, data: string, out: Delta[]): void {
  // A habit of chat servers. Whether the stream is complete is told by the event before it.
  if (state.ended || pushRepeated(state.repeated, data, out) || data === "[DONE]") return;
  const event: WireEvent | undefined = parseEventObject(data);
  if (event === undefined) {
    end(state, failure("malformed", `The provider sent an event that is not JSON: ${cutWords(data, 200)}`), out);
    return;
  }
  const handler = HANDLERS.get(event.type ?? "") ?? (event.error ? onError : undefined);
  const before = out.length;
  handler?.(state, event, out);
  if (state.refusal === "") learnRepeated(state.repeated, data, event.delta, out[before]);
}

export function finish(state: StreamState, out: Delta[]): void {
  if (!state.ended) end(state, failure("malformed", "The provider's stream ended before response.completed"), out);
}

function onError(state: StreamState, event: WireEvent, out: Delta[]): void {
  end(state, errorOf(event), out);
}

function announce(state: StreamState, response: WireResponse, out: Delta[]): void {
  const id = filledText(response.id);
  if (state.announced || !id) return;
  state.announced = true;
  const model = filledText(response.model);
  out.push(model ? { type: "response", id, model } : { type: "response", id });
}

/** By place, which is sure: there are servers whose ids change between events. By id for those that tell no place. */
function find(state: StreamState, kind: Kind, event: WireEvent): Block | undefined {
  const at = event.output_index;
  if (typeof at === "number") return at === state.latestAt ? state.latest : state.blocks.get(at);
  const { latest } = state;
  const id = event.item_id ?? event.item?.id;
  if (!id) return latest?.kind === kind && !latest.closed ? latest : undefined;
  if (latest?.itemId === id) return latest;
  return state.byItem.get(id);
}

type Kind = Block["kind"];

function kindOf(item: WireItem | undefined): Kind {
  if (item?.type === "message") return "text";
  if (item?.type === "reasoning") return "thinking";
  return item?.type === "function_call" ? "toolCall" : "other";
}

function onItemAdded(state: StreamState, event: WireEvent, out: Delta[]): void {
  const kind = kindOf(event.item);
  // A call without its name is opened when it is complete.
  if (kind !== "toolCall" || event.item?.name) open(state, kind, event, out);
}

function open(state: StreamState, kind: Kind, event: WireEvent, out: Delta[]): Block {
  const { item } = event;
  const at = typeof event.output_index === "number" ? event.output_index : state.blocks.size;
  const block: Block = {
    index: kind === "other" ? -1 : state.blockCount++,
    kind,
    itemId: filledText(item?.id) ?? filledText(event.item_id),
    hasText: false,
    part: undefined,
    closed: kind === "other",
  };
  const { itemId } = block;
  const before = state.blocks.get(at);
  // The id may be said of another place too, and that block is still there.
  if (before?.itemId !== undefined && state.byItem.get(before.itemId) === before) state.byItem.delete(before.itemId);
  state.blocks.set(at, block);
  if (itemId !== undefined && !state.byItem.has(itemId)) state.byItem.set(itemId, block);
  state.repeated = nothingRepeated();
  state.latest = block;
  state.latestAt = at;
  if (kind === "toolCall") openCall(state, block, item ?? {}, at, out);
  else if (kind !== "other") out.push({ type: "open", index: block.index, block: { type: kind } });
  return block;
}

function openCall(state: StreamState, block: Block, item: WireItem, at: number, out: Delta[]): void {
  state.hasToolCall = true;
  const callId = filledText(item.call_id);
  const id = callId ? joinCallId(callId, block.itemId) : (block.itemId ?? `call_${at}`);
  out.push({ type: "open", index: block.index, block: { type: "toolCall", id, name: textOf(item.name) } });
}

/** The hot path: once per token. */
function grow(state: StreamState, kind: Kind, event: WireEvent, text: unknown, out: Delta[]): void {
  if (typeof text !== "string" || text === "") return;
  const block = growing(state, kind, event, out);
  if (block === undefined) return;
  block.hasText = true;
  out.push({ type: "grow", index: block.index, text });
}

/** Text and thoughts may come without an item that was announced. A call cannot: nobody would know what is called. */
function growing(state: StreamState, kind: Kind, event: WireEvent, out: Delta[]): Block | undefined {
  const block = find(state, kind, event);
  if (block === undefined) return kind === "toolCall" ? undefined : open(state, kind, event, out);
  return block.closed || block.kind !== kind ? undefined : block;
}

function growIfEmpty(state: StreamState, kind: Kind, event: WireEvent, text: unknown, out: Delta[]): void {
  if (!find(state, kind, event)?.hasText) grow(state, kind, event, text, out);
}

/** The parts of a summary are paragraphs. */
function onThought(state: StreamState, event: WireEvent, part: number | undefined, out: Delta[]): void {
  const text = filledText(event.delta);
  const block = text === undefined ? undefined : growing(state, "thinking", event, out);
  if (block === undefined) return;
  const isNext = block.hasText && part !== undefined && part !== block.part;
  block.part = part ?? block.part;
  grow(state, "thinking", event, isNext ? `\n\n${text}` : text, out);
}

/** What the model says instead of an answer is kept as text; that it is none is told at the end. */
function onRefusal(state: StreamState, event: WireEvent, words: unknown, out: Delta[]): void {
  if (typeof words !== "string") return;
  state.refusal += words;
  grow(state, "text", event, words, out);
}

function onRefusalDone(state: StreamState, event: WireEvent, out: Delta[]): void {
  if (state.refusal === "") onRefusal(state, event, event.refusal, out);
}

function onItemDone(state: StreamState, event: WireEvent, out: Delta[]): void {
  state.repeated = nothingRepeated();
  const item = event.item ?? {};
  const kind = kindOf(item);
  const block = find(state, kind, event) ?? open(state, kind, event, out);
  if (block.closed || block.kind !== kind) return;
  if (kind === "text") {
    const refusal = refusalOf(item);
    if (state.refusal === "") state.refusal = refusal;
    const marks = { id: filledText(item.id), phase: filledText(item.phase) };
    closeBlock(block, joinedText(item) + refusal, signText(marks), out);
  } else if (kind === "thinking") closeThinking(block, item, out);
  else closeBlock(block, argumentsOf(item), undefined, out);
}

/** `whole` is for those who sent no pieces. */
function closeBlock(block: Block, whole: string | undefined, signature: string | undefined, out: Delta[]): void {
  const { index } = block;
  block.closed = true;
  if (whole && !block.hasText) out.push({ type: "grow", index, text: whole });
  out.push(signature ? { type: "close", index, signature } : { type: "close", index });
}

/** Thoughts that nobody may read still go back to the model. */
function closeThinking(block: Block, item: WireItem, out: Delta[]): void {
  const thoughts = joinedReasoning(item);
  const signature = JSON.stringify(item);
  if (block.hasText || thoughts !== "" || !item.encrypted_content) {
    closeBlock(block, thoughts, signature, out);
    return;
  }
  block.closed = true;
  out.push({ type: "grow", index: block.index, text: "[Reasoning redacted]" });
  out.push({ type: "close", index: block.index, signature, redacted: true });
}

function onEnd(state: StreamState, event: WireEvent, out: Delta[]): void {
  const response = event.response ?? {};
  announce(state, response, out);
  settle(state, response.output, out);
  const usage = usageOf(response.usage);
  if (usage) out.push(usage);
  end(state, endOf(event.type ?? "", response, state), out);
}

/** The last telling: of items that were not finished yet, and of all of them when nothing came before. */
function settle(state: StreamState, output: unknown, out: Delta[]): void {
  if (!Array.isArray(output)) return;
  const nothingCame = state.blocks.size === 0;
  for (const [at, item] of output.entries()) {
    if (nothingCame || state.blocks.has(at)) onItemDone(state, { output_index: at, item: item ?? {} }, out);
  }
}

function end(state: StreamState, last: Delta, out: Delta[]): void {
  state.ended = true;
  out.push(last);
}
