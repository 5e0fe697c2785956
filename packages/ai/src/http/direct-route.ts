import type { Socket } from "node:net";
import type { ConnectionOptions, SecureContext, TLSSocket } from "node:tls";
import type { Clock } from "@tiller/protocol/clock";
import { type Connection, createConnection } from "./connection.ts";
import type { ProxySettings } from "./proxy-settings.ts";

/** A way to a server, with its own kept-alive connections. Here the one without a detour. */

export interface Route {
  proxy?: ProxySettings;
  /** What the request asks for, as its first line says it. */
  targetOf(url: URL): string;
  /** Sent beside the headers of a request. */
  headers?: Readonly<Record<string, string>>;
  /** Gives a connection, which may still be in the making, or says why there is none. The function that comes back stops that. */
  connect(url: URL, name: string | undefined, clock: Clock, ready: Ready): () => void;
}

/** Either an error or a connection. */
export type Ready = (error: Error | undefined, connection?: Connection) => void;

export interface Trust {
  secureContext?: SecureContext;
}

export function directRoute(trust: Trust = {}): Route {
  const pool = createPool();
  return {
    targetOf: (url) => url.pathname + url.search,
    connect(url, name, clock, ready) {
      const key = `${url.origin} ${name}`;
      ready(undefined, pool.take(key, clock) ?? pool.add(key, clock, openSocket(url, trust, name)));
      return () => undefined;
    },
  };
}

/** Connections that wait for their next request, by what they lead to. */
export interface Pool {
  take(key: string, clock: Clock): Connection | undefined;
  /** It comes back here by itself whenever it is free. */
  add(key: string, clock: Clock, socket: Socket, isMade?: boolean): Connection;
}

/** Each waits at the server as well. */
const MOST_KEPT = 16;
/** A server that says how long it waits may be sooner than it says. */
const EARLIER_MS = 1000;

interface Kept {
  connection: Connection;
  until: number;
}

export function createPool(): Pool {
  const kept = new Map<string, Kept[]>();
  const listOf = (key: string): Kept[] => {
    const list = kept.get(key) ?? [];
    kept.set(key, list);
    return list;
  };
  return {
    take(key, clock) {
      const list = listOf(key);
      const now = clock.now();
      for (let last = list.pop(); last; last = list.pop()) {
        if (last.until > now) return last.connection;
        last.connection.destroy();
      }
      return undefined;
    },
    add(key, clock, socket, isMade) {
      const list = listOf(key);
      return createConnection(socket, {
        isMade,
        onFree(connection, keepMs = Number.POSITIVE_INFINITY) {
          if (list.length === MOST_KEPT) list.shift()?.connection.destroy();
          list.push({ connection, until: clock.now() + keepMs - EARLIER_MS });
        },
        onGone(connection) {
          const at = list.findIndex((one) => one.connection === connection);
          if (at >= 0) list.splice(at, 1);
        },
      });
    },
  };
}

export function isSecure({ protocol }: URL): boolean {
  return protocol === "https:";
}

export function openSocket(url: URL, trust: Trust, name?: string): Socket {
  const port = Number(url.port || (isSecure(url) ? 443 : 80));
  const address = { host: hostOf(url), port, noDelay: true, keepAlive: true };
  if (isSecure(url)) return openTls(address, url, trust, name);
  return process.getBuiltinModule("node:net").connect(address);
}

/** With the server of a URL, over a connection or to an address. Who is addressed by another name has to prove that one. */
export function openTls(over: ConnectionOptions, url: URL, trust: Trust, name?: string): TLSSocket {
  const host = hostOf(url);
  const servername = serverName(name?.replace(/:\d*$/, "") ?? host);
  const options = { ...over, ...trust, host, servername, ALPNProtocols: ["http/1.1"] };
  return process.getBuiltinModule("node:tls").connect(options);
}

function hostOf({ hostname }: URL): string {
  return hostname.replace(/^\[|\]$/g, "");
}

/** For TLS: names only, an address has none. */
function serverName(host: string): string {
  return /^[\d.]+$|:/.test(host) ? "" : host;
}
