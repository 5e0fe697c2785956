import type { ImageContent, TextContent, ThinkingContent, ToolCall } from "@tiller/protocol/content";
import type { AssistantMessage, LlmMessage, ToolResultMessage, UserMessage } from "@tiller/protocol/message";
import type { Model } from "@tiller/protocol/model";
import { isPlainName, plainName } from "../plain-names.ts";
import { type CallIdRules, type CallNames, createCallNames } from "./call-ids.ts";

export interface HistoryRules {
  /** What the API demands of the ids of tool calls. They are never empty and never repeat, with or without this. */
  callIds?: CallIdRules;
  /** What becomes of thinking that this very model left unsigned: `text` if nothing is said, as for foreign thinking. */
  unsignedThinking?: "text" | "keep" | "drop";
  /** The tools of the request, whose names are sent as they are. All other names become `[A-Za-z0-9_-]{1,64}`. */
  tools?: readonly { name: string }[];
  /** The API refuses a conversation that begins with an answer: such a one gets a user message that says so. */
  startsWithUser?: boolean;
}

/**
 * Makes a history that any model accepts. Pure; used by every API family. What comes out:
 *
 * - no failed or aborted answers, and no answers or user messages with nothing in them;
 * - every tool call followed at once by exactly one result, in the order of the calls; no result without its call;
 * - ids of calls as the rules want them, each of them once in the whole history, the same for a call and its result;
 * - names of tools that every API takes, whatever a model made up, the same for a call and its result;
 * - thinking and signatures only for the model that made them; of the thoughts of others the words remain, as text;
 * - no images for a model without eyes.
 *
 * "The model that made them" means the same provider, API and model id: vendors check what they signed, some refuse
 * the signatures of their other models, and none promises to accept them. A `responseModel` (the name an alias or a
 * router answered with) changes nothing: who was asked is who is asked again.
 *
 * Left to the families: several user messages or answers in a row, a history that ends with an answer, blank text beside
 * other blocks of a user message, results without content. Preparing twice is the same as once, and what
 * was prepared before does not change when a conversation goes on, so that providers find their cached prompts.
 */
export function prepareHistory(messages: readonly LlmMessage[], model: Reader, rules: HistoryRules = {}): LlmMessage[] {
  const history: LlmMessage[] = [];
  const preparer = createPreparer(model, rules);
  for (let i = 0; i < messages.length; i++) {
    for (const message of preparer.prepare(messages, i)) {
      if (history.length === 0) history.push(...beginning(message, rules));
      history.push(message);
    }
  }
  return history;
}

/** What a history depends on of the model that will read it. */
export type Reader = Pick<Model, "provider" | "api" | "id" | "input">;

/** Prepares a history message by message, in their order. */
export interface Preparer {
  /** The message at this place, an answer with the results of its calls; nothing when it is not for the reader. */
  prepare(messages: readonly LlmMessage[], at: number): readonly LlmMessage[];
  /** What it knows of the messages before. */
  names: CallNames;
}

export function createPreparer(model: Reader, rules: HistoryRules): Preparer {
  const nameOf = namesFor(rules.tools);
  const names = createCallNames(rules.callIds);
  return {
    names,
    prepare(messages, at) {
      const message = messages[at]!;
      if (message.role === "user") {
        const known = withKnownBlocks(message);
        return isBlank(known) ? [] : [withReadableImages(known, model)];
      }
      // Results are taken along with their call; the others belong to answers that are left out.
      if (message.role === "toolResult" || hasFailed(message)) return [];
      const answer = forReader(message, model, rules, nameOf);
      if (answer.content.length === 0) return [];
      const calls = message.content.filter(isCall);
      if (calls.length === 0) return [answer];
      const turn: LlmMessage[] = [answer];
      for (const result of resultsFor(calls, messages, at, nameOf)) {
        turn.push(withReadableImages(withKnownBlocks(result), model));
      }
      return names.rename(turn);
    },
  };
}

/** What stands before the first message. */
export function beginning(first: LlmMessage, { startsWithUser }: HistoryRules): LlmMessage[] {
  return startsWithUser && first.role !== "user" ? [startNote(first.timestamp)] : [];
}

export function hasFailed(message: AssistantMessage): boolean {
  return message.stopReason === "error" || message.stopReason === "aborted";
}

function isBlank({ content }: UserMessage): boolean {
  if (typeof content === "string") return content.trim() === "";
  for (const block of content) if (block.type !== "text" || block.text.trim() !== "") return false;
  return true;
}

function startNote(timestamp: number): UserMessage {
  return { role: "user", content: "(The beginning of this conversation is not available.)", timestamp };
}

/**
 * One result for each call, in the order of the calls. Looked for up to the next answer that could have asked for them,
 * as ids may repeat later. Calls of one answer with the same id get the results with that id in turn.
 */
function resultsFor(
  calls: readonly ToolCall[],
  messages: readonly LlmMessage[],
  answerAt: number,
  nameOf: NameOf,
): ToolResultMessage[] {
  const results: ToolResultMessage[] = [];
  /** Nearly always each stands where it is expected, and nothing has to be looked for. */
  let found: Map<string, ToolResultMessage[]> | undefined;
  for (const call of calls) {
    const next = found ? undefined : messages[answerAt + 1 + results.length];
    let result: ToolResultMessage | undefined;
    if (next?.role === "toolResult" && next.toolCallId === call.id) result = next;
    else {
      found ??= resultsById(messages, answerAt + 1, results.length);
      result = found.get(call.id)?.shift();
    }
    result ??= missingResult(call, messages[answerAt]!.timestamp);
    const toolName = nameOf(call.name);
    results.push(toolName === result.toolName ? result : { ...result, toolName });
  }
  return results;
}

