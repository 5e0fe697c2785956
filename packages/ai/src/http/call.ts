import type { Clock } from "@tiller/protocol/clock";
import { ProviderError } from "../errors.ts";
import type { AnswerHeaders } from "./answer-reader.ts";
import type { HttpBody } from "./body.ts";
import type { Payload } from "./payload.ts";
import type { ProxySettings } from "./proxy-settings.ts";

/** A request and its answer, as every transport sees them. */

export interface HttpTimeouts {
  connectMs: number;
  /** From the connection to the first line of the body: a model may think for minutes before it speaks. */
  firstByteMs: number;
  /** Between two lines of the body. Providers send keep-alive events and comments far more often. */
  idleMs: number;
}

export interface Exchange {
  method: "GET" | "POST";
  url: string;
  headers: Readonly<Record<string, string>>;
  body?: Payload;
  clock: Clock;
  signal: AbortSignal;
  timeouts: HttpTimeouts;
  /** What it does must not be done twice, so it is not sent again when a kept-alive connection breaks. */
  isOnce?: boolean;
}

/** A request whose address was read: the URL has no login any more, and the headers are all that are sent, in lower case. */
export interface Call extends Exchange {
  target: URL;
}

export interface Answer {
  status: number;
  statusText: string;
  headers: AnswerHeaders;
  body: HttpBody;
  /** The proxy it came through. */
  proxy?: ProxySettings;
}

export function abortedError(): ProviderError {
  return new ProviderError("aborted", "Request was aborted");
}

export function silence(host: string, what: string, ms: number): ProviderError {
  const kind = what === "a connection" ? "network" : "stalled";
  return new ProviderError(kind, `Timed out: waited ${ms / 1000} s for ${what} from ${host}`);
}
