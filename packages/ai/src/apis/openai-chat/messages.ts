import type { ImageContent, TextContent, ThinkingContent, ToolCall } from "@tiller/protocol/content";
import type { AssistantMessage, LlmMessage, ToolResultMessage, UserMessage } from "@tiller/protocol/message";
import { resultsFrom } from "../history.ts";
import { toJson } from "../wire-values.ts";
import type { ChatCompat } from "./chat-compat.ts";
import { isReasoningField, readDetails, THINKING_PARTS } from "./reasoning.ts";

/** A prepared history in the messages of the Chat Completions API. */

export interface WirePart extends Record<string, unknown> {
  type: string;
}
export interface WireMessage extends Record<string, unknown> {
  role: "system" | "developer" | "user" | "assistant" | "tool";
  content: string | WirePart[] | null;
}

const NO_OUTPUT = "(no output)";
const SEE_IMAGE = "(image: see the next message)";
const IMAGES_FOLLOW = "Images from the tool results above:";
/** For servers that refuse a user who speaks right after a tool. */
const RESULTS_READ = "I have read the tool results.";

export interface WireOptions {
  compat: ChatCompat;
  thinks: boolean;
}

export function appendMessages(messages: WireMessage[], history: readonly LlmMessage[], options: WireOptions): void {
  const { compat, thinks } = options;
  for (let i = 0; i < history.length; i++) {
    const message = history[i]!;
    if (message.role === "toolResult") {
      const round = resultsFrom(history, i);
      pushRound(messages, round, compat);
      i += round.length - 1;
    } else if (message.role === "assistant") {
      const answer = assistantMessage(message, compat, thinks);
      if (answer) messages.push(answer);
    } else pushUser(messages, userContent(message), compat);
  }
}

/** A tool can only answer with text, so its images follow when all tools of the round have spoken. */
function pushRound(messages: WireMessage[], results: readonly ToolResultMessage[], compat: ChatCompat): void {
  const images: WirePart[] = [];
  for (const result of results) {
    messages.push(toolMessage(result, compat));
    for (const block of result.content) if (block.type === "image") images.push(imagePart(block));
  }
  if (images.length === 0) return;
  pushUser(messages, [{ type: "text", text: IMAGES_FOLLOW }, ...images], compat);
}

/** Several messages of the user in a row become one: many chat templates of open models insist on turns. */
function pushUser(messages: WireMessage[], content: string | WirePart[], compat: ChatCompat): void {
  const last = messages.at(-1);
  if (last?.role === "user") {
    last.content = joined(last.content ?? "", content);
    return;
  }
  if (compat.requiresAssistantAfterToolResult && last?.role === "tool") {
    messages.push({ role: "assistant", content: RESULTS_READ });
  }
  messages.push({ role: "user", content });
}

function joined(before: string | WirePart[], after: string | WirePart[]): string | WirePart[] {
  if (typeof before === "string" && typeof after === "string") return `${before}\n\n${after}`;
  return [...asParts(before), ...asParts(after)];
}

function asParts(content: string | WirePart[]): WirePart[] {
  return typeof content === "string" ? [{ type: "text", text: content }] : content;
}

function toolMessage(result: ToolResultMessage, compat: ChatCompat): WireMessage {
  return {
    role: "tool",
    tool_call_id: result.toolCallId,
    ...(compat.requiresToolResultName ? { name: result.toolName } : {}),
    content: resultText(result),
  };
}

/** There is no field that says that a tool failed, so its words have to. */
function resultText({ content, isError }: ToolResultMessage): string {
  const text = joinTexts(content, "\n");
  const words = text || (content.some(({ type }) => type === "image") ? SEE_IMAGE : NO_OUTPUT);
  return isError && !/^\W*error/i.test(words) ? `Error: ${words}` : words;
}

/** Text alone is sent as a string: not every server reads lists. */
function userContent({ content }: UserMessage): string | WirePart[] {
  if (typeof content === "string") return content;
  if (content.every(({ type }) => type === "text")) return joinTexts(content, "\n");
  return content.flatMap((block) => {
    if (block.type === "image") return [imagePart(block)];
    return block.text.trim() === "" ? [] : [{ type: "text", text: block.text }];
  });
}

function joinTexts(content: readonly (TextContent | ImageContent)[], separator: string): string {
  const texts = content.flatMap((block) => (block.type === "text" && block.text.trim() !== "" ? [block.text] : []));
  return texts.join(separator);
}

function imagePart({ mimeType, data }: ImageContent): WirePart {
  return { type: "image_url", image_url: { url: `data:${mimeType};base64,${data}` } };
}

/** Undefined when nothing is left that could be sent: an answer needs words or calls. */
function assistantMessage(answer: AssistantMessage, compat: ChatCompat, thinks: boolean): WireMessage | undefined {
  const parts: WirePart[] = [];
  const fields: Record<string, unknown> = {};
  const calls: WirePart[] = [];
  for (const block of answer.content) {
    if (block.type === "toolCall") calls.push(callPart(block));
    else if (block.type === "text") pushText(parts, block.text);
    else if (compat.requiresThinkingAsText) pushText(parts, block.redacted ? "" : block.thinking);
    else if (compat.thinkingReplay === "field") carryThinking(block, parts, fields);
  }
  const texts = parts.filter(({ type }) => type === "text");
  if (texts.length === 0 && calls.length === 0) return undefined;
  // A model that thinks now misses the thoughts of an answer that another model gave. Nothing is not enough for some.
  if (compat.requiresReasoningContent && thinks) fields.reasoning_content ??= " ";
  return {
    role: "assistant",
    content: texts.length === parts.length ? texts.map(({ text }) => text).join("\n\n") || null : parts,
    ...fields,
    ...(calls.length > 0 ? { tool_calls: calls } : {}),
  };
}

function pushText(parts: WirePart[], text: string): void {
  if (text.trim() !== "") parts.push({ type: "text", text });
}

/** Thinking goes back in the form it came in, which its signature tells. */
function carryThinking(block: ThinkingContent, parts: WirePart[], fields: Record<string, unknown>): void {
  const form = block.thinkingSignature ?? "";
  if (form === THINKING_PARTS) parts.push({ type: "thinking", thinking: [{ type: "text", text: block.thinking }] });
  else if (isReasoningField(form))
    fields[form] = fields[form] ? `${fields[form]}\n\n${block.thinking}` : block.thinking;
  else {
    const details = readDetails(form);
    if (details.length > 0) fields.reasoning_details = [...((fields.reasoning_details as unknown[]) ?? []), ...details];
  }
}

function callPart({ id, name, arguments: args }: ToolCall): WirePart {
  return { id, type: "function", function: { name, arguments: toJson(args) } };
}
