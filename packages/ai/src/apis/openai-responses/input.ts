import type { ImageContent, TextContent, ThinkingContent, ToolCall } from "@tiller/protocol/content";
import type { AssistantMessage, LlmMessage, ToolResultMessage, UserMessage } from "@tiller/protocol/message";
import type { ModelRequest } from "../../provider.ts";
import { callPart } from "../call-ids.ts";
import { isAuthor, type Reader } from "../history.ts";
import type { WireForm } from "../wire-history.ts";
import { toJson } from "../wire-values.ts";
import { itemIdOfCall, readReasoningItem, readTextMarks } from "./carried.ts";

/** A conversation as the list of items that the Responses API takes as its input. Pure. */

export type Item = Record<string, unknown>;

/** An id holds that of the call and that of its item, which only its author gets back. */
const CALL_IDS = { forbidden: /[^a-zA-Z0-9_-]/, longest: 64, withItemIds: true };

export function wireForm({ model, tools }: Pick<ModelRequest, "model" | "tools">): WireForm<Item> {
  return {
    // Own thinking without its item is of no use to anyone: the API takes thoughts back only as it made them.
    rules: { callIds: CALL_IDS, unsignedThinking: "drop", tools },
    append: (items, turn) => appendItems(items, turn, model),
  };
}

function appendItems(items: Item[], turn: readonly LlmMessage[], model: Reader): void {
  for (const message of turn) {
    if (message.role === "user") items.push(...userItem(message));
    else if (message.role === "toolResult") items.push(resultItem(message));
    else items.push(...answerItems(message, model));
  }
}

function userItem({ content }: UserMessage): Item[] {
  const parts = typeof content === "string" ? [inputText(content)] : content.flatMap(inputPart);
  return parts.length > 0 ? [{ role: "user", content: parts }] : [];
}

function inputPart(block: TextContent | ImageContent): Item[] {
  if (block.type === "text") return block.text.trim() === "" ? [] : [inputText(block.text)];
  return [{ type: "input_image", detail: "auto", image_url: `data:${block.mimeType};base64,${block.data}` }];
}

function inputText(text: string): Item {
  return { type: "input_text", text };
}

/**
 * The items of one answer. What came after reasoning is refused under its old id without that reasoning, and reasoning
 * under its id without the item it led to. So the ids of an answer are sent all or none, and only by their author; and
 * reasoning that led to nothing is left out.
 */
function answerItems(answer: AssistantMessage, model: Reader): Item[] {
  const keepIds = isAuthor(answer, model) && answer.content.every(hasItemId);
  const items: Item[] = [];
  for (const block of answer.content) {
    if (block.type === "thinking") items.push(...reasoningItem(block, keepIds));
    else if (block.type === "text") items.push(...messageItem(block, keepIds));
    else items.push(callItem(block, keepIds ? itemIdOfCall(block.id) : undefined));
  }
  while (items.at(-1)?.type === "reasoning") items.pop();
  return items;
}

function hasItemId(block: AssistantMessage["content"][number]): boolean {
  if (block.type === "thinking") return readReasoningItem(block.thinkingSignature)?.id !== undefined;
  if (block.type === "toolCall") return itemIdOfCall(block.id) !== undefined;
  return block.text.trim() === "" || readTextMarks(block.textSignature).id !== undefined;
}

function reasoningItem(block: ThinkingContent, keepIds: boolean): Item[] {
  const item = readReasoningItem(block.thinkingSignature);
  if (!item) return [];
  const { id, ...rest } = item;
  return [keepIds ? item : rest];
}

/** With its id an answer is the item it was; without, it is a message that somebody wrote in the assistant's name. */
function messageItem(block: TextContent, keepIds: boolean): Item[] {
  if (block.text.trim() === "") return [];
  const { id, phase } = readTextMarks(block.textSignature);
  const marks = phase ? { phase } : {};
  if (!keepIds) return [{ role: "assistant", content: block.text, ...marks }];
  const content = [{ type: "output_text", text: block.text, annotations: [] }];
  return [{ type: "message", id, role: "assistant", status: "completed", content, ...marks }];
}

function callItem(call: ToolCall, id: string | undefined): Item {
  return {
    type: "function_call",
    ...(id ? { id } : {}),
    call_id: callPart(call.id),
    name: call.name,
    arguments: toJson(call.arguments),
  };
}

/** Plain text goes as a string, which every server takes; a list only where there is an image. */
function resultItem(message: ToolResultMessage): Item {
  const hasImage = message.content.some((block) => block.type === "image");
  const output = hasImage ? resultParts(message) : resultText(message);
  return { type: "function_call_output", call_id: callPart(message.toolCallId), output };
}

function resultText({ content, isError }: ToolResultMessage): string {
  const text = content.map((block) => (block.type === "text" ? block.text : "")).join("\n");
  return isError ? errorText(text) : text || "(no output)";
}

function resultParts({ content, isError }: ToolResultMessage): Item[] {
  const parts = content.flatMap(inputPart);
  return isError ? [inputText("Error:"), ...parts] : parts;
}

/** The API has no mark for a result that is an error, so the text has to say it. */
function errorText(text: string): string {
  return /^\s*error\b/i.test(text) ? text : `Error: ${text || "(no output)"}`;
}
