import type { ImageContent, UserContent } from "@tiller/protocol/content";
import type { UserMessage } from "@tiller/protocol/message";

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

const IMAGE_TYPES: ReadonlySet<string> = new Set(["image/png", "image/jpeg", "image/gif", "image/webp"]);

/** Providers refuse larger ones, most of them far earlier. */
const MAX_IMAGE_BYTES = 20 * 1024 * 1024;

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

function imageProblem({ data, mimeType }: ImageContent): string | undefined {
  if (!IMAGE_TYPES.has(mimeType))
    return `"mimeType" is "${mimeType}", it must be one of ${[...IMAGE_TYPES].join(", ")}`;
  const bytes = Math.floor((data.length * 3) / 4);
  if (bytes > MAX_IMAGE_BYTES) {
    return `"data" has ${megabytes(bytes)}, at most ${megabytes(MAX_IMAGE_BYTES)} are possible: make the image smaller`;
  }
  if (data === "" || !isBase64(data)) return '"data" is not base64';
  return undefined;
}

/** Padding is optional and line breaks are not expected: what comes out must be what went in. */
function isBase64(data: string): boolean {
  const bare = data.replace(/=+$/, "");
  return Buffer.from(data, "base64").toString("base64").replace(/=+$/, "") === bare;
}

function megabytes(bytes: number): string {
  return `${(bytes / 1024 / 1024).toFixed(1)} MiB`;
}
