import type { ImageContent, UserContent } from "@tiller/protocol/content";
import type { UserMessage } from "@tiller/protocol/message";
import { imageProblem } from "../lib/image-problem.ts";

/** What a host sent. */
export interface MessageInput {
  message: string;
  images?: readonly ImageContent[];
}

/**
 * Becomes the message that the model sees, and nothing is ever added to it. Half a surrogate pair, which no provider
 * takes, becomes U+FFFD; fields of an image that are not in the protocol are left out.
 */
export function userMessage({ message, images }: MessageInput, timestamp: number): UserMessage {
  const content: UserContent[] = [{ type: "text", text: message.toWellFormed() }];
  for (const { type, data, mimeType } of images ?? []) content.push({ type, data, mimeType });
  return { role: "user", content, timestamp };
}

/** Why a message cannot be sent to any model, in one sentence that names the field; undefined when it can. */
export function messageProblem({ message, images = [] }: MessageInput): string | undefined {
  if (message.trim() === "" && images.length === 0)
    return '"message" is empty and there are no images: there is nothing to send';
  for (const [index, image] of images.entries()) {
    const problem = imageProblem(image);
    if (problem !== undefined) return `images[${index}]: ${problem}`;
  }
  return undefined;
}
