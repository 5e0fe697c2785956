import type { ProviderError } from "../errors.ts";
import type { Payload } from "../http/payload.ts";
import type { Delta, ModelRequest } from "../provider.ts";
import type { Lesson } from "./lessons.ts";

/** What goes over the wire for one request. */
export interface HttpCall {
  url: string;
  headers: Record<string, string>;
  /** JSON. */
  body: Payload;
}

/**
 * One wire format. Everything in it is pure: no waiting, no time, no chance; `step` and `finish` change nothing but the
 * state and the list they are given. `buildRequest` may remember what it made, which changes nothing but its speed.
 */
export interface ApiFamily<State> {
  buildRequest(request: ModelRequest): HttpCall;
  /** The request was refused before a word was said: how the model has to be asked instead, if the refusal tells that. */
  learnFrom?(refusal: ProviderError, request: ModelRequest): Lesson | undefined;
  initial(): State;
  /** The data of one event of the stream; adds what it means to `out`. After a `done` or `error` it adds nothing more. */
  step(state: State, data: string, out: Delta[]): void;
  /** The stream has ended. Adds an error when it ended too early. */
  finish(state: State, out: Delta[]): void;
}
