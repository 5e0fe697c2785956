import type { Clock } from "@tiller/protocol/clock";
import { CUT } from "../cut-words.ts";
import { ProviderError } from "../errors.ts";
import type { HttpResponse } from "../provider.ts";
import type { HttpBody } from "./body.ts";
import type { Answer, HttpTimeouts } from "./call.ts";
import { proxyRefusal } from "./connection-failure.ts";
import { canDecode, encodingOf } from "./decode.ts";
import { exchange } from "./exchange.ts";
import { type FailedAnswer, failureOf, unexpectedAnswer } from "./failure.ts";
import type { Payload } from "./payload.ts";

/** One POST whose answer is a stream of events. */

export const DEFAULT_TIMEOUTS: HttpTimeouts = { connectMs: 30_000, firstByteMs: 300_000, idleMs: 120_000 };

export interface EventStreamRequest {
  url: string;
  headers: Readonly<Record<string, string>>;
  /** JSON. */
  body: Payload;
  clock: Clock;
  signal: AbortSignal;
  timeouts?: Partial<HttpTimeouts>;
  /** Called with the head of the answer, whatever it is, before its body is read. */
  onAnswer?(answer: HttpResponse): Promise<void>;
}

const ERROR_BODY_BYTES = 64 * 1024;
/** A status has said that it failed: its words are worth a moment, not the patience that an answer gets. */
const ERROR_BODY_MS = 5000;

/** Resolves when a success has begun to answer; rejects with a ProviderError for everything else. */
export async function postForEvents(request: EventStreamRequest): Promise<HttpBody> {
  const { url, body, clock, signal } = request;
  const answer = await exchange({
    method: "POST",
    url,
    headers: { "content-type": "application/json", accept: "text/event-stream", ...request.headers },
    body,
    clock,
    signal,
    timeouts: { ...DEFAULT_TIMEOUTS, ...request.timeouts },
  });
  if (request.onAnswer) await tellAnswer(answer, request.onAnswer);
  const { status, headers } = answer;
  const isStream = status >= 200 && status < 300 && !/json|html/i.test(headers["content-type"] ?? "");
  if (isStream && status !== 204 && headers["content-length"] !== "0" && canRead(answer)) return answer.body;
  throw await failureIn(answer, request);
}

/** A failure in there ends the request: nobody reads its body any more. */
async function tellAnswer({ status, headers, body }: Answer, onAnswer: (answer: HttpResponse) => Promise<void>) {
  const plain: Record<string, string> = {};
  for (const [name, value] of Object.entries(headers)) {
    if (value !== undefined) plain[name] = value;
  }
  try {
    await onAnswer({ status, headers: plain });
  } catch (error) {
    body.destroy();
    throw error;
  }
}

/** What an answer that is of no use says. Reads the beginning of its body and closes it. */
export async function failureIn(answer: Answer, request: { url: string; clock: Clock }): Promise<ProviderError> {
  const url = new URL(request.url);
  const { status, statusText, headers, proxy } = answer;
  if (!canRead(answer)) {
    answer.body.destroy();
    const text = `${url.host} answered with content-encoding ${encodingOf(headers)}, which was not asked for`;
    return new ProviderError("malformed", text, { status });
  }
  const failed: FailedAnswer = { status, statusText, headers, body: await readText(answer.body, request.clock) };
  if (status === 407 && proxy) return proxyRefusal(proxy, url, status, statusText);
  return status >= 200 && status < 300 ? unexpectedAnswer(url.host, failed) : failureOf(failed, request.clock.now());
}

function canRead({ headers }: Answer): boolean {
  const encoding = encodingOf(headers);
  return encoding === undefined || canDecode(encoding);
}

/** The beginning of an error's body. When the connection breaks or nothing more comes, what there is must do. */
async function readText(body: HttpBody, clock: Clock): Promise<string> {
  const pieces: Buffer[] = [];
  let size = 0;
  const cancel = clock.after(ERROR_BODY_MS, () => body.destroy());
  try {
    while (size < ERROR_BODY_BYTES) {
      const piece = await body.next().catch(keepAborts);
      if (!piece) break;
      pieces.push(piece);
      size += piece.length;
    }
  } finally {
    cancel();
  }
  const text = Buffer.concat(pieces).subarray(0, ERROR_BODY_BYTES).toString("utf8");
  if (size < ERROR_BODY_BYTES) return text;
  body.destroy();
  return text + CUT;
}

function keepAborts(error: unknown): undefined {
  if (error instanceof ProviderError && error.kind === "aborted") throw error;
  return undefined;
}
