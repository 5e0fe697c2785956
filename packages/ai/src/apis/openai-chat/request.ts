import type { Model } from "@tiller/protocol/model";
import { ProviderError } from "../../errors.ts";
import type { Payload } from "../../http/payload.ts";
import type { ModelRequest } from "../../provider.ts";
import type { HttpCall } from "../api.ts";
import type { CallIdRules } from "../call-ids.ts";
import { jsonBody, toWireHistory, type WireForm } from "../wire-history.ts";
import { markForCache } from "./cache-marks.ts";
import type { ChatCompat } from "./chat-compat.ts";
import { compatOf } from "./compat.ts";
import { appendMessages, type WireMessage } from "./messages.ts";
import { thinkingFields } from "./thinking.ts";

/** A neutral request in the words of the Chat Completions API. Pure. */

const DEFAULT_ANSWER_TOKENS = 32_000;

export function buildRequest(request: ModelRequest): HttpCall {
  const { model } = request;
  const compat = compatOf(model);
  return {
    url: chatUrl(model, compat),
    headers: buildHeaders(request, compat),
    body: buildBody(request, compat),
  };
}

function buildBody(request: ModelRequest, compat: ChatCompat): Payload {
  const { model, cacheRetention = "short" } = request;
  const fields = {
    model: model.id,
    stream: true,
    ...(compat.supportsUsageInStreaming ? { stream_options: { include_usage: true } } : {}),
    ...maxTokensField(request, compat),
    ...thinkingFields(model, request.thinkingLevel, compat),
    ...(compat.supportsStore ? { store: false } : {}),
    ...cacheKeyField(request, compat),
    ...(Object.keys(compat.openRouterRouting).length > 0 ? { provider: compat.openRouterRouting } : {}),
    ...toolsField(request.tools, compat),
  };
  const history = toWireHistory(request.messages, model, wireForm(request, compat));
  const system = systemMessages(request, compat);
  if (compat.cacheControlFormat === "anthropic" && cacheRetention !== "none") {
    markForCache([...system, ...history.open], cacheRetention);
  }
  return jsonBody(fields, "messages", history, system);
}

/** A base URL may have a query, end with a slash, or be the whole address already. */
export function chatUrl(model: Model, compat: ChatCompat): string {
  if (!URL.canParse(model.baseUrl)) {
    throw new ProviderError(
      "bad_request",
      `The base URL "${model.baseUrl}" of ${model.provider}/${model.id} is not a URL; it looks like https://api.example.com/v1`,
    );
  }
  const url = new URL(model.baseUrl);
  const path = url.pathname.replace(/\/+$/, "") || compat.rootPath.replace(/\/+$/, "");
  url.pathname = path.endsWith("/chat/completions") ? path : `${path}/chat/completions`;
  if (compat.apiVersion !== "") url.searchParams.set("api-version", compat.apiVersion);
  return url.href;
}

function buildHeaders({ apiKey, headers: given }: ModelRequest, compat: ChatCompat): Record<string, string> {
  const headers: Record<string, string> = {};
  const name = compat.authHeaderName.toLowerCase();
  if (apiKey) headers[name] = name === "authorization" ? `Bearer ${apiKey}` : apiKey;
  for (const [key, value] of Object.entries(given ?? {})) headers[key.toLowerCase()] = value;
  return headers;
}

/** What nobody asked for leaves at least half of the context to the prompt: some servers refuse what does not fit. */
function maxTokensField({ model, maxTokens }: ModelRequest, compat: ChatCompat): Record<string, number> {
  if (maxTokens === undefined && !compat.sendsMaxTokens) return {};
  const wanted =
    maxTokens ?? Math.min(DEFAULT_ANSWER_TOKENS, Math.floor(model.contextWindow / 2) || DEFAULT_ANSWER_TOKENS);
  return { [compat.maxTokensField]: model.maxTokens > 0 ? Math.min(wanted, model.maxTokens) : wanted };
}

function cacheKeyField({ sessionId, cacheRetention }: ModelRequest, compat: ChatCompat): { prompt_cache_key?: string } {
  if (!compat.supportsPromptCacheKey || !sessionId || cacheRetention === "none") return {};
  return { prompt_cache_key: sessionId };
}

function toolsField(tools: ModelRequest["tools"], compat: ChatCompat): { tools?: unknown[] } {
  if (tools.length === 0) return {};
  const strict = compat.supportsStrictMode ? { strict: false } : {};
  return {
    tools: tools.map(({ name, description, parameters }) => ({
      type: "function",
      function: { name, description, parameters, ...strict },
    })),
  };
}

export function wireForm(request: ModelRequest, compat = compatOf(request.model)): WireForm<WireMessage> {
  const options = { compat, thinks: request.model.reasoning && request.thinkingLevel !== "off" };
  return {
    rules: { callIds: callIdRules(compat), tools: request.tools, startsWithUser: true },
    options,
    append: (messages, turn) => appendMessages(messages, turn, options),
  };
}

function systemMessages({ model, systemPrompt }: ModelRequest, compat: ChatCompat): WireMessage[] {
  if (systemPrompt.trim() === "") return [];
  return [{ role: model.reasoning && compat.supportsDeveloperRole ? "developer" : "system", content: systemPrompt }];
}

/** Others take any id, and some of them care for the form of their own. */
function callIdRules(compat: ChatCompat): CallIdRules {
  if (compat.requiresMistralToolIds) return { forbidden: /[^a-zA-Z0-9]/, longest: 9, shortest: 9 };
  if (compat.requiresShortToolIds) return { forbidden: /[^a-zA-Z0-9_-]/, longest: 40 };
  return { forbidden: /[^a-zA-Z0-9_.:-]/, longest: 64 };
}
