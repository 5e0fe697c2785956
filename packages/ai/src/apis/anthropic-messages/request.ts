import type { AssistantMessage, LlmMessage } from "@tiller/protocol/message";
import type { Model } from "@tiller/protocol/model";
import { ProviderError } from "../../errors.ts";
import { lastMade } from "../../last-made.ts";
import type { ModelRequest } from "../../provider.ts";
import type { HttpCall } from "../api.ts";
import { type HistoryRules, hasFailed, isAuthor } from "../history.ts";
import { jsonBody, toWireHistory, type WireForm } from "../wire-history.ts";
import { appendMessages, type Block, type WireMessage } from "./messages.ts";
import { planThinking, type ThinkingPlan } from "./thinking.ts";

/**
 * A neutral request in the words of the Anthropic Messages API. Pure. Quirks of a model or server (`compat`), next to
 * those of `thinking.ts`:
 *
 *   cacheControl: false               a server that refuses marks for its cache
 *   eagerInputStreaming: true         arguments of tools come as they are written, not checked by the provider first
 *   unsignedThinking: "text" (default) | "keep" | "drop"      what becomes of the thoughts of a server that signs nothing
 *
 * Names of the tools of a request are sent as they are: `plain-names.ts` has seen to it that the API takes them.
 */

const API_VERSION = "2023-06-01";
const CALL_IDS = { forbidden: /[^a-zA-Z0-9_-]/, longest: 64 };

export function buildRequest(request: ModelRequest): HttpCall {
  const { model, systemPrompt, tools } = request;
  const plan = planFor(request);
  const history = toWireHistory(request.messages, model, wireForm(request, plan));
  const last = history.open.at(-1);
  if (!last) throw nothingToSend(model, "the conversation has no message with a text or an image in it");
  if (last.role === "assistant") throw nothingToSend(model, "the last word of the conversation is the model's own");
  const cache = cacheMark(request);
  markUserMessages(history.open, cache);
  return {
    url: messagesUrl(model.baseUrl),
    headers: buildHeaders(request, plan.betas),
    body: jsonBody(
      {
        model: model.id,
        stream: true,
        max_tokens: request.wantsNoAnswer ? leastTokens(plan) : plan.maxTokens,
        ...plan.fields,
        ...systemField(systemPrompt, cache),
        ...toolsField(model, cache, ...tools),
      },
      "messages",
      history,
    ),
  };
}

/** The plan for thinking stays: another one would be another prompt for the provider's cache. A budget has to fit in. */
function leastTokens({ fields }: ThinkingPlan): number {
  return Number(fields.thinking?.budget_tokens ?? 0) + 1;
}

/** A base URL is given with or without `/v1`; what it asks for behind a `?` stays there. */
export function messagesUrl(baseUrl: string): string {
  const [address = "", query] = baseUrl.split("?", 2);
  const base = address.replace(/\/+$/, "");
  const url = base.endsWith("/v1") ? `${base}/messages` : `${base}/v1/messages`;
  return query === undefined ? url : `${url}?${query}`;
}

export function wireForm(request: ModelRequest, plan = planFor(request)): WireForm<WireMessage> {
  const options = { withThoughts: !plan.forgetThoughts };
  return {
    rules: historyRules(request),
    options,
    append: (messages, turn) => appendMessages(messages, turn, options),
  };
}

function historyRules({ model, tools }: ModelRequest): HistoryRules {
  const unsigned = model.compat?.unsignedThinking;
  return {
    callIds: CALL_IDS,
    tools,
    startsWithUser: true,
    ...(unsigned === "keep" || unsigned === "drop" ? { unsignedThinking: unsigned } : {}),
  };
}

function nothingToSend({ provider, id }: Model, why: string): ProviderError {
  return new ProviderError("bad_request", `Nothing to ask ${provider}/${id}: ${why}. Send a prompt with some text.`);
}

/**
 * A model with a budget wants the turn it goes on with to begin with a thought of its own. Where it has none (the turn
 * was begun without thinking, or another model had a part in it), it thinks again from the next turn on.
 */
