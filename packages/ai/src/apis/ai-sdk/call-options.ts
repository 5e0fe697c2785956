import type { Model, ThinkingLevel } from "@tiller/protocol/model";
import type { ModelRequest } from "../../provider.ts";
import { isThinkingLevel } from "../../thinking-levels.ts";
import { prepareHistory } from "../history.ts";
import { isRecord } from "../wire-values.ts";
import { toPrompt } from "./prompt.ts";
import type { CallOptions, LanguageModel, PromptMessage, ProviderOptions, SpecVersion } from "./spec.ts";

/**
 * A neutral request in the words of the AI SDK. Pure. Of `compat` it reads:
 *
 *   providerOptions:  {"high": {"anthropic": {...}}, "openai": {...}}     by thinking level, and for every request
 *   imagesInToolResults: boolean       not needed: read from the kind of API
 *   cacheOptions: {"anthropic": {...}} what marks the end of a prompt worth keeping
 */

const DEFAULT_ANSWER_TOKENS = 32_000;
/** Other vendors pass it over: options stand under the name of the vendor they are for. */
const CACHE: ProviderOptions = { anthropic: { cacheControl: { type: "ephemeral" } } };

export function callOptions(request: ModelRequest, target: LanguageModel, abortSignal: AbortSignal): CallOptions {
  const { model, tools, thinkingLevel } = request;
  const version = target.specificationVersion;
  const history = prepareHistory(request.messages, model, {
    callIds: { forbidden: /[^a-zA-Z0-9_-]/, longest: 64 },
    unsignedThinking: "keep",
    tools,
    startsWithUser: true,
  });
  const prompt = toPrompt(request.systemPrompt, history, { version, imagesInResults: takesImages(model, target) });
  if (request.cacheRetention !== "none") markForCache(prompt, model);
  return {
    prompt,
    maxOutputTokens: Math.min(request.maxTokens ?? DEFAULT_ANSWER_TOKENS, model.maxTokens),
    ...(tools.length === 0 ? {} : { tools: tools.map(functionTool) }),
    ...reasoningField(model, thinkingLevel, version),
    ...providerOptionsField(model, thinkingLevel),
    abortSignal,
  };
}

function functionTool(tool: ModelRequest["tools"][number]): NonNullable<CallOptions["tools"]>[number] {
  return { type: "function", name: tool.name, description: tool.description, inputSchema: tool.parameters };
}

/** Chat completions have no images in results, and their packages write them out as text; Google's chat is another one. */
function takesImages(model: Model, { provider }: LanguageModel): boolean {
  const told = model.compat?.imagesInToolResults;
  return typeof told === "boolean" ? told : !/\.(chat|completion)$/.test(provider) || provider.startsWith("google");
}

/** The system prompt, and all there is so far. */
function markForCache(prompt: readonly PromptMessage[], model: Model): void {
  const told = model.compat?.cacheOptions;
  const options = isRecord(told) ? (told as ProviderOptions) : CACHE;
  const first = prompt[0];
  if (first?.role === "system") first.providerOptions = options;
  const last = prompt.at(-1);
  if (last && last !== first) last.providerOptions = options;
}

/** Before version 4 thinking can only be asked for in the vendor's own words: see `providerOptions`. */
function reasoningField(model: Model, level: ThinkingLevel, version: SpecVersion): { reasoning?: string } {
  if (version !== "v4" || !model.reasoning) return {};
  return { reasoning: model.thinkingLevelMap?.[level] ?? (level === "off" ? "none" : level) };
}

function providerOptionsField(model: Model, level: ThinkingLevel): { providerOptions?: ProviderOptions } {
  const told = model.compat?.providerOptions;
  if (!isRecord(told)) return {};
  const merged: ProviderOptions = {};
  const atLevel = model.reasoning && isRecord(told[level]) ? told[level] : {};
  for (const [vendor, options] of [...Object.entries(told), ...Object.entries(atLevel)]) {
    if (isRecord(options) && !isThinkingLevel(vendor)) merged[vendor] = { ...merged[vendor], ...options };
  }
  return Object.keys(merged).length === 0 ? {} : { providerOptions: merged };
}
