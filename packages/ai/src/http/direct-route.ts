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
  /** Sent with a request in place of its own. */
  headersFor?(url: URL): Readonly<Record<string, string>>;
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
      ready(undefined, pool.take(key, clock) ?? pool.add(key, clock, openSocket(url, trust, name, pool.session(key))));
      return () => undefined;
    },
  };
}

/** Connections that wait for their next request, by what they lead to. */
export interface Pool {
  take(key: string, clock: Clock): Connection | undefined;
  /** It comes back here by itself whenever it is free. */
  add(key: string, clock: Clock, socket: Socket, isMade?: boolean): Connection;
  /** What the last connection has agreed on, so that the next one need not do all of it again. */
  session(key: string): Buffer | undefined;
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
  const sessions = new Map<string, Buffer>();
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
    session: (key) => sessions.get(key),
    add(key, clock, socket, isMade) {
      const list = listOf(key);
      socket.on("session", (session: Buffer) => void sessions.set(key, session));
      // It may have been the reason.
      socket.once("error", () => void sessions.delete(key));
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

/** So that a network that is gone is noticed within half a minute, and one that forgets idle connections does not forget ours. */
const KEEP_ALIVE_MS = 10_000;

export function openSocket(url: URL, trust: Trust, name?: string, session?: Buffer): Socket {
  const address = { host: hostOf(url), port: Number(url.port || (isSecure(url) ? 443 : 80)) };
  const socket = isSecure(url)
    ? openTls({ ...address, session }, url, trust, name)
    : process.getBuiltinModule("node:net").connect(address);
  // TLS does not take these as options.
  return socket.once("connect", () => socket.setNoDelay(true).setKeepAlive(true, KEEP_ALIVE_MS));
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
