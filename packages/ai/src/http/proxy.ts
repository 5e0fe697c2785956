import type { Socket } from "node:net";
import { createAnswerReader } from "./answer-reader.ts";
import { connectionFailure, proxyRefusal, proxyUnreachable } from "./connection-failure.ts";
import { createPool, isSecure, openSocket, openTls, type Route, type Trust } from "./direct-route.ts";
import type { ProxySettings } from "./proxy-settings.ts";
import { requestHead } from "./request-head.ts";

/** Ways through a proxy: https as a tunnel (CONNECT, then TLS with the server), http as a request for the whole address. */

/** The proxy reads the request and makes one of its own. */
export function forwardRoute(proxy: ProxySettings, trust: Trust): Route {
  const pool = createPool();
  return {
    proxy,
    // The one in the address counts, and some insist on it.
    headersFor: ({ host }) => ({ host, ...authorizationOf(proxy) }),
    targetOf: (url) => `${url.origin}${url.pathname}${url.search}`,
    connect(_url, _name, clock, ready) {
      ready(undefined, pool.take("", clock) ?? pool.add("", clock, openSocket(proxy.url, trust)));
      return () => undefined;
    },
  };
}

/** The tunnels are connections like any other: kept alive and used again. */
export function tunnelRoute(proxy: ProxySettings, trust: Trust): Route {
  const pool = createPool();
  return {
    proxy,
    targetOf: (url) => url.pathname + url.search,
    connect(url, name, clock, ready) {
      const key = `${url.origin} ${name}`;
      const known = pool.take(key, clock);
      if (known) {
        ready(undefined, known);
        return () => undefined;
      }
      return openTunnel({ proxy, trust, url, name, session: pool.session(key) }, (error, socket) =>
        ready(error, socket && pool.add(key, clock, socket, true)),
      );
    },
  };
}

type Done = (error: Error | undefined, socket?: Socket) => void;

interface Tunnel {
  proxy: ProxySettings;
  trust: Trust;
  url: URL;
  name: string | undefined;
  session: Buffer | undefined;
}

/** Asks the proxy for a way through and agrees on TLS with the server behind it. The function that comes back stops that. */
function openTunnel({ proxy, trust, url, name, session }: Tunnel, done: Done): () => void {
  const target = `${url.hostname}:${url.port || 443}`;
  const socket = openSocket(proxy.url, trust);
  let opening: Socket = socket;
  let isOver = false;
  const over: Done = (error, made) => {
    if (isOver) return;
    isOver = true;
    if (error) opening.destroy();
    done(error, made);
  };
  const lost = (error: Error = new Error("it closed the connection")): void => over(proxyUnreachable(proxy, error));
  const gone = (): void => lost();
  const reader = createAnswerReader(
    {
      head({ status, statusText }) {
        if (status < 200 || status > 299) over(proxyRefusal(proxy, target, status, statusText));
      },
      piece: () => undefined,
    },
    { isTunnel: true },
  );
  /** Not as it flows: what comes behind the consent is for TLS. */
  const read = (): void => {
    const bytes: Buffer | null = socket.read();
    if (!bytes || isOver) return;
    try {
      reader.push(bytes);
    } catch (error) {
      lost(error as Error);
      return;
    }
    if (!reader.isOver || isOver) return;
    socket.off("readable", read);
    socket.off("close", gone);
    if (reader.behind) socket.unshift(reader.behind);
    const secured = openTls({ socket, session }, url, trust, name);
    secured.once("secureConnect", () => over(undefined, secured));
    secured.once("error", (error) => over(connectionFailure(url, error, proxy)));
    opening = secured;
  };
  socket.on("readable", read);
  socket.on("error", lost);
  socket.on("close", gone);
  socket.once(isSecure(proxy.url) ? "secureConnect" : "connect", () =>
    socket.write(requestHead("CONNECT", target, { host: target, ...authorizationOf(proxy) }), "latin1"),
  );
  return () => {
    isOver = true;
    opening.destroy();
  };
}

function authorizationOf({ authorization }: ProxySettings): { "proxy-authorization"?: string } {
  return authorization === undefined ? {} : { "proxy-authorization": authorization };
}
