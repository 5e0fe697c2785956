import { ProviderError } from "../errors.ts";
import { lastMade } from "../last-made.ts";
import { basicAuthorization } from "../url-login.ts";
import { type OpenBody, openBody } from "./body.ts";
import { type Answer, abortedError, type Call, type Exchange, silence } from "./call.ts";
import type { Connection } from "./connection.ts";
import { connectionFailure, proxyUnreachable } from "./connection-failure.ts";
import type { Route } from "./direct-route.ts";
import { transportEnvironment } from "./environment.ts";
import { canReach, routeTo } from "./find-route.ts";
import { payloadBytes } from "./payload.ts";
import type { ProxySettings } from "./proxy-settings.ts";
import { requestHead } from "./request-head.ts";
import { standsBetween } from "./traffic.ts";
import { createWatchdog } from "./watchdog.ts";

/** One request and the beginning of its answer, whatever that is. The only way to the network. */

const STALE_CONNECTION = new Set(["ECONNRESET", "EPIPE"]);
/** The one place that asks. Bun's own fetch is faster there than what we would do over its copy of `node:net`. */
const RUNS_ON_BUN = "bun" in process.versions;

/** Rejects with a ProviderError when there is no answer. */
export function exchange(request: Exchange): Promise<Answer> {
  // Who stands between hears of an abort that is still to come.
  if (request.signal.aborted) return Promise.reject(abortedError());
  const between = standsBetween();
  return between ? between(request, send) : send(request);
}

async function send(request: Exchange): Promise<Answer> {
  const address = addressIn(request.url);
  if (!address || !canReach(address.target.protocol)) {
    const text = `Cannot send a request to "${request.url}": the base URL must begin with http:// or https://`;
    throw new ProviderError("bad_request", text);
  }
  checkHeaders(request.headers);
  if (request.signal.aborted) throw abortedError();
  const { target, login } = address;
  const call: Call = { ...request, target, headers: headersToSend(request, login) };
  const env = transportEnvironment();
  if (RUNS_ON_BUN) return (await import("./bun-fetch.ts")).exchangeByFetch(call, env, globalThis.fetch);
  const found = routeTo(target, env);
  const route = found instanceof Promise ? await found : found;
  if (request.signal.aborted) throw abortedError();
  return attempt(call, route);
}

/** A login in a URL is one in a header, which every transport sends; not every one takes it in a URL. */
const addressIn = lastMade((url: string): { target: URL; login?: string } | undefined => {
  if (!URL.canParse(url)) return undefined;
  const target = new URL(url);
  if (target.username + target.password === "") return { target };
  const login = basicAuthorization(target);
  target.username = target.password = "";
  return { target, login };
});

/** As in RFC 9110. What is not allowed would be refused with a name that says nothing, or cut the request in two. */
const HEADER_NAME = /^[\w!#$%&'*+.^`|~-]+$/;
const HEADER_VALUE = /^[\t\x20-\x7e\x80-\xff]*$/;
const HOLDS_A_KEY = /auth|key|token/i;

/** Values may be secrets: they are never told. */
function checkHeaders(headers: Exchange["headers"]): void {
  for (const name of Object.keys(headers)) {
    const value = headers[name]!;
    if (!HEADER_NAME.test(name)) {
      throw new ProviderError(
        "bad_request",
        `Cannot send the header ${JSON.stringify(name)}: that is no name of a header`,
      );
    }
    if (HEADER_VALUE.test(value)) continue;
    const isKey = HOLDS_A_KEY.test(name);
    const advice = isKey ? "check the key and where it comes from" : "correct it in the configuration";
    const text = `Cannot send the header ${name}: its value has a line break or a character that is not allowed there; ${advice}`;
    throw new ProviderError(isKey ? "auth" : "bad_request", text);
  }
}

/** How long a body is, and how it is sent, is ours to say. */
const ABOUT_THE_BODY = new Set(["content-length", "transfer-encoding"]);

/** They go out as they are, so no name may stand there twice, in other letters: the later one counts. */
function headersToSend({ headers, body }: Exchange, login: string | undefined): Record<string, string> {
  // Compressed tokens come late: a compressor gives nothing away until its block is full.
  const all: Record<string, string> = { "accept-encoding": "identity" };
  for (const given of Object.keys(headers)) {
    const name = given.toLowerCase();
    const value = headers[given];
    if (value !== undefined && !ABOUT_THE_BODY.has(name)) all[name] = value;
  }
  if (login !== undefined) all.authorization ??= login;
  if (body !== undefined) all["content-length"] = String(payloadBytes(body));
  return all;
}

function attempt(call: Call, route: Route): Promise<Answer> {
  return new Promise((resolve, reject) => {
    const { target, clock, signal, timeouts } = call;
    let connection: Connection | undefined;
    let body: OpenBody | undefined;
    let over = false;
    let watches = false;

    const fail = (error: ProviderError): void => {
      if (body) {
        body.fail(error);
        return;
      }
      settled();
      stopConnecting();
      connection?.destroy();
      reject(error);
    };
    const onAbort = (): void => fail(abortedError());
    const watchdog = createWatchdog(clock, (what, ms) => fail(silence(target.host, what, ms)));
    const settled = (): void => {
      over = true;
      watchdog.stop();
      signal.removeEventListener("abort", onAbort);
    };
    /** Two phases before the body: the connection, then the first line. A kept-alive connection skips the first. */
    const expectAnswer = (): void => {
      if (!over) watchdog.expect("an answer", timeouts.firstByteMs);
    };
    /** When the request is on its way: nothing can be late before. */
    const watch = (): void => {
      if (over) return;
      watches = true;
      signal.addEventListener("abort", onAbort, { once: true });
      watchdog.expect("a connection", timeouts.connectMs);
      connection?.whenMade(expectAnswer);
      if (signal.aborted) onAbort();
    };
    const unanswered = (error: NodeJS.ErrnoException): void => {
      if (over) return;
      settled();
      // Each try uses up one old connection, so this comes to an end.
      const isStale = connection?.isOld === true && STALE_CONNECTION.has(error.code ?? "");
      if (isStale && !call.isOnce) attempt(call, route).then(resolve, reject);
      else reject(unreachable(target, error, route.proxy));
    };
    const send = (made: Connection): void => {
      connection = made;
      const headers = { host: target.host, connection: "keep-alive", ...call.headers, ...route.headersFor?.(target) };
      made.send(requestHead(call.method, route.targetOf(target), headers), call.body ?? [], {
        failed: unanswered,
        answer(head, source) {
          body = openBody(source, head.headers, {
            host: target.host,
            clock,
            watchdog,
            idleMs: timeouts.idleMs,
            onOver: settled,
          });
          resolve({ ...head, body, proxy: route.proxy });
        },
      });
      if (watches) made.whenMade(expectAnswer);
    };
    const stopConnecting = route.connect(target, call.headers.host, clock, (error, made) => {
      if (error) unanswered(error);
      else if (made) send(made);
    });
    process.nextTick(watch);
  });
}

function unreachable(target: URL, error: Error, proxy: ProxySettings | undefined): ProviderError {
  if (error instanceof ProviderError) return error;
  // Through a tunnel only TLS and the server itself can fail here; else it is the proxy that we talk to.
  if (proxy && target.protocol === "http:") return proxyUnreachable(proxy, error);
  return connectionFailure(target, error, proxy);
}
