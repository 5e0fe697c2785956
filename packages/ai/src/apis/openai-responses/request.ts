import type { Model } from "@tiller/protocol/model";
import { ProviderError } from "../../errors.ts";
import type { ModelRequest } from "../../provider.ts";
import { clampLevel } from "../../thinking-levels.ts";
import type { HttpCall } from "../api.ts";
import { jsonBody, toWireHistory } from "../wire-history.ts";
import { wireForm } from "./input.ts";

/**
 * A neutral request in the words of the OpenAI Responses API, at OpenAI, at Azure or at a server that speaks like them.
 * Pure. Nothing is stored at the provider: the whole conversation goes with every request, encrypted reasoning included.
 *
 * What a model or its server does differently stands in its `compat`:
 *
 *   supportsStore: false                 `store` is not sent (it says false otherwise)
 *   supportsReasoningEffort: false       no `reasoning` is sent
 *   reasoningSummary: "auto" (default) | "concise" | "detailed" | "none"      not asked for again after it was refused
 *   supportsEncryptedReasoning: false    encrypted reasoning is not asked for
 *   supportsStrictMode: false            tools are sent without `strict`
 *   supportsPromptCacheKey: false        no `prompt_cache_key` is sent
 *   supportsLongCacheRetention: true     long retention is asked for as `prompt_cache_retention: "24h"`
 *   supportsPromptCacheOptions: true     no retention is asked for by `prompt_cache_options` (gpt-5.6 and later)
 *   deployment: "name"                   the name sent as `model`: Azure calls models by the names of their deployments
 *   apiVersion: "preview" | "2025-04-01-preview" | …      Azure: sent as `api-version`; its v1 API needs none
 */
export function buildRequest(request: ModelRequest): HttpCall {
  const { model } = request;
  const { deployment } = quirks(model);
  const fields = {
    model: typeof deployment === "string" && deployment !== "" ? deployment : model.id,
    stream: true,
    ...(quirks(model).supportsStore === false ? {} : { store: false }),
    ...(request.systemPrompt.trim() === "" ? {} : { instructions: request.systemPrompt }),
    ...toolsField(request),
    ...reasoningFields(request),
    ...limitField(request),
    ...cacheFields(request),
  };
  return {
    url: responsesUrl(model),
    headers: buildHeaders(request),
    body: jsonBody(fields, "input", toWireHistory(request.messages, model, wireForm(request))),
  };
}

function quirks(model: Model): Readonly<Record<string, unknown>> {
  return model.compat ?? {};
}

function isAzure(model: Model): boolean {
  return model.api === "azure-openai-responses";
}

/** A base URL may have a query, end with a slash, or be the whole address already. Without a path it means `/v1`. */
export function responsesUrl(model: Model): string {
  if (!URL.canParse(model.baseUrl)) {
    const words = `The base URL of ${model.provider}/${model.id} is not a URL: "${model.baseUrl}"`;
    throw new ProviderError("bad_request", words);
  }
  const url = new URL(model.baseUrl);
  const { apiVersion } = quirks(model);
  const version = typeof apiVersion === "string" ? apiVersion : (url.searchParams.get("api-version") ?? "");
  if (isAzure(model) && version !== "") url.searchParams.set("api-version", version);
  const path = url.pathname.replace(/\/+$/, "");
  const base = isAzure(model) ? azurePath(path, version) : path || "/v1";
  url.pathname = base.endsWith("/responses") ? base : `${base}/responses`;
  return url.href;
}

/** Azure's API lies under `/openai/v1`; only versions with a date are still asked for under `/openai`. */
function azurePath(path: string, version: string): string {
  if (!["", "/openai", "/openai/v1"].includes(path)) return path;
  return /^\d{4}-/.test(version) ? "/openai" : "/openai/v1";
}

function buildHeaders({ model, apiKey, headers: own = {} }: ModelRequest): Record<string, string> {
  const headers: Record<string, string> = {};
  for (const [name, value] of Object.entries(own)) headers[name.toLowerCase()] = value;
  // A token that the user sends (Azure knows logins without a key) is not accompanied by a key.
  if (!apiKey || headers.authorization !== undefined) return headers;
  return isAzure(model) ? { "api-key": apiKey, ...headers } : { authorization: `Bearer ${apiKey}`, ...headers };
}

/** Without a word about it, tools are strict: every parameter would be required. Schemas without properties are refused. */
function toolsField({ model, tools }: ModelRequest): { tools?: Record<string, unknown>[] } {
  if (tools.length === 0) return {};
  const strict = quirks(model).supportsStrictMode === false ? {} : { strict: false };
  return {
    tools: tools.map(({ name, description, parameters }) => ({
      type: "function",
      name,
      description,
      parameters: { type: "object", properties: {}, ...parameters },
      ...strict,
    })),
  };
}

function reasoningFields({ model, thinkingLevel }: ModelRequest): Record<string, unknown> {
  if (!model.reasoning) return {};
  const { supportsReasoningEffort, supportsEncryptedReasoning, reasoningSummary = "auto" } = quirks(model);
  const level = clampLevel(model, thinkingLevel);
  // A model is silenced only by the word its map has for it; without one, nothing is said and the model decides.
  const effort = model.thinkingLevelMap?.[level] ?? (level === "off" ? undefined : level);
  const summary = level === "off" || reasoningSummary === "none" ? {} : { summary: reasoningSummary };
  return {
    ...(effort === undefined || supportsReasoningEffort === false ? {} : { reasoning: { effort, ...summary } }),
    ...(supportsEncryptedReasoning === false ? {} : { include: ["reasoning.encrypted_content"] }),
  };
}

const USUAL_LIMIT = 32_000;
const SMALLEST_LIMIT = 16;

/** Unasked, only a model with little room gets one: a large one would be reserved, and paid for in rate limits. */
function limitField({ model, maxTokens }: ModelRequest): { max_output_tokens?: number } {
  const most = model.maxTokens > 0 ? model.maxTokens : Number.POSITIVE_INFINITY;
  if (maxTokens === undefined && most >= USUAL_LIMIT) return {};
  return { max_output_tokens: Math.max(SMALLEST_LIMIT, Math.min(maxTokens ?? most, most)) };
}

const LONGEST_CACHE_KEY = 64;

function cacheFields({ model, cacheRetention, sessionId }: ModelRequest): Record<string, unknown> {
  const { supportsPromptCacheKey, supportsLongCacheRetention, supportsPromptCacheOptions } = quirks(model);
  if (cacheRetention === "none") {
    // Only what is marked is cached then, and nothing is.
    return supportsPromptCacheOptions === true ? { prompt_cache_options: { mode: "explicit" } } : {};
  }
  const hasKey = sessionId !== undefined && supportsPromptCacheKey !== false;
  return {
    ...(hasKey ? { prompt_cache_key: sessionId.slice(0, LONGEST_CACHE_KEY) } : {}),
    ...(cacheRetention === "long" && supportsLongCacheRetention === true ? { prompt_cache_retention: "24h" } : {}),
  };
}
