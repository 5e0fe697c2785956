import { createAssembly, excessOf } from "@tiller/ai/assemble";
import { ProviderError } from "@tiller/ai/errors";
import type { Credentials } from "@tiller/ai/model-registry";
import { askedModel } from "@tiller/ai/model-secrets";
import type { Delta, DeltaStream, ModelRequest, StreamModel } from "@tiller/ai/provider";
import { guardStream } from "@tiller/ai/stream";
import { clampLevel } from "@tiller/ai/thinking-levels";
import type { AssistantMessage } from "@tiller/protocol/message";
import type { Model } from "@tiller/protocol/model";
import type { AssistantMessageEvent, StreamEvent } from "@tiller/protocol/stream-event";
import { AssistantMessageEventStream } from "./event-stream.ts";
import type { CompatHost } from "./host.ts";
import { type ModelContext, plainContext } from "./model-context.ts";

/** What extensions may say about a request; what they say beside it is of no use here. */
export interface AskOptions {
  apiKey?: string;
  headers?: Readonly<Record<string, string | null | undefined>>;
  signal?: AbortSignal;
  maxTokens?: number;
  reasoning?: string;
  reasoningEffort?: string;
  cacheRetention?: ModelRequest["cacheRetention"];
  sessionId?: string;
}

/** Asks a model and tells the answer as it comes. Never throws: a failure is the last event. */
export function askModel(
  host: CompatHost,
  stream: StreamModel,
  model: Model,
  context: ModelContext,
  options: AskOptions = {},
): AssistantMessageEventStream {
  const events = new AssistantMessageEventStream();
  const signal = options.signal ?? new AbortController().signal;
  const open = async (): Promise<DeltaStream> => stream(await requestOf(host, model, context, { ...options, signal }));
  void tellAnswer(host, model, guardStream(open, signal, { error: withoutPrefix }), events);
  return events;
}

/** Our guard takes what `requestOf` throws for a fault of the provider. */
function withoutPrefix(error: ProviderError): ProviderError {
  return error.cause instanceof ProviderError ? error.cause : error;
}

async function tellAnswer(
  host: CompatHost,
  model: Model,
  deltas: DeltaStream,
  events: AssistantMessageEventStream,
): Promise<void> {
  const assembly = createAssembly(model, host.clock.now());
  const push = (event: StreamEvent | undefined): void => {
    if (!event) return;
    assembly.refresh();
    events.push(withPartial(event, assembly.message));
  };
  push(assembly.start());
  let last: Extract<Delta, { type: "done" | "error" }> | undefined;
  // The guard ends the stream with exactly one `done` or `error`.
  for await (const batch of deltas) {
    for (const delta of batch) {
      if (delta.type === "done" || delta.type === "error") last = delta;
      else push(assembly.apply(delta));
    }
    const excess = excessOf(assembly, model, last);
    if (excess) last = { type: "error", error: excess };
    if (last) break;
  }
  if (last?.type === "error") assembly.fail(last.error).forEach(push);
  else assembly.finish(last?.stopReason ?? "stop").forEach(push);
}

function withPartial(event: StreamEvent, partial: AssistantMessage): AssistantMessageEvent {
  return event.type === "done" || event.type === "error" ? event : { ...event, partial };
}

async function requestOf(
  host: CompatHost,
  model: Model,
  context: ModelContext,
  options: AskOptions & { signal: AbortSignal },
): Promise<ModelRequest> {
  const { apiKey, headers, ...secrets } = await credentialsOf(host, model, options);
  const { systemPrompt, messages, tools } = plainContext(context);
  return {
    model: askedModel(model, secrets),
    systemPrompt,
    messages,
    tools,
    thinkingLevel: clampLevel(model, options.reasoning ?? options.reasoningEffort ?? "off"),
    maxTokens: options.maxTokens,
    cacheRetention: options.cacheRetention,
    sessionId: options.sessionId,
    apiKey,
    headers,
    cwd: host.cwd,
    clock: host.clock,
    signal: options.signal,
  };
}

/** What was given goes first; ours are looked for only where the model is one of ours, at the address that we know. */
async function credentialsOf(host: CompatHost, model: Model, { apiKey, headers }: AskOptions): Promise<Credentials> {
  const given = Object.entries(headers ?? {}).filter((pair): pair is [string, string] => typeof pair[1] === "string");
  const isOurs = host.models.find(model.provider, model.id)?.baseUrl === model.baseUrl;
  if (!isOurs) return { apiKey, headers: Object.fromEntries(given) };
  const found = await foundCredentials(host, model, apiKey !== undefined);
  return { ...found, apiKey: apiKey ?? found.apiKey, headers: { ...found.headers, ...Object.fromEntries(given) } };
}

async function foundCredentials(host: CompatHost, model: Model, areOptional: boolean): Promise<Credentials> {
  try {
    return await host.models.credentials(model);
  } catch (error) {
    if (areOptional) return {};
    throw error;
  }
}
