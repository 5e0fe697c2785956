import type { ImageContent, TextContent } from "@tiller/protocol/content";
import type { AssistantMessage, LlmMessage, ToolResultMessage } from "@tiller/protocol/message";
import { parseEventObject } from "../../http/sse.ts";
import { resultsFrom } from "../history.ts";
import type { PromptMessage, PromptPart, ProviderOptions, SpecVersion } from "./spec.ts";

/** A prepared history as the prompt of an AI SDK model. Pure. */

export interface PromptRules {
  version: SpecVersion;
  /** Some vendors would send an image inside a result as a long text; for them it comes after, as from the user. */
  imagesInResults: boolean;
}

export function toPrompt(systemPrompt: string, history: readonly LlmMessage[], rules: PromptRules): PromptMessage[] {
  const prompt: PromptMessage[] = [];
  if (systemPrompt.trim() !== "") prompt.push({ role: "system", content: systemPrompt });
  for (let i = 0; i < history.length; i++) {
    const message = history[i]!;
    if (message.role === "user") {
      const { content } = message;
      add(prompt, "user", typeof content === "string" ? textPart(content) : content.flatMap((b) => userPart(b, rules)));
    } else if (message.role === "assistant") add(prompt, "assistant", message.content.map(answerPart));
    else {
      const round = resultsFrom(history, i);
      const isRich = (result: ToolResultMessage): boolean => result.content.some((block) => block.type === "image");
      add(
        prompt,
        "tool",
        round.map((result) => resultPart(result, rules)),
      );
      if (!rules.imagesInResults)
        add(
          prompt,
          "user",
          round.filter(isRich).flatMap((result) => imagesAfter(result, rules)),
        );
      i += round.length - 1;
    }
  }
  return prompt;
}

function add(prompt: PromptMessage[], role: PromptMessage["role"], parts: PromptPart[]): void {
  const last = prompt.at(-1);
  if (parts.length === 0) return;
  if (last?.role === role && typeof last.content !== "string") last.content.push(...parts);
  else prompt.push({ role, content: parts });
}

function textPart(text: string): PromptPart[] {
  return text.trim() === "" ? [] : [{ type: "text", text }];
}

function userPart(block: TextContent | ImageContent, rules: PromptRules): PromptPart[] {
  return block.type === "text" ? textPart(block.text) : [imagePart(block, rules)];
}

function imagePart({ data, mimeType }: ImageContent, { version }: PromptRules): PromptPart {
  return { type: "file", data: version === "v4" ? { type: "data", data } : data, mediaType: mimeType };
}

function answerPart(block: AssistantMessage["content"][number]): PromptPart {
  if (block.type === "text") return signed({ type: "text", text: block.text }, block.textSignature);
  if (block.type === "thinking") return signed({ type: "reasoning", text: block.thinking }, block.thinkingSignature);
  const call: PromptPart = { type: "tool-call", toolCallId: block.id, toolName: block.name, input: block.arguments };
  return signed(call, block.thoughtSignature);
}

/** What a vendor told about a part, it gets back with it. */
function signed(part: PromptPart, signature: string | undefined): PromptPart {
  const told = signature ? parseEventObject(signature) : undefined;
  return told && !Array.isArray(told) ? { ...part, providerOptions: told as ProviderOptions } : part;
}

function resultPart(message: ToolResultMessage, rules: PromptRules): PromptPart {
  const { toolCallId, toolName } = message;
  return { type: "tool-result", toolCallId, toolName, output: outputOf(message, rules) };
}

/** The names of an image inside a result, by version. */
const RESULT_IMAGE: Readonly<Record<SpecVersion, string>> = { v2: "media", v3: "image-data", v4: "file" };

function outputOf(message: ToolResultMessage, rules: PromptRules): { type: string; value: unknown } {
  const hasImage = message.content.some((block) => block.type === "image");
  if (!hasImage || !rules.imagesInResults) {
    const text = message.content.flatMap((block) => (block.type === "text" ? [block.text] : [])).join("\n");
    const value = text || (hasImage ? "(see the image)" : "(no output)");
    return { type: message.isError ? "error-text" : "text", value };
  }
  const value = message.content.flatMap((block): object[] =>
    block.type === "text" ? textPart(block.text) : [{ ...imagePart(block, rules), type: RESULT_IMAGE[rules.version] }],
  );
  return { type: "content", value };
}

function imagesAfter(message: ToolResultMessage, rules: PromptRules): PromptPart[] {
  const images = message.content.flatMap((block) => (block.type === "image" ? [imagePart(block, rules)] : []));
  return [{ type: "text", text: `Images from the tool ${message.toolName}:` }, ...images];
}