function planFor({ model, thinkingLevel, maxTokens, messages }: ModelRequest): ThinkingPlan {
  const needsOwnThought = model.reasoning && thinkingLevel !== "off" && model.compat?.thinking !== "adaptive";
  const level = needsOwnThought && !canThinkOn(messages, model) ? "off" : thinkingLevel;
  return planThinking(model, level, maxTokens);
}

/** Only the first answer of a turn has to begin with a thought: after the results of tools a model may go on without. */
function canThinkOn(messages: readonly LlmMessage[], model: Model): boolean {
  const answers = openTurn(messages);
  const begun = answers[0];
  if (!begun) return true;
  return begun.content[0]?.type === "thinking" && answers.every((answer) => isAuthor(answer, model));
}

/** The answers since the user spoke; also what is said right behind results begins a new turn. */
function openTurn(messages: readonly LlmMessage[]): AssistantMessage[] {
  const since = messages.slice(messages.findLastIndex((message) => message.role === "user") + 1);
  return since.flatMap((message) => (message.role === "assistant" && !hasFailed(message) ? [message] : []));
}

function buildHeaders(request: ModelRequest, planned: readonly string[]): Record<string, string> {
  const { apiKey } = request;
  const headers: Record<string, string> = { "anthropic-version": API_VERSION };
  const betas = new Set(planned);
  if (apiKey?.startsWith("sk-ant-oat")) {
    headers.authorization = `Bearer ${apiKey}`;
    betas.add("oauth-2025-04-20");
  } else if (apiKey) headers["x-api-key"] = apiKey;
  for (const [name, value] of Object.entries(request.headers ?? {})) {
    if (name.toLowerCase() !== "anthropic-beta") headers[name.toLowerCase()] = value;
    else for (const beta of value.split(",")) betas.add(beta.trim());
  }
  betas.delete("");
  if (betas.size > 0) headers["anthropic-beta"] = [...betas].join(",");
  return headers;
}

/** The provider keeps everything up to a block that carries this mark; at most four marks are allowed. */
type CacheMark = { type: "ephemeral"; ttl?: "1h" };
const SHORT: CacheMark = { type: "ephemeral" };
const LONG: CacheMark = { type: "ephemeral", ttl: "1h" };

function cacheMark({ cacheRetention = "short", model }: ModelRequest): CacheMark | undefined {
  if (cacheRetention === "none" || model.compat?.cacheControl === false) return undefined;
  return cacheRetention === "long" ? LONG : SHORT;
}

function marked<T extends object>(block: T, cache: CacheMark | undefined): T & { cache_control?: CacheMark } {
  return cache ? { ...block, cache_control: cache } : block;
}

const systemField = lastMade((systemPrompt: string, cache: CacheMark | undefined): { system?: Block[] } => {
  if (systemPrompt.trim() === "") return {};
  return { system: [marked({ type: "text", text: systemPrompt }, cache)] };
});

type FieldWithTools = { tools?: object[] };

/** One by one: whoever calls this as a library may go on with the same list, and put another tool into it. */
const toolsField = lastMade(
  (model: Model, cache: CacheMark | undefined, ...tools: ModelRequest["tools"]): FieldWithTools => {
    if (tools.length === 0) return {};
    const eager = model.compat?.eagerInputStreaming === true ? { eager_input_streaming: true } : {};
    const defined = tools.map(({ name, description, parameters }) => ({
      name,
      ...(description.trim() === "" ? {} : { description }),
      // Only objects are allowed, and they have to say so.
      input_schema: parameters.type === undefined ? { type: "object", ...parameters } : parameters,
      ...eager,
    }));
    return { tools: defined.map((tool, index) => (index === defined.length - 1 ? marked(tool, cache) : tool)) };
  },
);

/**
 * The end of the conversation, and where it ended last time: the provider looks only some 20 blocks back from a mark for
 * what it knows already, and a round of many tools is longer than that.
 */
function markUserMessages(messages: readonly WireMessage[], cache: CacheMark | undefined): void {
  if (!cache) return;
  for (const { content } of messages.filter((message) => message.role === "user").slice(-2)) {
    const last = content.at(-1);
    if (last) last.cache_control = cache;
  }
}
