import { ProviderError } from "../errors.ts";
import { type HttpBody, LINE_END, RUN_OUT_MS } from "./body.ts";
import { type Answer, abortedError, type Call, silence } from "./call.ts";
import { certificatesKey, trustedCertificates } from "./certificates.ts";
import { connectionFailure, proxyRefusal, proxyUnreachable } from "./connection-failure.ts";
import type { TransportEnvironment } from "./environment.ts";
import { joinedPayload } from "./payload.ts";
import { type ProxySettings, proxyFor } from "./proxy-settings.ts";
import { createWatchdog, type Watchdog } from "./watchdog.ts";

/**
 * The same exchange by `fetch`, for Bun, whose own is faster than its copies of Node's modules. It decompresses, keeps
 * connections and goes through proxies itself; the connection is not a phase of its own here.
 */

export type Fetch = typeof globalThis.fetch;

/** What Bun's fetch understands beyond the standard. */
interface BunInit extends RequestInit {
  proxy?: string;
  tls?: { ca: string[] };
  /** Bun gives up a silent connection after five minutes by itself; here the watchdog does. */
  timeout?: false;
  decompress?: boolean;
}

interface Connection {
  host: string;
  call: Call;
  watchdog: Watchdog;
  aborter: AbortController;
  /** Why it was ended by us. */
  failure(): ProviderError | undefined;
  /** Called when nothing more will come. */
  close(): void;
}

export async function exchangeByFetch(call: Call, env: TransportEnvironment, fetch: Fetch): Promise<Answer> {
  const proxy = proxyFor(call.target, env);
  const init = initOf(call, proxy, env);
  const connection = connect(call);
  const options = { ...init, signal: connection.aborter.signal };
  const send = (): Promise<Response> => Reflect.apply(fetch, undefined, [call.target, options]);
  const response = await send().catch((error: unknown) => {
    connection.close();
    throw connection.failure() ?? unreachable(call.target, asError(error), proxy);
  });
  connection.watchdog.rest();
  const { status, statusText } = response;
  return { status, statusText, headers: headersOf(response), body: fetchedBody(response, connection), proxy };
}

/** Bun tells only in words that it was the proxy that refused or was not there. */
function unreachable(target: URL, error: Error, proxy: ProxySettings | undefined): ProviderError {
  if (!proxy) return connectionFailure(target, error);
  const [, status, words = ""] = /\btunnel: (\d{3}) ?(.*)$/.exec(error.message) ?? [];
  if (status !== undefined) return proxyRefusal(proxy, target, Number(status), words);
  const isProxy = /ECONNREFUSED|ConnectionRefused|ENOTFOUND/.test(`${Reflect.get(error, "code")} ${error.message}`);
  return isProxy ? proxyUnreachable(proxy, error) : connectionFailure(target, error, proxy);
}

function initOf(call: Call, proxy: ProxySettings | undefined, env: TransportEnvironment): BunInit {
  const usesTls = call.target.protocol === "https:" || proxy?.url.protocol === "https:";
  return {
    method: call.method,
    headers: withoutLength(call.headers),
    ...(call.body ? { body: joinedPayload(call.body) } : {}),
    redirect: "manual",
    timeout: false,
    ...(proxy ? { proxy: proxy.url.href } : {}),
    ...(usesTls && certificatesKey(env) !== "" ? { tls: { ca: trustedCertificates(env) } } : {}),
  };
}

/** `fetch` counts the bytes itself. */
function withoutLength({ "content-length": _, ...headers }: Call["headers"]): Call["headers"] {
  return headers;
}

function connect(call: Call): Connection {
  const { clock, signal, timeouts, target } = call;
  const aborter = new AbortController();
  let failure: ProviderError | undefined;
  const fail = (error: ProviderError): void => {
    failure ??= error;
    aborter.abort(error);
  };
  const onAbort = (): void => fail(abortedError());
  const watchdog = createWatchdog(clock, (what, ms) => fail(silence(target.host, what, ms)));
  if (signal.aborted) onAbort();
  else signal.addEventListener("abort", onAbort, { once: true });
  watchdog.expect("an answer", timeouts.firstByteMs);
  return {
    host: target.host,
    call,
    watchdog,
    aborter,
    failure: () => failure,
    close() {
      watchdog.stop();
      signal.removeEventListener("abort", onAbort);
    },
  };
}

function fetchedBody(response: Response, connection: Connection): HttpBody {
  const { watchdog, call, host } = connection;
  const reader = response.body?.getReader();
  let over = reader === undefined;
  let spoke = false;
  if (over) connection.close();

  const note = (piece: Uint8Array): void => {
    if (!piece.includes(LINE_END)) watchdog.rest();
    else if (spoke) watchdog.alive();
    else {
      spoke = true;
      watchdog.expect("the next piece", call.timeouts.idleMs);
      watchdog.alive();
    }
  };
  const finish = (): void => {
    over = true;
    connection.close();
  };
  const drop = (): void => {
    connection.aborter.abort();
    reader?.cancel().catch(() => {
      // It was closed already: that is what is wanted.
    });
  };
  return {
    async next() {
      if (over) return endOf(connection);
      watchdog.wait();
      try {
        const { done, value } = await reader!.read();
        if (value) note(value);
        if (!done) return Buffer.from(value.buffer, value.byteOffset, value.byteLength);
        finish();
        return endOf(connection);
      } catch (error) {
        finish();
        throw connection.failure() ?? lost(host, asError(error));
      }
    },
    release() {
      if (over) return;
      finish();
      const cancel = call.clock.after(RUN_OUT_MS, drop);
      runOut(reader!).then(cancel, cancel);
    },
    destroy() {
      if (over) return;
      finish();
      drop();
    },
  };
}

function endOf(connection: Connection): undefined {
  const failure = connection.failure();
  if (failure) throw failure;
  return undefined;
}

async function runOut(reader: ReadableStreamDefaultReader<Uint8Array>): Promise<void> {
  for (let piece = await reader.read(); !piece.done; ) piece = await reader.read();
}

function lost(host: string, cause: Error): ProviderError {
  const why = cause.cause instanceof Error ? cause.cause.message : cause.message;
  return new ProviderError("network", `Connection lost: ${host} closed the stream early (${why})`, { cause });
}

/** `content-encoding` is left out: `fetch` has decoded the body. */
function headersOf(response: Response): Record<string, string> {
  const headers: Record<string, string> = {};
  response.headers.forEach((value, name) => {
    if (name !== "content-encoding") headers[name] = value;
  });
  return headers;
}

function asError(error: unknown): Error {
  return error instanceof Error ? error : new Error(String(error));
}
