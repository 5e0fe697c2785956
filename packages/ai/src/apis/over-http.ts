import { ProviderError } from "../errors.ts";
import type { HttpBody } from "../http/body.ts";
import { type HttpTimeouts, postForEvents } from "../http/request.ts";
import { createSseDecoder } from "../http/sse.ts";
import type { Delta, ModelRequest, StreamModel } from "../provider.ts";
import type { ApiFamily } from "./api.ts";

/** A model behind HTTP: sends the request of an API family and folds its events, one batch for each piece that arrives. */
export function streamOverHttp<State>(family: ApiFamily<State>, timeouts?: Partial<HttpTimeouts>): StreamModel {
  return (request) => run(family, request, timeouts);
}

async function* run<State>(
  family: ApiFamily<State>,
  request: ModelRequest,
  timeouts?: Partial<HttpTimeouts>,
): AsyncGenerator<readonly Delta[], void, undefined> {
  let body: HttpBody | undefined;
  let complete = false;
  try {
    const { clock, signal, patience } = request;
    body = await postForEvents({
      ...family.buildRequest(request),
      clock,
      signal,
      timeouts: { ...timeouts, ...patience },
    });
    const decoder = createSseDecoder();
    const state = family.initial();
    for (let ended = false; !ended && !complete; ) {
      const piece = await body.next();
      const batch: Delta[] = [];
      for (const data of piece ? decoder.push(piece) : decoder.end()) family.step(state, data, batch);
      if (!piece) {
        ended = true;
        family.finish(state, batch);
      }
      complete = isTerminal(batch.at(-1));
      if (batch.length > 0) yield batch;
    }
  } catch (error) {
    yield [{ type: "error", error: asProviderError(error, request) }];
  } finally {
    if (complete) body?.release();
    else body?.destroy();
  }
}

function isTerminal(delta: Delta | undefined): boolean {
  return delta !== undefined && (delta.type === "done" || delta.type === "error");
}

function asProviderError(error: unknown, request: ModelRequest): ProviderError {
  if (error instanceof ProviderError) return error;
  const { provider, id } = request.model;
  const text = error instanceof Error ? error.message : String(error);
  return new ProviderError("malformed", `The request to ${provider}/${id} failed unexpectedly: ${text}`, {
    cause: error,
  });
}
