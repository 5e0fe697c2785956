import { API_FAMILIES, type ApiFamilyName, isApiFamily } from "./api-families.ts";
import type { ApiFamily } from "./apis/api.ts";
import { streamOverHttp } from "./apis/over-http.ts";
import { ProviderError } from "./errors.ts";
import { speakerOf } from "./model-secrets.ts";
import { withPlainNames } from "./plain-names.ts";
import type { Delta, DeltaStream, ModelRequest, StreamModel } from "./provider.ts";
import { redactError, redactResponse } from "./redact.ts";

/** How each API family is loaded, when a model of it is first asked. Nothing of a family is loaded at start. */
const FAMILIES: Readonly<Record<ApiFamilyName, () => Promise<StreamModel>>> = {
  "anthropic-messages": async () => overHttp((await import("./apis/anthropic-messages/family.ts")).anthropicMessages),
  "openai-completions": async () => overHttp((await import("./apis/openai-chat/family.ts")).openaiChat),
  "openai-responses": loadOpenaiResponses,
  "azure-openai-responses": loadOpenaiResponses,
  "google-generative-ai": async () => overHttp((await import("./apis/google/family.ts")).googleGenerativeAi),
  "ai-sdk": async () => withPlainNames((await import("./apis/ai-sdk/bridge.ts")).streamAiSdk),
  offline: async () => (await import("./providers/offline.ts")).streamOffline,
  script: async () => (await import("./providers/script.ts")).streamScript,
};

function overHttp<State>(family: ApiFamily<State>): StreamModel {
  return withPlainNames(streamOverHttp(family));
}

async function loadOpenaiResponses(): Promise<StreamModel> {
  return overHttp((await import("./apis/openai-responses/family.ts")).openaiResponses);
}

/**
 * Asks a model. Never throws, and ends with exactly one `done` or `error`, whatever the provider does. An abort ends the
 * stream at once, even when the provider does not listen to it.
 */
export function streamAssistant(request: ModelRequest): DeltaStream {
  return guardStream(
    () => openStream(request),
    request.signal,
    {
      error: (error) => redactError(error, request),
      response: (delta) => redactResponse(delta, request, request.model.id),
    },
    !endsByItself(request),
  );
}

const OVER_HTTP: ReadonlySet<string> = new Set<ApiFamilyName>([
  "anthropic-messages",
  "openai-completions",
  "openai-responses",
  "azure-openai-responses",
  "google-generative-ai",
]);

/** Our own requests listen to an abort; of all others, and of those who look at a request, nobody knows. */
function endsByItself({ model, onPayload, onResponse, onEvent }: ModelRequest): boolean {
  return OVER_HTTP.has(model.api) && !speakerOf(model) && !onPayload && !onResponse && !onEvent;
}

async function openStream(request: ModelRequest): Promise<DeltaStream> {
  const { model } = request;
  const speaker = speakerOf(model);
  if (speaker) return speaker(request);
  if (!isApiFamily(model.api)) {
    const known = API_FAMILIES.join(", ");
    throw new ProviderError(
      "bad_request",
      `Model ${model.provider}/${model.id} uses the API family "${model.api}", which this version does not speak. Known families: ${known}.`,
    );
  }
  return (await familyOf(model.api))(request);
}

const loaded = new Map<ApiFamilyName, Promise<StreamModel>>();

/** A failure is not kept: the next request may find what was missing. */
function familyOf(name: ApiFamilyName): Promise<StreamModel> {
  const known = loaded.get(name);
  if (known) return known;
  const loading = FAMILIES[name]();
  loaded.set(name, loading);
  loading.catch(() => loaded.delete(name));
  return loading;
}

/** What is done to an error, and to what a server says of its answer, before anybody sees it. */
interface Clean {
  error?(error: ProviderError): ProviderError;
  response?(delta: Delta): Delta;
}

