import type { ImageContent, TextContent, ThinkingContent, ToolCall } from "@tiller/protocol/content";
import type { AssistantMessage, LlmMessage, ToolResultMessage, UserMessage } from "@tiller/protocol/message";
import type { Model } from "@tiller/protocol/model";
import { type CallIdRules, renameCalls } from "./call-ids.ts";

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
export function prepareHistory(messages: readonly LlmMessage[], model: Model, rules: HistoryRules = {}): LlmMessage[] {
  const prepared: LlmMessage[] = [];
  const nameOf = namesFor(rules.tools);
  for (let i = 0; i < messages.length; i++) {
    const message = messages[i]!;
    if (message.role === "user") {
      if (!isBlank(message)) prepared.push(withReadableImages(message, model));
    } else if (message.role === "assistant" && !hasFailed(message)) {
      const answer = forReader(message, model, rules, nameOf);
      if (answer.content.length === 0) continue;
      prepared.push(answer);
      for (const result of resultsFor(message, messages, i + 1, nameOf))
        prepared.push(withReadableImages(result, model));
    }
    // Results were taken along with their call; the others belong to answers that were left out.
  }
  const history = renameCalls(prepared, rules.callIds);
  const first = history[0];
  if (rules.startsWithUser && first && first.role !== "user") history.unshift(startNote(first.timestamp));
  return history;
}

export function hasFailed(message: AssistantMessage): boolean {
  return message.stopReason === "error" || message.stopReason === "aborted";
}

function isBlank({ content }: UserMessage): boolean {
  if (typeof content === "string") return content.trim() === "";
  return content.every((block) => block.type === "text" && block.text.trim() === "");
}

function startNote(timestamp: number): UserMessage {
  return { role: "user", content: "(The beginning of this conversation is not available.)", timestamp };
}

/**
 * One result for each call, in the order of the calls. Looked for up to the next answer that could have asked for them,
 * as ids may repeat later. Calls of one answer with the same id get the results with that id in turn.
 */
function resultsFor(
  message: AssistantMessage,
  messages: readonly LlmMessage[],
  from: number,
  nameOf: NameOf,
): ToolResultMessage[] {
  const calls = message.content.filter(isCall);
  if (calls.length === 0) return [];
  const found = new Map<string, ToolResultMessage[]>();
  for (let i = from; i < messages.length; i++) {
    const next = messages[i]!;
    if (next.role === "assistant" && (!hasFailed(next) || next.content.some(isCall))) break;
    if (next.role !== "toolResult") continue;
    const sameId = found.get(next.toolCallId);
    if (sameId) sameId.push(next);
    else found.set(next.toolCallId, [next]);
  }
  return calls.map((call) => {
    const result = found.get(call.id)?.shift() ?? missingResult(call, message.timestamp);
    const toolName = nameOf(call.name);
    return toolName === result.toolName ? result : { ...result, toolName };
  });
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
  const defined = new Set(tools.map(({ name }) => name));
  return (name) => (defined.has(name) ? name : plainName(name));
}

function plainName(name: string): string {
  const plain = name.replace(/[^a-zA-Z0-9_-]/g, "_") || "unknown";
  return (/^[a-zA-Z_]/.test(plain) ? plain : `_${plain}`).slice(0, 64);
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
function forReader(message: AssistantMessage, model: Model, rules: HistoryRules, nameOf: NameOf): AssistantMessage {
  const own = isAuthor(message, model);
  const content: AssistantMessage["content"] = [];
  for (const block of message.content) {
    const readable = own ? ownBlock(block, rules) : foreignBlock(block);
    if (readable) content.push(readable.type === "toolCall" ? renamed(readable, nameOf(readable.name)) : readable);
  }
  return { ...message, content };
}

function renamed(call: ToolCall, name: string): ToolCall {
  return name === call.name ? call : { ...call, name };
}

export function isAuthor(message: AssistantMessage, model: Model): boolean {
  return message.provider === model.provider && message.api === model.api && message.model === model.id;
}

type Block = AssistantMessage["content"][number];

function ownBlock(block: Block, { unsignedThinking = "text" }: HistoryRules): Block | undefined {
  if (block.type === "toolCall") return block;
  // Some vendors put a signature on a text with nothing in it.
  if (block.type === "text") return block.textSignature || block.text.trim() !== "" ? block : undefined;
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
  if (block.text.trim() === "") return undefined;
  return block.textSignature === undefined ? block : { type: "text", text: block.text };
}

function thoughtAsText(block: ThinkingContent): TextContent | undefined {
  return block.redacted || block.thinking.trim() === "" ? undefined : { type: "text", text: block.thinking };
}

const IMAGE_NOTE = "(image left out: this model reads only text)";

function withReadableImages<M extends UserMessage | ToolResultMessage>(message: M, model: Model): M {
  const { content } = message;
  if (typeof content === "string" || model.input.includes("image")) return message;
  if (!content.some((block) => block.type === "image")) return message;
  return { ...message, content: imagesAsNotes(content) };
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
