import type { ImageContent } from "@tiller/protocol/content";

/** A prompt as the session takes it. */
export interface Prompt {
  message: string;
  images: readonly ImageContent[];
}

export interface PromptParts {
  /** What came over stdin. */
  piped: string;
  /** What the files behind `@` say. */
  files: { text: string; images: readonly ImageContent[] };
  /** The words of the command line. */
  messages: readonly string[];
}

/** What was piped in and the files stand before the first message, or are it; further messages follow as they are. Pure. */
export function promptsOf({ piped, files, messages: [first = "", ...further] }: PromptParts): Prompt[] {
  const parts = [piped.trimEnd(), files.text.trimEnd(), first].filter((part) => part.trim() !== "");
  const prompts = further.map((message): Prompt => ({ message, images: [] }));
  if (parts.length === 0 && files.images.length === 0) return prompts;
  return [{ message: parts.join("\n\n"), images: files.images }, ...prompts];
}
