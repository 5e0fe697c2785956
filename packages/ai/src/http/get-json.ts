import type { Clock } from "@tiller/protocol/clock";
import { cutWords } from "../cut-words.ts";
import { ProviderError } from "../errors.ts";
import type { HttpBody } from "./body.ts";
import { exchange } from "./exchange.ts";
import { failureIn } from "./request.ts";
import { parseEventObject } from "./sse.ts";

/** A small GET (or POST) for JSON over the same connections, proxy and certificates as the models: lists of models, checks. */

export interface JsonRequest {
  url: string;
  headers?: Readonly<Record<string, string>>;
  /** JSON; makes it a POST. */
  body?: string;
  clock: Clock;
  signal: AbortSignal;
  /** For the whole of it. Default 10 s. */
  timeoutMs?: number;
  /** Default 8 MB. */
  maxBytes?: number;
}

export interface JsonAnswer {
  status: number;
  /** An object or an array. */
  body: object;
}

const TIMEOUT_MS = 10_000;
const MAX_BYTES = 8 * 1024 * 1024;

/** Rejects with a ProviderError: no connection, a status that is no success (see its `status`), no JSON, too late, too much. */
export async function getJson(request: JsonRequest): Promise<JsonAnswer> {
  const { url, body, clock, signal, timeoutMs = TIMEOUT_MS, maxBytes = MAX_BYTES } = request;
  const deadline = new AbortController();
  const cancel = clock.after(timeoutMs, () => deadline.abort());
  try {
    const answer = await exchange({
      method: body === undefined ? "GET" : "POST",
      url,
      headers: {
        accept: "application/json",
        ...(body === undefined ? {} : { "content-type": "application/json" }),
        ...request.headers,
      },
      ...(body === undefined ? {} : { body: [body] }),
      clock,
      signal: AbortSignal.any([signal, deadline.signal]),
      timeouts: { connectMs: timeoutMs, firstByteMs: timeoutMs, idleMs: timeoutMs },
    });
    const { status } = answer;
    if (status < 200 || status > 299) throw await failureIn(answer, request);
    return { status, body: parse(url, await readWhole(answer.body, url, maxBytes)) };
  } catch (error) {
    if (!deadline.signal.aborted || signal.aborted) throw error;
    throw new ProviderError("stalled", `Timed out: ${url} did not answer within ${timeoutMs / 1000} s`);
  } finally {
    cancel();
  }
}

async function readWhole(body: HttpBody, url: string, maxBytes: number): Promise<string> {
  const pieces: Buffer[] = [];
  let size = 0;
  for (let piece = await body.next(); piece; piece = await body.next()) {
    pieces.push(piece);
    size += piece.length;
    if (size <= maxBytes) continue;
    body.destroy();
    throw new ProviderError("malformed", `The answer of ${url} is longer than ${maxBytes} bytes`);
  }
  return Buffer.concat(pieces).toString("utf8");
}

function parse(url: string, text: string): object {
  const value = parseEventObject(text);
  if (value) return value;
  const said = text.trim() === "" ? "an empty body" : `"${cutWords(text.trim(), 200)}"`;
  throw new ProviderError("malformed", `${url} answered with ${said} instead of JSON: check the base URL`);
}
