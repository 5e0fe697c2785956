import type { ImageContent, TextContent } from "@tiller/protocol/content";
import type { AssistantMessage, LlmMessage, ToolResultMessage } from "@tiller/protocol/message";
import { resultsFrom } from "../history.ts";
import type { Traits } from "./traits.ts";

/** A prepared history as the `contents` of a request. Pure. */

export interface Part {
  text?: string;
  thought?: true;
  thoughtSignature?: string;
  inlineData?: { mimeType: string; data: string };
  functionCall?: { id?: string; name: string; args: Record<string, unknown> };
  functionResponse?: {
    id?: string;
    name: string;
    response: { output: string } | { error: string };
    parts?: { inlineData: { mimeType: string; data: string } }[];
  };
}

export interface Content {
  role: "user" | "model";
  parts: Part[];
}

/** The value the API documents for calls that it did not sign itself: made by other models, or by hand. */
const UNSIGNED_CALL = "skip_thought_signature_validator";
/** The kinds of images that may stand inside the result of a function. */
const RESULT_IMAGES = new Set(["image/png", "image/jpeg", "image/webp"]);

/** Contents of the same role follow each other in one: the API wants turns. Results come together with their calls. */
export function appendContents(contents: Content[], history: readonly LlmMessage[], api: string, traits: Traits): void {
  /** Ids of calls that were sent, so that their results carry them too. */
  const sentIds = new Set<string>();
  for (let i = 0; i < history.length; i++) {
    const message = history[i]!;
    if (message.role === "assistant") {
      add(contents, "model", answerParts(message, traits.functionCallIds && message.api === api, traits, sentIds));
    } else if (message.role === "user") {
      const { content } = message;
      add(contents, "user", typeof content === "string" ? textPart(content) : content.flatMap(userPart));
    } else {
      const round = resultsFrom(history, i);
      add(contents, "user", resultParts(round, traits, sentIds));
      i += round.length - 1;
    }
  }
}

function add(contents: Content[], role: Content["role"], parts: Part[]): void {
  const last = contents.at(-1);
  if (parts.length === 0) return;
  if (last?.role === role) last.parts.push(...parts);
  else contents.push({ role, parts });
}

function userPart(block: TextContent | ImageContent): Part[] {
  return block.type === "text" ? textPart(block.text) : [imagePart(block)];
}

function textPart(text: string): Part[] {
  return text.trim() === "" ? [] : [{ text }];
}

function imagePart({ mimeType, data }: ImageContent): { inlineData: { mimeType: string; data: string } } {
  return { inlineData: { mimeType, data } };
}

function answerParts(message: AssistantMessage, withIds: boolean, traits: Traits, sentIds: Set<string>): Part[] {
  const parts: Part[] = [];
  let isFirstCall = true;
  for (const block of message.content) {
    if (block.type === "text") parts.push(signed({ text: block.text }, block.textSignature));
    else if (block.type === "thinking") {
      parts.push(signed({ text: block.thinking, thought: true }, block.thinkingSignature));
    } else {
      if (withIds) sentIds.add(block.id);
      const call = { ...(withIds ? { id: block.id } : {}), name: block.name, args: block.arguments };
      // Of calls made at once only the first is signed, so only the first is asked for.
      const missing = traits.requiresThoughtSignatures && isFirstCall ? UNSIGNED_CALL : undefined;
      parts.push(signed({ functionCall: call }, block.thoughtSignature ?? missing));
      isFirstCall = false;
    }
  }
  return parts;
}

function signed(part: Part, thoughtSignature: string | undefined): Part {
  return thoughtSignature ? { ...part, thoughtSignature } : part;
}

/** All results of a round stand together; images that cannot stand inside of them come after, with the tool's name. */
function resultParts(round: readonly ToolResultMessage[], traits: Traits, sentIds: ReadonlySet<string>): Part[] {
  const results: Part[] = [];
  const after: Part[] = [];
  for (const message of round) {
    const images = message.content.filter((block) => block.type === "image");
    const inside = traits.imagesInFunctionResponse ? images.filter(({ mimeType }) => RESULT_IMAGES.has(mimeType)) : [];
    const outside = images.filter((image) => !inside.includes(image));
    results.push(resultPart(message, inside, sentIds));
    if (outside.length > 0) {
      after.push({ text: `Images from the tool ${message.toolName}:` }, ...outside.map(imagePart));
    }
  }
  return [...results, ...after];
}

function resultPart(message: ToolResultMessage, inside: readonly ImageContent[], sentIds: ReadonlySet<string>): Part {
  const text = textOf(message);
  return {
    functionResponse: {
      ...(sentIds.has(message.toolCallId) ? { id: message.toolCallId } : {}),
      name: message.toolName,
      response: message.isError ? { error: text } : { output: text },
      ...(inside.length > 0 ? { parts: inside.map(imagePart) } : {}),
    },
  };
}

function textOf({ content }: ToolResultMessage): string {
  const text = content.flatMap((block) => (block.type === "text" ? [block.text] : [])).join("\n");
  return text === "" && content.length > 0 ? "(see the image)" : text;
}
