import type { ImageContent, TextContent, ToolCall } from "@tiller/protocol/content";
import type { AssistantMessage, LlmMessage, ToolResultMessage } from "@tiller/protocol/message";
import type { ModelRequest } from "../../provider.ts";
import type { HttpCall } from "../api.ts";
import { prepareHistory } from "../history.ts";
import { planThinking } from "./thinking.ts";

/** A neutral request in the words of the Anthropic Messages API. Pure. */

type Block = Record<string, unknown> & { type: string };
interface WireMessage {
  role: "user" | "assistant";
  content: Block[];
}

const API_VERSION = "2023-06-01";
const DEFAULT_ANSWER_TOKENS = 32_000;
/** What the provider keeps for the next request: everything up to a block that carries this. */
const CACHE = { type: "ephemeral" };

export function buildRequest(request: ModelRequest): HttpCall {
  const { model } = request;
  const plan = planThinking(model, request.thinkingLevel, request.maxTokens ?? DEFAULT_ANSWER_TOKENS);
  const messages = toWireMessages(prepareHistory(request.messages, model));
  markLastUserBlock(messages);
  return {
    url: messagesUrl(model.baseUrl),
    headers: buildHeaders(request, plan.betas),
    body: JSON.stringify({
      model: model.id,
      stream: true,
      max_tokens: plan.maxTokens,
      ...plan.fields,
      ...systemField(request.systemPrompt),
      ...toolsField(request.tools),
      messages,
    }),
  };
}

/** A base URL is given with or without `/v1`. */
export function messagesUrl(baseUrl: string): string {
  const base = baseUrl.replace(/\/+$/, "");
  return base.endsWith("/v1") ? `${base}/messages` : `${base}/v1/messages`;
}

function buildHeaders(request: ModelRequest, planned: readonly string[]): Record<string, string> {
  const { apiKey } = request;
  const headers: Record<string, string> = { "anthropic-version": API_VERSION };
  const betas = [...planned];
  if (apiKey?.startsWith("sk-ant-oat")) {
    headers.authorization = `Bearer ${apiKey}`;
    betas.push("oauth-2025-04-20");
  } else if (apiKey) headers["x-api-key"] = apiKey;
  for (const [name, value] of Object.entries(request.headers ?? {})) {
    if (name.toLowerCase() === "anthropic-beta") betas.push(value);
    else headers[name.toLowerCase()] = value;
  }
  if (betas.length > 0) headers["anthropic-beta"] = betas.join(",");
  return headers;
}

function systemField(systemPrompt: string): { system?: Block[] } {
  if (systemPrompt.trim() === "") return {};
  return { system: [{ type: "text", text: systemPrompt, cache_control: CACHE }] };
}

function toolsField(tools: ModelRequest["tools"]): { tools?: Record<string, unknown>[] } {
  if (tools.length === 0) return {};
  return {
    tools: tools.map((tool, index) => ({
      name: tool.name,
      description: tool.description,
      input_schema: tool.parameters,
      ...(index === tools.length - 1 ? { cache_control: CACHE } : {}),
    })),
  };
}

/** Results of one round of tools travel in one user message, together with what the user said after them. */
function toWireMessages(history: readonly LlmMessage[]): WireMessage[] {
  const messages: WireMessage[] = [];
  for (const message of history) {
    const role = message.role === "assistant" ? "assistant" : "user";
    const content = toBlocks(message);
    if (content.length === 0) continue;
    const last = messages.at(-1);
    if (last?.role === "user" && role === "user") last.content.push(...content);
    else messages.push({ role, content });
  }
  return messages;
}

function toBlocks(message: LlmMessage): Block[] {
  if (message.role === "assistant") return message.content.flatMap(assistantBlock);
  if (message.role === "toolResult") return [toolResultBlock(message)];
  const content = typeof message.content === "string" ? [textContent(message.content)] : message.content;
  return content.flatMap(userBlock);
}

/** The API refuses blocks of text with nothing in them, so they are left out. */
function userBlock(block: TextContent | ImageContent): Block[] {
  if (block.type === "text") return block.text.trim() === "" ? [] : [{ type: "text", text: block.text }];
  return [{ type: "image", source: { type: "base64", media_type: block.mimeType, data: block.data } }];
}

function assistantBlock(block: AssistantMessage["content"][number]): Block[] {
  if (block.type === "text") return userBlock(block);
  if (block.type === "toolCall") return [toolUseBlock(block)];
  const signature = block.thinkingSignature ?? "";
  if (block.redacted) return [{ type: "redacted_thinking", data: signature }];
  return [{ type: "thinking", thinking: block.thinking, signature }];
}

function toolUseBlock(call: ToolCall): Block {
  return { type: "tool_use", id: wireId(call.id), name: call.name, input: call.arguments };
}

function toolResultBlock(message: ToolResultMessage): Block {
  const content = message.content.flatMap(userBlock);
  return {
    type: "tool_result",
    tool_use_id: wireId(message.toolCallId),
    ...(content.length > 0 ? { content } : {}),
    ...(message.isError ? { is_error: true } : {}),
  };
}

/** Ids made by other providers may have characters this API refuses; a call and its result are changed alike. */
function wireId(id: string): string {
  return id.replace(/[^a-zA-Z0-9_-]/g, "_").slice(0, 64);
}

function textContent(text: string): TextContent {
  return { type: "text", text };
}

function markLastUserBlock(messages: readonly WireMessage[]): void {
  const last = messages.findLast((message) => message.role === "user")?.content.at(-1);
  if (last) last.cache_control = CACHE;
}
