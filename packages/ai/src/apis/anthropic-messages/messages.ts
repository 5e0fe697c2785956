import type { ImageContent, TextContent, ToolCall } from "@tiller/protocol/content";
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
export function toWireMessages(history: readonly LlmMessage[], options: WireOptions): WireMessage[] {
  const messages: WireMessage[] = [];
  for (const message of history) {
    const role = message.role === "assistant" ? "assistant" : "user";
    const content = toBlocks(message, options);
    if (content.length === 0) continue;
    const last = messages.at(-1);
    if (last?.role === role) last.content.push(...content);
    else messages.push({ role, content });
  }
  return messages;
}

function toBlocks(message: LlmMessage, options: WireOptions): Block[] {
  if (message.role === "assistant") return message.content.flatMap((block) => assistantBlock(block, options));
  if (message.role === "toolResult") return [toolResultBlock(message)];
  if (typeof message.content === "string") return readableText(message.content);
  return message.content.flatMap(userBlock);
}

function textBlock(text: string): Block {
  return { type: "text", text };
}

/** The API refuses blocks of text with nothing in them, so they are left out. */
function readableText(text: string): Block[] {
  return text.trim() === "" ? [] : [textBlock(text)];
}

const IMAGE_TYPES: Readonly<Record<string, string>> = {
  "image/jpeg": "image/jpeg",
  "image/jpg": "image/jpeg",
  "image/png": "image/png",
  "image/gif": "image/gif",
  "image/webp": "image/webp",
};

function userBlock(block: TextContent | ImageContent): Block[] {
  if (block.type === "text") return readableText(block.text);
  const type = block.mimeType.toLowerCase();
  const media_type = Object.hasOwn(IMAGE_TYPES, type) ? IMAGE_TYPES[type] : undefined;
  // One image of another kind would make the provider refuse the conversation from now on.
  if (!media_type) return [textBlock(`(image left out: ${block.mimeType} is none of JPEG, PNG, GIF and WebP)`)];
  return [{ type: "image", source: { type: "base64", media_type, data: block.data } }];
}

function assistantBlock(block: AssistantMessage["content"][number], options: WireOptions): Block[] {
  if (block.type === "text") return readableText(block.text);
  if (block.type === "toolCall") return [toolUseBlock(block)];
  if (!options.withThoughts) return [];
  const signature = block.thinkingSignature ?? "";
  if (block.redacted) return [{ type: "redacted_thinking", data: signature }];
  return [{ type: "thinking", thinking: block.thinking, signature }];
}

function toolUseBlock({ id, name, arguments: input }: ToolCall): Block {
  return { type: "tool_use", id, name, input };
}

function toolResultBlock(message: ToolResultMessage): Block {
  const content = message.content.flatMap(userBlock);
  // A failure has to say something, and may only speak.
  const failed = message.isError && !content.some((block) => block.type === "image");
  if (failed && content.length === 0) content.push(textBlock("(no output)"));
  return {
    type: "tool_result",
    tool_use_id: message.toolCallId,
    ...(content.length > 0 ? { content } : {}),
    ...(failed ? { is_error: true } : {}),
  };
}
