import type { ImageContent, TextContent, ThinkingContent, ToolCall } from "@tiller/protocol/content";
import type { AssistantMessage, LlmMessage, ToolResultMessage } from "@tiller/protocol/message";

/** A prepared history in the words of the Anthropic Messages API. Pure. */

export type Block = Record<string, unknown> & { type: string };

export interface WireMessage {
  role: "user" | "assistant";
  content: Block[];
}

export interface WireOptions {
  withThoughts: boolean;
}

/**
 * Turns of user and assistant by turns: the results of one round of tools travel in one user message, together with what
 * the user said after them.
 */
export function appendMessages(messages: WireMessage[], history: readonly LlmMessage[], options: WireOptions): void {
  for (const message of history) {
    const role = message.role === "assistant" ? "assistant" : "user";
    const last = messages.at(-1);
    const content = last?.role === role ? last.content : [];
    pushBlocks(content, message, options);
    if (content !== last?.content && content.length > 0) messages.push({ role, content });
  }
}

function pushBlocks(blocks: Block[], message: LlmMessage, options: WireOptions): void {
  if (message.role === "toolResult") blocks.push(toolResultBlock(message));
  else if (message.role === "assistant") for (const block of message.content) pushAnswer(blocks, block, options);
  else if (typeof message.content === "string") pushText(blocks, message.content);
  else for (const block of message.content) pushInput(blocks, block);
}

function textBlock(text: string): Block {
  return { type: "text", text };
}

/** The API refuses blocks of text with nothing in them, so they are left out. */
function pushText(blocks: Block[], text: string): void {
  if (text.trim() !== "") blocks.push(textBlock(text));
}

const IMAGE_TYPES: Readonly<Record<string, string>> = {
  "image/jpeg": "image/jpeg",
  "image/jpg": "image/jpeg",
  "image/png": "image/png",
  "image/gif": "image/gif",
  "image/webp": "image/webp",
};

function pushInput(blocks: Block[], block: TextContent | ImageContent): void {
  if (block.type === "text") pushText(blocks, block.text);
  else blocks.push(imageBlock(block));
}

function imageBlock({ mimeType, data }: ImageContent): Block {
  const type = mimeType.toLowerCase();
  const media_type = Object.hasOwn(IMAGE_TYPES, type) ? IMAGE_TYPES[type] : undefined;
  // One image of another kind would make the provider refuse the conversation from now on.
  if (!media_type) return textBlock(`(image left out: ${mimeType} is none of JPEG, PNG, GIF and WebP)`);
  return { type: "image", source: { type: "base64", media_type, data } };
}

function pushAnswer(blocks: Block[], block: AssistantMessage["content"][number], options: WireOptions): void {
  if (block.type === "text") pushText(blocks, block.text);
  else if (block.type === "toolCall") blocks.push(toolUseBlock(block));
  else if (options.withThoughts) blocks.push(thoughtBlock(block));
}

function thoughtBlock({ thinking, thinkingSignature: signature = "", redacted }: ThinkingContent): Block {
  return redacted ? { type: "redacted_thinking", data: signature } : { type: "thinking", thinking, signature };
}

function toolUseBlock({ id, name, arguments: input }: ToolCall): Block {
  return { type: "tool_use", id, name, input };
}

function toolResultBlock(message: ToolResultMessage): Block {
  const content: Block[] = [];
  for (const block of message.content) pushInput(content, block);
  // A failure has to say something, and may only speak.
  const failed = message.isError && !content.some((block) => block.type === "image");
  if (failed && content.length === 0) content.push(textBlock("(no output)"));
  const result: Block = { type: "tool_result", tool_use_id: message.toolCallId };
  if (content.length > 0) result.content = content;
  if (failed) result.is_error = true;
  return result;
}
