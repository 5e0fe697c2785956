import type { ImageContent, TextContent, ThinkingContent, ToolCall } from "@tiller/protocol/content";
import type { AssistantMessage, LlmMessage, ToolResultMessage, UserMessage } from "@tiller/protocol/message";
import type { Model } from "@tiller/protocol/model";

/** What an API demands of the ids of tool calls. */
export interface HistoryRules {
  callIds?: {
    /** Every character that is not allowed. */
    forbidden: RegExp;
    longest: number;
  };
}

/**
 * Makes a history that any model accepts: failed answers left out, every tool call followed by exactly one result,
 * thinking only where its author reads it again, no images for models without eyes. Pure; used by every API family.
 */
export function prepareHistory(messages: readonly LlmMessage[], model: Model, _rules: HistoryRules = {}): LlmMessage[] {
  const prepared: LlmMessage[] = [];
  for (let i = 0; i < messages.length; i++) {
    const message = messages[i]!;
    if (message.role === "user") prepared.push(withReadableImages(message, model));
    else if (message.role === "assistant" && isUsable(message)) {
      prepared.push(forReader(message, model));
      prepared.push(...resultsFor(message, messages, i + 1).map((result) => withReadableImages(result, model)));
    }
    // Results were taken along with their call; the others belong to answers that were left out.
  }
  return prepared;
}

function isUsable(message: AssistantMessage): boolean {
  return message.stopReason !== "error" && message.stopReason !== "aborted" && message.content.length > 0;
}

/** One result for each call, in the order of the calls; looked for up to the next answer, as ids may repeat later. */
function resultsFor(message: AssistantMessage, messages: readonly LlmMessage[], from: number): ToolResultMessage[] {
  const calls = message.content.filter((block): block is ToolCall => block.type === "toolCall");
  if (calls.length === 0) return [];
  const found = new Map<string, ToolResultMessage>();
  for (let i = from; i < messages.length; i++) {
    const next = messages[i]!;
    if (next.role === "assistant" && isUsable(next)) break;
    if (next.role === "toolResult" && !found.has(next.toolCallId)) found.set(next.toolCallId, next);
  }
  return calls.map((call) => found.get(call.id) ?? missingResult(call, message.timestamp));
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

/** A model gets its own signed thinking back as it was; the thoughts of others become plain text. */
function forReader(message: AssistantMessage, model: Model): AssistantMessage {
  const isAuthor = message.provider === model.provider && message.api === model.api && message.model === model.id;
  const content: AssistantMessage["content"] = [];
  for (const block of message.content) {
    if (block.type !== "thinking" || (isAuthor && block.thinkingSignature)) content.push(block);
    else if (isThoughtText(block)) content.push({ type: "text", text: block.thinking });
  }
  return { ...message, content };
}

function isThoughtText(block: ThinkingContent): boolean {
  return !block.redacted && block.thinking.trim() !== "";
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