/** Without the first ones, which have found their calls. */
function resultsById(messages: readonly LlmMessage[], from: number, first: number): Map<string, ToolResultMessage[]> {
  const found = new Map<string, ToolResultMessage[]>();
  for (let i = from + first; i < messages.length; i++) {
    const next = messages[i]!;
    if (next.role === "assistant" && (!hasFailed(next) || next.content.some(isCall))) break;
    if (next.role !== "toolResult") continue;
    const sameId = found.get(next.toolCallId);
    if (sameId) sameId.push(next);
    else found.set(next.toolCallId, [next]);
  }
  return found;
}

/** The results that stand together from here on. */
export function resultsFrom(history: readonly LlmMessage[], from: number): ToolResultMessage[] {
  const round: ToolResultMessage[] = [];
  for (let i = from; i < history.length; i++) {
    const message = history[i]!;
    if (message.role !== "toolResult") break;
    round.push(message);
  }
  return round;
}

type NameOf = (name: string) => string;

/** Calls of tools that no longer exist, or never did, must not make the conversation unusable. */
function namesFor(tools: HistoryRules["tools"] = []): NameOf {
  const odd = new Set(oddNames(tools));
  return (name) => (odd.has(name) ? name : plainName(name));
}

/** The names of tools that would be changed, were they not those of the request. */
export function oddNames(tools: HistoryRules["tools"] = []): string[] {
  return tools.flatMap(({ name }) => (isPlainName(name) ? [] : [name]));
}

function isCall(block: AssistantMessage["content"][number]): block is ToolCall {
  return block.type === "toolCall";
}

function missingResult(call: ToolCall, timestamp: number): ToolResultMessage {
  return {
    role: "toolResult",
    toolCallId: call.id,
    toolName: call.name,
    content: [{ type: "text", text: "No result provided" }],
    isError: true,
    timestamp,
  };
}

/** A model gets its own thinking and signatures back as they were; of others it gets what can be read. */
function forReader(message: AssistantMessage, model: Reader, rules: HistoryRules, nameOf: NameOf): AssistantMessage {
  const own = isAuthor(message, model);
  const content: AssistantMessage["content"] = [];
  let changed = false;
  for (const block of message.content) {
    const readable = own ? ownBlock(block, rules) : foreignBlock(block);
    const named = readable?.type === "toolCall" ? renamed(readable, nameOf(readable.name)) : readable;
    if (named) content.push(named);
    changed ||= named !== block;
  }
  return changed ? { ...message, content } : message;
}

function renamed(call: ToolCall, name: string): ToolCall {
  return name === call.name ? call : { ...call, name };
}

export function isAuthor(message: AssistantMessage, model: Reader): boolean {
  return message.provider === model.provider && message.api === model.api && message.model === model.id;
}

type Block = AssistantMessage["content"][number];

/** Blocks of a kind that only the program knows which has written the file are not for models. */
function ownBlock(block: Block, { unsignedThinking = "text" }: HistoryRules): Block | undefined {
  if (block.type === "toolCall") return block;
  // Some vendors put a signature on a text with nothing in it.
  if (block.type === "text") return block.textSignature || block.text.trim() !== "" ? block : undefined;
  if (block.type !== "thinking") return undefined;
  if (block.thinkingSignature) return block;
  if (unsignedThinking === "text") return thoughtAsText(block);
  return unsignedThinking === "keep" && !block.redacted && block.thinking.trim() !== "" ? block : undefined;
}

function foreignBlock(block: Block): Block | undefined {
  if (block.type === "thinking") return thoughtAsText(block);
  if (block.type === "toolCall") {
    const { thoughtSignature, ...call } = block;
    return thoughtSignature === undefined ? block : call;
  }
  if (block.type !== "text" || block.text.trim() === "") return undefined;
  return block.textSignature === undefined ? block : { type: "text", text: block.text };
}

function thoughtAsText(block: ThinkingContent): TextContent | undefined {
  return block.redacted || block.thinking.trim() === "" ? undefined : { type: "text", text: block.thinking };
}

/** As for the blocks of an answer. */
function withKnownBlocks<M extends UserMessage | ToolResultMessage>(message: M): M {
  const { content } = message;
  if (typeof content === "string") return message;
  for (const block of content) if (!isKnown(block)) return { ...message, content: content.filter(isKnown) };
  return message;
}

function isKnown({ type }: TextContent | ImageContent): boolean {
  return type === "text" || type === "image";
}

const IMAGE_NOTE = "(image left out: this model reads only text)";

function withReadableImages<M extends UserMessage | ToolResultMessage>(message: M, model: Reader): M {
  const { content } = message;
  if (typeof content === "string" || model.input.includes("image")) return message;
  for (const block of content) if (block.type === "image") return { ...message, content: imagesAsNotes(content) };
  return message;
}

/** Several images in a row are one note. */
function imagesAsNotes(content: readonly (TextContent | ImageContent)[]): TextContent[] {
  const noted: TextContent[] = [];
  let lastWasNote = false;
  for (const block of content) {
    if (block.type === "text") noted.push(block);
    else if (!lastWasNote) noted.push({ type: "text", text: IMAGE_NOTE });
    lastWasNote = block.type === "image";
  }
  return noted;
}
