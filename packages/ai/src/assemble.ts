import type { TextContent, ThinkingContent, ToolCall } from "@tiller/protocol/content";
import { isTooDeep, MOST_LEVELS } from "@tiller/protocol/depth";
import type { AssistantMessage } from "@tiller/protocol/message";
import type { Model } from "@tiller/protocol/model";
import type { StreamEvent } from "@tiller/protocol/stream-event";
import { emptyUsage, settleUsage } from "./cost.ts";
import { ProviderError } from "./errors.ts";
import { parsePartialObject } from "./partial-json.ts";
import type { Delta } from "./provider.ts";

/** Arguments of a tool call that were not a JSON object when the block was closed. */
export interface BrokenArguments {
  /** What the model wrote. */
  raw: string;
  /** Why it cannot be used, e.g. `Unexpected end of JSON input`. */
  error: string;
  /** It is JSON all the same. */
  isJson?: true;
}

/** Folds the pieces of one answer into one growing message and says what changed. The only place that does. */
export interface Assembly {
  /** The same object throughout: the message so far after `refresh`, complete after `finish` or `fail`. */
  readonly message: AssistantMessage;
  /** By tool call id. The call stays in the message with empty arguments; whoever runs tools answers it with an error. */
  readonly brokenArguments: ReadonlyMap<string, BrokenArguments>;
  /** Characters that came so far, those of names, ids and signatures among them; see also `TURN_COST`. */
  readonly size: number;
  /** The answer has begun more than `MOST_BLOCKS` blocks; those behind them were dropped. */
  readonly hasTooManyBlocks: boolean;
  start(): StreamEvent;
  /** At most one event a delta. `done` and `error` are not applied here: see `finish` and `fail`. */
  apply(delta: Delta): StreamEvent | undefined;
  /** Call it before reading a snapshot of a growing message: brings what still grows up to date; long arguments in steps. */
  refresh(): void;
  /** Closes what is open, then `done`. */
  finish(stopReason: "stop" | "length" | "toolUse"): StreamEvent[];
  /** Closes what is open, then `error`. */
  fail(error: ProviderError): StreamEvent[];
}

/**
 * Far more than any model means to say. Each is told by frames of its own and each tool call gets a result, so that a short
 * answer of nothing but calls would make work and output without end.
 */
export const MOST_BLOCKS = 1000;

/** In characters. Far more than any model can say: a server that does not stop must not fill the memory. */
const LONGEST_ANSWER = 32 * 1024 * 1024;

/** Why the answer is ended here; undefined for one that may go on, or has failed for a reason of its own. */
export function excessOf(
  { size, hasTooManyBlocks }: Assembly,
  { provider, id }: Model,
  last: Delta | undefined,
): ProviderError | undefined {
  const isTooLong = size > LONGEST_ANSWER && last === undefined;
  // Of blocks that were dropped the end of the answer must not be silent either.
  if (last?.type === "error" || !(hasTooManyBlocks || isTooLong)) return undefined;
  const blocks = `${MOST_BLOCKS} blocks (texts, thoughts and tool calls)`;
  const most = hasTooManyBlocks ? blocks : `${LONGEST_ANSWER} characters`;
  const text = `The answer of ${provider}/${id} was ended after ${most}: no answer may be longer`;
  return new ProviderError("bad_request", text);
}

/**
 * A block that still grows, with its place in the message. `tail` is what has come last and is not in its text yet, `raw` the
 * text of a tool call's arguments so far.
 */
type OpenBlock = { contentIndex: number; tail: string } & (
  | { kind: "text"; content: TextContent }
  | { kind: "thinking"; content: ThinkingContent }
  | { kind: "toolCall"; content: ToolCall; raw: string; parsedLength: number }
);

interface Folding {
  readonly message: AssistantMessage;
  readonly model: Model;
  readonly broken: Map<string, BrokenArguments>;
  size: number;
  hasTooManyBlocks: boolean;
  /** By the provider's index. */
  readonly open: Map<number, OpenBlock>;
  /** The block that grew last: nearly always the one that grows next. */
  lastIndex: number;
  lastBlock: OpenBlock | undefined;
}

export function createAssembly(model: Model, timestamp: number): Assembly {
  const folding: Folding = {
    message: {
      role: "assistant",
      content: [],
      api: model.api,
      provider: model.provider,
      model: model.id,
      usage: emptyUsage(),
      stopReason: "stop",
      timestamp,
    },
    model,
    broken: new Map(),
    size: 0,
    hasTooManyBlocks: false,
    open: new Map(),
    lastIndex: -1,
    lastBlock: undefined,
  };
  return {
    message: folding.message,
    brokenArguments: folding.broken,
    get size() {
      return folding.size;
    },
    get hasTooManyBlocks() {
      return folding.hasTooManyBlocks;
    },
    start: () => ({ type: "start" }),
    apply: (delta) => apply(folding, delta),
    refresh: () => refresh(folding),
    finish: (stopReason) => finish(folding, stopReason),
    fail: (error) => fail(folding, error),
  };
}

