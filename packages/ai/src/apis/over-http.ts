import { cutWords } from "../cut-words.ts";
import { ProviderError, type ProviderErrorKind } from "../errors.ts";
import type { HttpBody } from "../http/body.ts";
import type { HttpTimeouts } from "../http/call.ts";
import { emptyAnswer, toldFailure } from "../http/failure.ts";
import { parsedPayload, parsedText } from "../http/payload.ts";
import { postForEvents } from "../http/request.ts";
import { createSseDecoder } from "../http/sse.ts";
import type { Delta, HttpResponse, ModelRequest, StreamModel } from "../provider.ts";
import type { ApiFamily, HttpCall } from "./api.ts";
import { createLessons, taught } from "./lessons.ts";
import { wellFormed } from "./wire-values.ts";

/** A model behind HTTP: sends the request of an API family and folds its events, one batch for each piece that arrives. */
export function streamOverHttp<State>(family: ApiFamily<State>, timeouts?: Partial<HttpTimeouts>): StreamModel {
  return (request) => run(family, request, timeouts);
}

/** What is made of a piece is in memory all at once, many times its size: a burst is worked off in parts. */
const BATCH_BYTES = 8 * 1024;
/** The first words do not wait for those that came with them. */
const FIRST_BATCH_BYTES = 1024;
/** In characters of all events. A family holds what cannot be told yet: signatures, calls without a name. */
const LONGEST_STREAM = 256 * 1024 * 1024;

const TOO_LONG = `The server sent an answer of more than ${LONGEST_STREAM} characters, most of which say nothing`;

async function* run<State>(
  family: ApiFamily<State>,
  request: ModelRequest,
  timeouts?: Partial<HttpTimeouts>,
): AsyncGenerator<readonly Delta[], void, undefined> {
  let body: HttpBody | undefined;
  let complete = false;
  try {
    const opened = await ask(family, request, timeouts);
    body = opened.body;
    const decoder = createSseDecoder();
    const state = family.initial();
    /** What came before the first event. */
    let opening: Buffer | undefined = Buffer.alloc(0);
    let arrived: Buffer | undefined = Buffer.alloc(0);
    let most = FIRST_BATCH_BYTES;
    let length = 0;
    for (let ended = false; !ended && !complete; ) {
      if (arrived?.length === 0) arrived = await body.next();
      const piece = arrived?.subarray(0, most);
      arrived = arrived?.subarray(most);
      most = BATCH_BYTES;
      const batch: Delta[] = [];
      const events = piece ? decoder.push(piece) : decoder.end();
      if (events.length > 0) opening = undefined;
      else if (opening && piece) opening = firstBytes(opening, piece);
      if (request.onEvent) await showEvents(events, request);
      for (const data of events) {
        length += data.length;
        family.step(state, data, batch);
      }
      if (length > LONGEST_STREAM) throw new ProviderError("bad_request", TOO_LONG);
      if (!piece) {
        ended = true;
        if (opening) checkOpening(opening, opened.call);
        family.finish(state, batch);
      }
      complete = isTerminal(batch.at(-1));
      if (batch.length > 0) yield batch;
    }
  } catch (error) {
    // What fails before there is an answer is our own request: the same again would fail again.
    yield [{ type: "error", error: asProviderError(error, request, body ? "malformed" : "bad_request") }];
  } finally {
    if (complete) body?.release();
    else body?.destroy();
  }
}

async function showEvents(events: readonly string[], { onEvent, model }: ModelRequest): Promise<void> {
  for (const data of events) await onEvent?.(parsedText(data), model);
}

interface Opened {
  call: HttpCall;
  body: HttpBody;
}

const lessons = createLessons();

/** A refusal that tells how to ask instead is taken at its word, once. */
async function ask<State>(
  family: ApiFamily<State>,
  request: ModelRequest,
  timeouts?: Partial<HttpTimeouts>,
): Promise<Opened> {
  const known = lessons.applied(request);
  try {
    return await send(family, known, timeouts);
  } catch (error) {
    const lesson = error instanceof ProviderError ? family.learnFrom?.(error, known) : undefined;
    if (!lesson) throw error;
    lessons.remember(lesson, request);
    return await send(family, { ...known, model: taught(known.model, lesson) }, timeouts);
  }
}

async function send<State>(
  family: ApiFamily<State>,
  request: ModelRequest,
  timeouts?: Partial<HttpTimeouts>,
): Promise<Opened> {
  const { clock, signal, patience, model, onPayload, onResponse } = request;
  const built = family.buildRequest(request);
  const call = onPayload ? await withSeenPayload(built, (payload) => onPayload(payload, model)) : built;
  const onAnswer = onResponse && ((answer: HttpResponse) => onResponse(answer, model));
  return {
    call,
    body: await postForEvents({ ...call, clock, signal, timeouts: { ...timeouts, ...patience }, onAnswer }),
  };
}

/** Somebody looks at what is sent, and may send something else. */
async function withSeenPayload(call: HttpCall, see: (payload: unknown) => Promise<unknown>): Promise<HttpCall> {
  const seen = await see(parsedPayload(call.body));
  if (seen === undefined) return call;
  // A function, for one, has no JSON, whatever the types say.
  const text = JSON.stringify(seen) as string | undefined;
  if (text !== undefined) return { ...call, body: [wellFormed(text)] };
  throw new ProviderError("bad_request", "The payload that was given instead of the request's own is not JSON");
}

/** As much as an error that is no event may have to say. */
const OPENING_BYTES = 8 * 1024;
const QUOTED_LENGTH = 400;

function firstBytes(opening: Buffer, piece: Buffer): Buffer {
  return opening.length >= OPENING_BYTES ? opening : Buffer.concat([opening, piece]).subarray(0, OPENING_BYTES);
}

/** The stream ended without a single event: says what there was instead, unless it is the beginning of an event. */
function checkOpening(opening: Buffer, call: HttpCall): void {
  const host = new URL(call.url).host;
  const text = opening.toString("utf8").trim();
  if (text === "") throw new ProviderError("malformed", emptyAnswer(host));
  const told = toldFailure(text);
  if (told) throw told;
  if (!/^(:|data|event|id|retry)/.test(text) && text.length > "event".length) {
    throw new ProviderError("malformed", `${host} sent no event stream, but: ${cutWords(text, QUOTED_LENGTH)}`);
  }
}

function isTerminal(delta: Delta | undefined): boolean {
  return delta !== undefined && (delta.type === "done" || delta.type === "error");
}

function asProviderError(error: unknown, request: ModelRequest, kind: ProviderErrorKind): ProviderError {
  if (error instanceof ProviderError) return error;
  const { provider, id } = request.model;
  const text = error instanceof Error ? error.message : String(error);
  return new ProviderError(kind, `The request to ${provider}/${id} failed unexpectedly: ${text}`, {
    cause: error,
  });
}
