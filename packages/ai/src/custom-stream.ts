import type { AssistantMessage, LlmMessage } from "@tiller/protocol/message";
import type { Model, ThinkingLevel } from "@tiller/protocol/model";
import type { ToolSpec } from "@tiller/protocol/tool";
import { isRecord } from "./custom-fields.ts";
import { createEventFold } from "./custom-stream-events.ts";
import { ProviderError } from "./errors.ts";
import { kindOfText } from "./http/error-kind.ts";
import type { Delta, HttpResponse, ModelRequest, StreamModel } from "./provider.ts";

/** Models that a program asks in its own way: what it tells, as the deltas of every other model. */

export interface SimpleContext {
  systemPrompt: string;
  messages: LlmMessage[];
  tools: ToolSpec[];
}

export interface SimpleOptions {
  apiKey?: string;
  headers?: Readonly<Record<string, string>>;
  maxTokens?: number;
  /** Undefined when the model shall not think. */
  reasoning?: Exclude<ThinkingLevel, "off">;
  cacheRetention?: "none" | "short" | "long";
  sessionId?: string;
  signal: AbortSignal;
  onPayload?(payload: unknown, model: Model): Promise<unknown>;
  onResponse?(response: HttpResponse, model: Model): Promise<void>;
}

/** Gives a stream of assistant message events, or a promise of one. Nothing it does is taken for granted. */
export type StreamSimple = (model: Model, context: SimpleContext, options: SimpleOptions) => unknown;

/** How long the final message may take once the events are over. */
const RESULT_MS = 5_000;

/** `given` makes of the context what the program gets to see. */
export function streamFromEvents(
  stream: StreamSimple,
  given: (context: SimpleContext) => SimpleContext = (context) => context,
): StreamModel {
  return (request) => run((model, context, options) => stream(model, given(context), options), request);
}

async function* run(stream: StreamSimple, request: ModelRequest): AsyncGenerator<readonly Delta[], void, undefined> {
  const { signal, model } = request;
  const fold = createEventFold();
  let stop = (): void => undefined;
  try {
    const opened = await stream(model, contextOf(request), optionsOf(request));
    const events = iteratorOf(opened);
    stop = () => void events?.return?.().then(undefined, () => undefined);
    signal.addEventListener("abort", stop, { once: true });
    let returned: unknown;
    while (events && !fold.isOver) {
      const next = await events.next();
      if (next.done) {
        returned = next.value;
        break;
      }
      const batch = fold.take(next.value);
      if (batch.length > 0) yield batch;
    }
    if (!fold.isOver) {
      const message = isMessage(returned) ? returned : await resultOf(opened, request);
      if (!message) throw new ProviderError("bad_request", unfinished(model));
      yield fold.finish(message);
    }
  } catch (error) {
    yield [...fold.closeAll(), { type: "error", error: toldError(error, signal) }];
  } finally {
    signal.removeEventListener("abort", stop);
    if (!fold.isOver) stop();
  }
}

function contextOf({ systemPrompt, messages, tools }: ModelRequest): SimpleContext {
  return {
    systemPrompt,
    messages: [...messages],
    tools: tools.map(({ name, description, parameters }) => ({ name, description, parameters })),
  };
}

function optionsOf(request: ModelRequest): SimpleOptions {
  const { apiKey, headers, maxTokens, cacheRetention, sessionId, signal, onPayload, onResponse } = request;
  const { thinkingLevel } = request;
  return {
    ...(apiKey === undefined ? {} : { apiKey }),
    ...(headers === undefined ? {} : { headers }),
    ...(maxTokens === undefined ? {} : { maxTokens }),
    ...(thinkingLevel === "off" ? {} : { reasoning: thinkingLevel }),
    ...(cacheRetention === undefined ? {} : { cacheRetention }),
    ...(sessionId === undefined ? {} : { sessionId }),
    ...(onPayload ? { onPayload } : {}),
    ...(onResponse ? { onResponse } : {}),
    signal,
  };
}

interface Events {
  next(): Promise<IteratorResult<unknown, unknown>>;
  return?(): Promise<unknown>;
}

/** Of what can be iterated, at once or over time. Undefined for what only has a result. */
function iteratorOf(opened: unknown): Events | undefined {
  const given = opened as Partial<AsyncIterable<unknown> & Iterable<unknown>> | null | undefined;
  const iterator = given?.[Symbol.asyncIterator]?.() ?? given?.[Symbol.iterator]?.();
  if (!iterator) return undefined;
  return {
    next: async () => iterator.next(),
    return: async () => iterator.return?.(),
  };
}

/** The final message of an object that gives it by `result()`. */
async function resultOf(opened: unknown, { clock }: ModelRequest): Promise<AssistantMessage | undefined> {
  const result = (opened as { result?: unknown } | null | undefined)?.result;
  if (typeof result !== "function") return isMessage(opened) ? opened : undefined;
  let cancel = (): void => undefined;
  const tooLong = new Promise<undefined>((resolve) => {
    cancel = clock.after(RESULT_MS, () => resolve(undefined));
  });
  try {
    const message: unknown = await Promise.race([Reflect.apply(result, opened, []) as unknown, tooLong]);
    return isMessage(message) ? message : undefined;
  } finally {
    cancel();
  }
}

function isMessage(value: unknown): value is AssistantMessage {
  return isRecord(value) && Array.isArray(value.content);
}

function unfinished({ provider, id }: Model): string {
  return `The stream of ${provider}/${id} ended without a "done" or an "error" event`;
}

function toldError(error: unknown, signal: AbortSignal): ProviderError {
  if (signal.aborted) return new ProviderError("aborted", "Request was aborted");
  if (error instanceof ProviderError) return error;
  const text = error instanceof Error ? error.message : String(error);
  const said = text === "" ? "The provider failed without saying why" : text;
  return new ProviderError(kindOfText(said), said);
}
