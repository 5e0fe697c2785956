import { ProviderError } from "../../errors.ts";
import { createWatchdog } from "../../http/watchdog.ts";
import type { Delta, ModelRequest, StreamModel } from "../../provider.ts";
import { callOptions } from "./call-options.ts";
import { toldFailure } from "./failure.ts";
import { loadModel } from "./load.ts";
import { finishParts, initialParts, stepParts } from "./parts.ts";
import type { LanguageModel } from "./spec.ts";

/** Any language model of the AI SDK as one of ours. It does its own networking: here it is only asked and listened to. */

/** A model may think for minutes before it speaks. */
const DEFAULT_PATIENCE = { firstByteMs: 300_000, idleMs: 120_000 };

export const streamAiSdk: StreamModel = bridgeTo(loadModel);

export function bridgeTo(load: (request: ModelRequest) => Promise<LanguageModel>): StreamModel {
  return (request) => run(request, load);
}

async function* run(
  request: ModelRequest,
  load: (request: ModelRequest) => Promise<LanguageModel>,
): AsyncGenerator<readonly Delta[], void, undefined> {
  const { clock, model } = request;
  const call = watchCall(request);
  const state = initialParts(model.id);
  let cancel: (() => Promise<unknown>) | undefined;
  try {
    const target = await call.during(() => load(request));
    const { stream } = await call.during(() => target.doStream(callOptions(request, target, call.signal)));
    const reader = stream.getReader();
    cancel = () => reader.cancel();
    while (!state.ended) {
      const { done, value } = await call.during(() => reader.read());
      call.alive();
      const batch: Delta[] = [];
      if (done) finishParts(state, batch);
      else stepParts(state, value, clock.now(), batch);
      if (batch.length > 0) yield batch;
    }
  } catch (error) {
    yield [{ type: "error", error: call.failure() ?? toldFailure(error, clock.now()) }];
  } finally {
    call.end(state.ended);
    // Not awaited: a model that does not listen must not hold us up.
    cancel?.().catch(() => undefined);
  }
}

interface WatchedCall {
  /** Tells the model that nobody listens any more. */
  signal: AbortSignal;
  /** Waits, but not longer than the patience lasts or the user wants. */
  during<T>(work: () => PromiseLike<T>): Promise<T>;
  /** The model said something. */
  alive(): void;
  /** Why the wait was broken off, if it was. */
  failure(): ProviderError | undefined;
  end(isComplete: boolean): void;
}

function watchCall({ clock, signal, patience, model }: ModelRequest): WatchedCall {
  const { firstByteMs, idleMs } = patience ?? DEFAULT_PATIENCE;
  const controller = new AbortController();
  let failure: ProviderError | undefined;
  let breakOff: ((error: ProviderError) => void) | undefined;
  let hasSpoken = false;

  const fail = (error: ProviderError): void => {
    failure ??= error;
    controller.abort();
    breakOff?.(failure);
  };
  const onAbort = (): void => fail(new ProviderError("aborted", "Request was aborted"));
  const name = `${model.provider}/${model.id}`;
  const watchdog = createWatchdog(clock, (what, ms) =>
    fail(new ProviderError("stalled", `Timed out: waited ${ms / 1000} s for ${what} from ${name}`)),
  );
  watchdog.expect("an answer", firstByteMs);
  if (signal.aborted) onAbort();
  else signal.addEventListener("abort", onAbort, { once: true });

  return {
    signal: controller.signal,
    async during(work) {
      if (failure) throw failure;
      watchdog.wait();
      try {
        return await new Promise((resolve, reject) => {
          breakOff = reject;
          work().then(resolve, reject);
        });
      } finally {
        watchdog.rest();
      }
    },
    alive() {
      if (!hasSpoken) watchdog.expect("the next part", idleMs);
      hasSpoken = true;
      watchdog.alive();
    },
    failure: () => failure,
    end(isComplete) {
      watchdog.stop();
      signal.removeEventListener("abort", onAbort);
      if (!isComplete) controller.abort();
    },
  };
}
