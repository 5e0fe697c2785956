import { ProviderError } from "./errors.ts";
import type { Delta, DeltaStream, ModelRequest, StreamModel } from "./provider.ts";

/** How each API family is loaded, when a model of it is first asked. Nothing of a family is loaded at start. */
const FAMILIES: Readonly<Record<string, () => Promise<StreamModel>>> = {
  "anthropic-messages": async () => {
    const [{ streamOverHttp }, { anthropicMessages }] = await Promise.all([
      import("./apis/over-http.ts"),
      import("./apis/anthropic-messages/family.ts"),
    ]);
    return streamOverHttp(anthropicMessages);
  },
  offline: async () => (await import("./providers/offline.ts")).streamOffline,
  script: async () => (await import("./providers/script.ts")).streamScript,
};

export const API_FAMILIES: readonly string[] = Object.keys(FAMILIES);

/**
 * Asks a model. Never throws, and ends with exactly one `done` or `error`, whatever the provider does. An abort ends the
 * stream at once, even when the provider does not listen to it.
 */
export function streamAssistant(request: ModelRequest): DeltaStream {
  return guardStream(() => openStream(request), request.signal);
}

async function openStream(request: ModelRequest): Promise<DeltaStream> {
  const { model } = request;
  const load = Object.hasOwn(FAMILIES, model.api) ? FAMILIES[model.api] : undefined;
  if (!load) {
    const known = API_FAMILIES.join(", ");
    throw new ProviderError(
      "bad_request",
      `Model ${model.provider}/${model.id} uses the API family "${model.api}", which this version does not speak. Known families: ${known}.`,
    );
  }
  return (await load())(request);
}

/** The guarantees of `streamAssistant` around any stream. The cost is per batch, never per delta. */
export function guardStream(open: () => Promise<DeltaStream>, signal: AbortSignal): DeltaStream {
  return { [Symbol.asyncIterator]: () => guardedIterator(open, signal) };
}

type Batch = IteratorResult<readonly Delta[], undefined>;

function guardedIterator(open: () => Promise<DeltaStream>, signal: AbortSignal): AsyncIterator<readonly Delta[]> {
  let source: AsyncIterator<readonly Delta[]> | undefined;
  let over = false;
  /** Answers the `next` that waits, if one does. */
  let waiting: ((batch: Batch) => void) | undefined;

  const end = (): void => {
    over = true;
    signal.removeEventListener("abort", onAbort);
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
    if (isTerminal(result.value.at(-1))) end();
    answer({ done: false, value: result.value });
  };
  const failed = (error: unknown): void => {
    if (waiting && !over) answer(failWith(toProviderError(error)));
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

  signal.addEventListener("abort", onAbort, { once: true });
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
