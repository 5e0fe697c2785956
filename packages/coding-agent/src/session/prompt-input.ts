import type { ImageContent } from "@tiller/protocol/content";
import type { UserMessage } from "@tiller/protocol/message";

/** What a host sent becomes the message that the model sees, and nothing is ever added to it. */
export function userMessage(text: string, images: readonly ImageContent[] | undefined, timestamp: number): UserMessage {
  return { role: "user", content: [{ type: "text", text }, ...(images ?? [])], timestamp };
}
