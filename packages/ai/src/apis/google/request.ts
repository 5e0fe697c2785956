import type { ToolSpec } from "@tiller/protocol/tool";
import type { ModelRequest } from "../../provider.ts";
import type { HttpCall } from "../api.ts";
import { jsonBody, toWireHistory, type WireForm } from "../wire-history.ts";
import { appendContents, type Content } from "./contents.ts";
import { openApiSchema } from "./schema.ts";
import { planThinking } from "./thinking.ts";
import { type Traits, traitsOf } from "./traits.ts";

/** A neutral request in the words of Google's `streamGenerateContent`. Pure. */

const DEFAULT_BASE_URL = "https://generativelanguage.googleapis.com/v1beta";
const DEFAULT_ANSWER_TOKENS = 32_000;

export function buildRequest(request: ModelRequest): HttpCall {
  const { model } = request;
  const traits = traitsOf(model);
  const history = toWireHistory(request.messages, model, wireForm(request, traits));
  const answerTokens = request.maxTokens ?? DEFAULT_ANSWER_TOKENS;
  const fields = {
    ...systemField(request.systemPrompt),
    ...toolsField(request.tools, traits),
    generationConfig: planThinking(model, request.thinkingLevel, traits, answerTokens),
  };
  return {
    url: streamUrl(model.baseUrl, model.id),
    headers: buildHeaders(request),
    body: jsonBody(fields, "contents", history),
  };
}

export function wireForm({ model, tools }: ModelRequest, traits = traitsOf(model)): WireForm<Content> {
  return {
    rules: {
      callIds: { forbidden: /[^a-zA-Z0-9_-]/, longest: 64 },
      // Thoughts come as summaries; what has to come back is their signature, which stands on another part.
      unsignedThinking: "drop",
      tools,
      startsWithUser: true,
    },
    options: traits,
    append: (contents, turn) => appendContents(contents, turn, model.api, traits),
  };
}

/**
 * A base URL without a path means the version of the API that has all we need; what it asks for behind a `?` stays there.
 * Tuned models name their own collection.
 */
export function streamUrl(baseUrl: string, id: string): string {
  const [address = "", ...queries] = (baseUrl || DEFAULT_BASE_URL).split("?");
  const query = queries.join("?");
  const base = address.replace(/\/+$/, "");
  const versioned = /^https?:\/\/[^/]+$/.test(base) ? `${base}/v1beta` : base;
  const path = id.split("/").map(encodeURIComponent).join("/");
  const resource = id.startsWith("models/") || id.startsWith("tunedModels/") ? path : `models/${path}`;
  return `${versioned}/${resource}:streamGenerateContent?alt=sse${query === "" ? "" : `&${query}`}`;
}

function buildHeaders({ apiKey, headers }: ModelRequest): Record<string, string> {
  const all: Record<string, string> = apiKey ? { "x-goog-api-key": apiKey } : {};
  for (const [name, value] of Object.entries(headers ?? {})) all[name.toLowerCase()] = value;
  return all;
}

function systemField(systemPrompt: string): { systemInstruction?: { parts: { text: string }[] } } {
  return systemPrompt.trim() === "" ? {} : { systemInstruction: { parts: [{ text: systemPrompt }] } };
}

function toolsField(tools: ModelRequest["tools"], traits: Traits): { tools?: unknown[] } {
  if (tools.length === 0) return {};
  return { tools: [{ functionDeclarations: tools.map((tool) => declaration(tool, traits)) }] };
}

function declaration({ name, description, parameters }: ToolSpec, traits: Traits): Record<string, unknown> {
  if (traits.toolSchema === "json") return { name, description, parametersJsonSchema: parameters };
  return { name, description, parameters: openApiSchema(parameters) };
}