function apply(folding: Folding, delta: Delta): StreamEvent | undefined {
  switch (delta.type) {
    case "grow":
      return grow(folding, delta.index, delta.text);
    case "open":
      return openBlock(folding, delta);
    case "close": {
      const block = folding.open.get(delta.index);
      folding.size += delta.signature?.length ?? 0;
      return block && closeBlock(folding, delta.index, block, delta.signature, delta.redacted);
    }
    case "usage":
      return applyUsage(folding, delta);
    case "response":
      folding.size += (delta.id?.length ?? 0) + (delta.model?.length ?? 0);
      if (delta.id !== undefined) folding.message.responseId = delta.id;
      if (delta.model && delta.model !== folding.model.id) folding.message.responseModel = delta.model;
      return undefined;
    case "done":
    case "error":
      return undefined;
  }
}

/** The hot path: once per token, so it allocates nothing but the event. Text for a block that is not open is dropped. */
function grow(folding: Folding, index: number, text: string): StreamEvent | undefined {
  if (index !== folding.lastIndex) {
    folding.lastIndex = index;
    folding.lastBlock = folding.open.get(index);
    folding.size += TURN_COST;
  }
  const block = folding.lastBlock;
  if (block === undefined) return undefined;
  folding.size += text.length;
  block.tail += text;
  if (block.tail.length > LONGEST_TAIL) settle(block);
  return { type: GROWTH[block.kind], contentIndex: block.contentIndex, delta: text };
}

/**
 * So many characters it counts when blocks grow in turns: pieces of one block are joined, and those of two cannot be. Each is
 * told by a frame of its own, of more than 1000 bytes with a snapshot, however short the piece is.
 */
const TURN_COST = 512;

const GROWTH = { text: "text_delta", thinking: "thinking_delta", toolCall: "toolcall_delta" } as const;

const LONGEST_TAIL = 1024;

/**
 * The engine keeps a text that grows by tokens as a tree of all of them, many times its size; to look at a character makes
 * it one string again. So tokens gather in a short text, and the long one grows by that.
 */
function settle(block: OpenBlock): void {
  const { tail } = block;
  if (tail === "") return;
  block.tail = "";
  tail.charCodeAt(0);
  if (block.kind === "text") block.content.text += tail;
  else if (block.kind === "thinking") block.content.thinking += tail;
  else block.raw += tail;
}

function openBlock(folding: Folding, delta: Extract<Delta, { type: "open" }>): StreamEvent | undefined {
  // A server may begin the next block under an index that it never closed: what was said of the one before stays.
  const before = folding.open.get(delta.index);
  if (before) settle(before);
  const contentIndex = folding.message.content.length;
  if (contentIndex === MOST_BLOCKS) return dropBlock(folding, delta.index);
  if (delta.block.type === "toolCall") folding.size += delta.block.id.length + delta.block.name.length;
  const { block, event } = newBlock(withOwnId(folding, delta.block, contentIndex), contentIndex);
  folding.message.content.push(block.content);
  folding.open.set(delta.index, block);
  folding.lastIndex = delta.index;
  folding.lastBlock = block;
  return event;
}

/** What follows under this index belongs to no block, and is dropped with it. */
function dropBlock(folding: Folding, index: number): undefined {
  folding.hasTooManyBlocks = true;
  folding.open.delete(index);
  folding.lastIndex = -1;
  folding.lastBlock = undefined;
}

/** Two calls of one message with the same id could not be told apart by anybody: neither their events nor their results. */
function withOwnId<B extends Extract<Delta, { type: "open" }>["block"]>(
  { message: { content } }: Folding,
  opened: B,
  contentIndex: number,
): B {
  const isTaken = (id: string): boolean => content.some((block) => block.type === "toolCall" && block.id === id);
  if (opened.type !== "toolCall" || !isTaken(opened.id)) return opened;
  let id = `${opened.id}_${contentIndex}`;
  while (isTaken(id)) id += "_";
  return { ...opened, id };
}

function newBlock(
  opened: Extract<Delta, { type: "open" }>["block"],
  contentIndex: number,
): { block: OpenBlock; event: StreamEvent } {
  switch (opened.type) {
    case "text":
      return {
        block: { kind: "text", contentIndex, content: { type: "text", text: "" }, tail: "" },
        event: { type: "text_start", contentIndex },
      };
    case "thinking":
      return {
        block: { kind: "thinking", contentIndex, content: { type: "thinking", thinking: "" }, tail: "" },
        event: { type: "thinking_start", contentIndex },
      };
    case "toolCall": {
      const content: ToolCall = { type: "toolCall", id: opened.id, name: opened.name, arguments: {} };
      return {
        block: { kind: "toolCall", contentIndex, content, raw: "", parsedLength: 0, tail: "" },
        event: { type: "toolcall_start", contentIndex, id: opened.id, toolName: opened.name },
      };
    }
  }
}

