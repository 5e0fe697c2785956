import type { Agent, ClientRequest, IncomingMessage, RequestOptions } from "node:http";
import type { Clock } from "@tiller/protocol/clock";
import { ProviderError } from "../errors.ts";
import { type HttpBody, type OpenBody, openBody } from "./body.ts";
import { type FailedAnswer, failureOf, wordsOf } from "./failure.ts";
import { createWatchdog, type Watchdog } from "./watchdog.ts";

/** The only way to the network: one POST whose answer is a stream of events. */

export interface HttpTimeouts {
  connectMs: number;
  /** From the connection to the first byte of the body: a model may think for minutes before it speaks. */
  firstByteMs: number;
  /** Between two pieces of the body. Providers send keep-alive events far more often. */
  idleMs: number;
}

export const DEFAULT_TIMEOUTS: HttpTimeouts = { connectMs: 30_000, firstByteMs: 300_000, idleMs: 120_000 };

export interface EventStreamRequest {
  url: string;
  headers: Readonly<Record<string, string>>;
  /** JSON. */
  body: string;
  clock: Clock;
  signal: AbortSignal;
  timeouts?: Partial<HttpTimeouts>;
}

const ERROR_BODY_BYTES = 64 * 1024;
const STALE_CONNECTION = new Set(["ECONNRESET", "EPIPE"]);

/** Resolves when a success has begun to answer; rejects with a ProviderError for everything else. */
export function postForEvents(request: EventStreamRequest): Promise<HttpBody> {
  const url = URL.canParse(request.url) ? new URL(request.url) : undefined;
  if (!url || !Object.hasOwn(SCHEMES, url.protocol)) {
    const text = `Cannot send a request to "${request.url}": the base URL must begin with http:// or https://`;
    return Promise.reject(new ProviderError("bad_request", text));
  }
  if (request.signal.aborted) return Promise.reject(abortedError());
  return attempt(request, url, true);
}

function attempt(request: EventStreamRequest, url: URL, mayRetryStale: boolean): Promise<HttpBody> {
  return new Promise((resolve, reject) => {
    const { clock, signal } = request;
    const timeouts = { ...DEFAULT_TIMEOUTS, ...request.timeouts };
    const bytes = Buffer.from(request.body);
    const call = send(url, request.headers, bytes.length);
    let body: OpenBody | undefined;
    let failed = false;

    const fail = (error: ProviderError): void => {
      if (body) {
        body.fail(error);
        return;
      }
      failed = true;
      settled();
      call.destroy();
      reject(error);
    };
    const onAbort = (): void => fail(abortedError());
    const watchdog = createWatchdog(
      clock,
      () => !body || body.isWaiting(),
      (what, ms) => fail(silence(url.host, what, ms)),
    );
    const settled = (): void => {
      watchdog.stop();
      signal.removeEventListener("abort", onAbort);
    };

    signal.addEventListener("abort", onAbort, { once: true });
    watchConnection(call, url, watchdog, timeouts);
    call.once("response", (response) => {
      body = openBody(response, { host: url.host, clock, watchdog, idleMs: timeouts.idleMs, onOver: settled });
      checkAnswer(response, body, url.host, clock).then(resolve, reject);
    });
    call.on("error", (error: NodeJS.ErrnoException) => {
      if (body || failed) return;
      settled();
      if (mayRetryStale && call.reusedSocket && STALE_CONNECTION.has(error.code ?? "")) {
        attempt(request, url, false).then(resolve, reject);
      } else reject(unreachable(url, error));
    });
    call.end(bytes);
  });
}

/** Two phases before the body: the connection, then the first byte. A kept-alive connection skips the first. */
function watchConnection(call: ClientRequest, url: URL, watchdog: Watchdog, timeouts: HttpTimeouts): void {
  const connected = (): void => watchdog.expect("an answer", timeouts.firstByteMs);
  watchdog.expect("a connection", timeouts.connectMs);
  call.once("socket", (socket) => {
    if (socket.connecting) socket.once(url.protocol === "https:" ? "secureConnect" : "connect", connected);
    else connected();
  });
}

async function checkAnswer(response: IncomingMessage, body: HttpBody, host: string, clock: Clock): Promise<HttpBody> {
  const status = response.statusCode ?? 0;
  const type = response.headers["content-type"] ?? "";
  const isSuccess = status >= 200 && status < 300;
  if (isSuccess && !/json|html/i.test(type)) return body;
  const answer: FailedAnswer = {
    status,
    statusText: response.statusMessage ?? "",
    headers: response.headers,
    body: await readText(body),
  };
  if (!isSuccess) throw failureOf(answer, clock.now());
  throw new ProviderError("malformed", `${host} answered with ${type} instead of an event stream: ${wordsOf(answer)}`);
}

/** The beginning of an error's body. When the connection breaks meanwhile, what there is must do. */
async function readText(body: HttpBody): Promise<string> {
  const pieces: Buffer[] = [];
  let size = 0;
  while (size < ERROR_BODY_BYTES) {
    const piece = await body.next().catch(keepAborts);
    if (!piece) return Buffer.concat(pieces).toString("utf8");
    pieces.push(piece);
    size += piece.length;
  }
  body.destroy();
  return Buffer.concat(pieces).subarray(0, ERROR_BODY_BYTES).toString("utf8");
}

function keepAborts(error: unknown): undefined {
  if (error instanceof ProviderError && error.kind === "aborted") throw error;
  return undefined;
}

type Sender = { request(url: URL, options: RequestOptions): ClientRequest; agent: Agent };

/** Loaded with the first request: `node:http` costs more than the rest of a start together. */
const SCHEMES: Readonly<Record<string, () => Sender>> = {
  "http:": once(() => {
    const http = process.getBuiltinModule("node:http");
    return { request: http.request, agent: new http.Agent({ keepAlive: true }) };
  }),
  "https:": once(() => {
    const https = process.getBuiltinModule("node:https");
    return { request: https.request, agent: new https.Agent({ keepAlive: true }) };
  }),
};

function send(url: URL, headers: Readonly<Record<string, string>>, length: number): ClientRequest {
  const { request, agent } = SCHEMES[url.protocol]!();
  return request(url, {
    method: "POST",
    agent,
    headers: {
      "content-type": "application/json",
      accept: "text/event-stream",
      "accept-encoding": "identity",
      ...headers,
      "content-length": length,
    },
  });
}

function once<T>(make: () => T): () => T {
  let made: T | undefined;
  return () => {
    made ??= make();
    return made;
  };
}

function abortedError(): ProviderError {
  return new ProviderError("aborted", "Request was aborted");
}

function silence(host: string, what: string, ms: number): ProviderError {
  const kind = what === "a connection" ? "network" : "stalled";
  return new ProviderError(kind, `Timed out: waited ${ms / 1000} s for ${what} from ${host}`);
}

function unreachable(url: URL, error: Error): ProviderError {
  return new ProviderError("network", `Connection error: cannot reach ${url.origin} (${error.message || error.name})`, {
    cause: error,
  });
}