/** The guarantees of `streamAssistant` around any stream. The cost is per batch, and one look at the kind of a delta. */
export function guardStream(
  open: () => Promise<DeltaStream>,
  signal: AbortSignal,
  clean: Clean = {},
  watches = true,
): DeltaStream {
  return { [Symbol.asyncIterator]: () => guardedIterator(open, signal, clean, watches) };
}

type Batch = IteratorResult<readonly Delta[], undefined>;

function guardedIterator(
  open: () => Promise<DeltaStream>,
  signal: AbortSignal,
  clean: Clean,
  watches: boolean,
): AsyncIterator<readonly Delta[]> {
  let source: AsyncIterator<readonly Delta[]> | undefined;
  let over = false;
  /** Answers the `next` that waits, if one does. */
  let waiting: ((batch: Batch) => void) | undefined;

  const cleaned = (error: ProviderError): ProviderError => clean.error?.(error) ?? error;
  const end = (): void => {
    over = true;
    if (watches) signal.removeEventListener("abort", onAbort);
    // Not awaited: a provider that does not end must not hold us up.
    source?.return?.().catch(() => undefined);
  };
  const answer = (batch: Batch): void => {
    const settle = waiting;
    waiting = undefined;
    settle?.(batch);
  };
  const failWith = (error: ProviderError): Batch => {
    end();
    return { done: false, value: [{ type: "error", error }] };
  };
  const onAbort = (): void => {
    if (waiting) answer(failWith(abortedError()));
  };
  const received = (result: IteratorResult<readonly Delta[], unknown>): void => {
    if (!waiting || over) return;
    if (result.done) {
      answer(failWith(endedEarly()));
      return;
    }
    const last = result.value.at(-1);
    if (isTerminal(last)) end();
    const { response } = clean;
    const value = response && result.value.some(isResponse) ? result.value.map(response) : result.value;
    if (last?.type !== "error") answer({ done: false, value });
    else answer({ done: false, value: [...value.slice(0, -1), { ...last, error: cleaned(last.error) }] });
  };
  const failed = (error: unknown): void => {
    if (waiting && !over) answer(failWith(cleaned(toProviderError(error))));
  };
  const opened = async (): Promise<AsyncIterator<readonly Delta[]>> => {
    const iterator = (await open())[Symbol.asyncIterator]();
    if (over) iterator.return?.().catch(() => undefined);
    source = iterator;
    return iterator;
  };
  const pull = (): void => {
    if (source) source.next().then(received, failed);
    else opened().then((iterator) => (over ? undefined : iterator.next().then(received, failed)), failed);
  };

  // To listen costs, and the request need not wait for it: an abort that comes before is seen then.
  const watch = (): void => {
    if (over) return;
    if (signal.aborted) onAbort();
    else signal.addEventListener("abort", onAbort, { once: true });
  };
  if (watches) setImmediate(watch);
  return {
    next() {
      if (over) return Promise.resolve({ done: true, value: undefined });
      if (signal.aborted) return Promise.resolve(failWith(abortedError()));
      return new Promise<Batch>((resolve) => {
        waiting = resolve;
        pull();
      });
    },
    return() {
      end();
      return Promise.resolve({ done: true, value: undefined });
    },
  };
}

function isResponse(delta: Delta): boolean {
  return delta.type === "response";
}

function isTerminal(delta: Delta | undefined): boolean {
  return delta !== undefined && (delta.type === "done" || delta.type === "error");
}

function abortedError(): ProviderError {
  return new ProviderError("aborted", "Request was aborted");
}

function endedEarly(): ProviderError {
  return new ProviderError("malformed", "The model's stream ended without saying that it was done");
}

function toProviderError(error: unknown): ProviderError {
  if (error instanceof ProviderError) return error;
  const text = error instanceof Error ? error.message : String(error);
  return new ProviderError("malformed", `The provider failed unexpectedly: ${text}`, { cause: error });
}