function closeBlock(
  folding: Folding,
  index: number,
  block: OpenBlock,
  signature?: string,
  redacted?: boolean,
): StreamEvent {
  folding.open.delete(index);
  folding.lastIndex = -1;
  folding.lastBlock = undefined;
  settle(block);
  const { contentIndex } = block;
  switch (block.kind) {
    case "text":
      if (signature) block.content.textSignature = signature;
      return { type: "text_end", contentIndex, content: block.content.text };
    case "thinking":
      if (signature) block.content.thinkingSignature = signature;
      if (redacted) block.content.redacted = true;
      return { type: "thinking_end", contentIndex, content: block.content.thinking };
    case "toolCall":
      if (signature) block.content.thoughtSignature = signature;
      block.content.arguments = finalArguments(folding, block.content.id, block.raw);
      return { type: "toolcall_end", contentIndex, toolCall: block.content };
  }
}

function finalArguments(folding: Folding, id: string, raw: string): Record<string, unknown> {
  if (raw.trim() === "") return {};
  const parsed = parseArguments(raw);
  if (typeof parsed === "string") folding.broken.set(id, { raw, error: parsed });
  else if (isTooDeep(parsed)) folding.broken.set(id, { raw, error: TOO_DEEP, isJson: true });
  else return parsed;
  return {};
}

const TOO_DEEP = `they are nested more than ${MOST_LEVELS} levels deep; write them flatter`;

/** The arguments, or a text that says what is wrong with them. */
function parseArguments(raw: string): Record<string, unknown> | string {
  try {
    const value: unknown = JSON.parse(raw);
    if (typeof value === "object" && value !== null && !Array.isArray(value)) return value as Record<string, unknown>;
    return `expected a JSON object, got ${value === null ? "null" : Array.isArray(value) ? "an array" : `a ${typeof value}`}`;
  } catch (error) {
    return error instanceof Error ? error.message : String(error);
  }
}

/** To read all of them again for each piece would take a time that grows with the square of their length. */
const LONG_ARGUMENTS = 16 * 1024;
const WORTH_READING = 1 / 64;

function isWorthReading({ raw, parsedLength }: { raw: string; parsedLength: number }, isLast: boolean): boolean {
  const fresh = raw.length - parsedLength;
  return fresh > 0 && (isLast || raw.length < LONG_ARGUMENTS || fresh > raw.length * WORTH_READING);
}

function refresh(folding: Folding, isLast = false): void {
  for (const block of folding.open.values()) {
    settle(block);
    if (block.kind !== "toolCall" || !isWorthReading(block, isLast)) continue;
    block.content.arguments = parsePartialObject(block.raw);
    block.parsedLength = block.raw.length;
  }
}

/** Counts are totals, not increments: what a provider leaves out stays as it was. */
function applyUsage(folding: Folding, delta: Extract<Delta, { type: "usage" }>): undefined {
  const { usage } = folding.message;
  if (delta.input !== undefined) usage.input = delta.input;
  if (delta.output !== undefined) usage.output = delta.output;
  if (delta.cacheRead !== undefined) usage.cacheRead = delta.cacheRead;
  if (delta.cacheWrite !== undefined) usage.cacheWrite = delta.cacheWrite;
  if (delta.cacheWrite1h !== undefined) usage.cacheWrite1h = delta.cacheWrite1h;
  if (delta.reasoning !== undefined) usage.reasoning = delta.reasoning;
  settleUsage(usage, folding.model);
}

function closeAll(folding: Folding): StreamEvent[] {
  const events: StreamEvent[] = [];
  for (const [index, block] of folding.open) events.push(closeBlock(folding, index, block));
  return events;
}

function finish(folding: Folding, stopReason: "stop" | "length" | "toolUse"): StreamEvent[] {
  const events = closeAll(folding);
  folding.message.stopReason = stopReason;
  events.push({ type: "done", reason: stopReason, message: folding.message });
  return events;
}

function fail(folding: Folding, error: ProviderError): StreamEvent[] {
  refresh(folding, true);
  const partial = new Map<ToolCall, Record<string, unknown>>();
  for (const block of folding.open.values()) {
    if (block.kind === "toolCall") partial.set(block.content, block.content.arguments);
  }
  const events = closeAll(folding);
  // A call that was cut off is never run: it keeps what could be read of its arguments, for whoever looks at it.
  for (const [call, args] of partial) call.arguments = args;
  const reason = error.kind === "aborted" ? "aborted" : "error";
  folding.message.stopReason = reason;
  folding.message.errorMessage = error.message;
  events.push({ type: "error", reason, error: folding.message });
  return events;
}
