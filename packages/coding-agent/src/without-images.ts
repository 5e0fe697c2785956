import type { ImageContent, TextContent } from "@tiller/protocol/content";
import type { LlmMessage } from "@tiller/protocol/message";

const NOTE: TextContent = { type: "text", text: "(image left out: the setting images.blockImages)" };

/** The conversation as a model is told of it when it is to get no images; what has none stays the same object. */
export function withoutImages(messages: readonly LlmMessage[]): LlmMessage[] {
  return messages.map((message) => {
    if (message.role === "assistant" || typeof message.content === "string") return message;
    if (!message.content.some(isImage)) return message;
    return { ...message, content: message.content.map((block) => (isImage(block) ? NOTE : block)) };
  });
}

function isImage(block: TextContent | ImageContent): block is ImageContent {
  return block.type === "image";
}
