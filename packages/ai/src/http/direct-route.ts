import type { Agent, ClientRequest, OutgoingHttpHeaders, RequestOptions } from "node:http";
import type { Socket } from "node:net";
import type { SecureContext } from "node:tls";
import type { ProxySettings } from "./proxy-settings.ts";

/** A way to a server, with its own kept-alive connections. Here the one without a detour. */

export interface Outgoing {
  method: "GET" | "POST";
  url: URL;
  headers: OutgoingHttpHeaders;
}

export interface Route {
  proxy?: ProxySettings;
  /** Nothing is sent before the request is ended. */
  open(outgoing: Outgoing): ClientRequest;
  /** Did the request get a connection that may have died of age before it was used? */
  isOld(request: ClientRequest): boolean;
  /** Stops a connection that is still being made for a request: to destroy the request is not always enough. */
  giveUp?(request: ClientRequest): void;
  /** Opens a connection ahead of the first request. It does not keep the process alive and fails without a word. */
  warm?(url: URL): void;
}

/** `trust` is what the agent was given for TLS. */
export function directRoute(
  request: (url: URL, options: RequestOptions) => ClientRequest,
  agent: Agent,
  trust: { secureContext?: SecureContext } = {},
): Route {
  const warmed = new WeakSet<object>();
  let warmUp: ((url: URL) => void) | undefined;
  return {
    open: ({ url, method, headers }) => request(url, { method, agent, headers }),
    isOld: (call) => call.reusedSocket || (call.socket !== null && warmed.has(call.socket)),
    warm(url) {
      warmUp ??= warmConnections(agent, trust, warmed);
      warmUp(url);
    },
  };
}

/** The next connection the agent wants to make to a warmed address is there already. */
function warmConnections(agent: Agent, trust: object, warmed: WeakSet<object>): (url: URL) => void {
  const ready = new Map<string, Socket>();
  const connect = agent.createConnection.bind(agent);
  const keyOf = (host: unknown, port: unknown): string => `${String(host)} ${String(port)}`;
  agent.createConnection = (options, done) => {
    const key = keyOf(options.host, options.port);
    const socket = ready.get(key);
    if (!socket || socket.destroyed) return connect(options, done);
    ready.delete(key);
    return socket.ref();
  };
  return (url) => {
    const host = url.hostname.replace(/^\[|\]$/g, "");
    const port = Number(url.port || (url.protocol === "https:" ? 443 : 80));
    const key = keyOf(host, port);
    if (ready.has(key)) return;
    const options = { ...trust, noDelay: true, host, port, servername: serverName(host) };
    const socket = connect(options) as Socket;
    warmed.add(socket);
    ready.set(key, socket);
    const drop = (): void => {
      if (ready.get(key) === socket) ready.delete(key);
    };
    // A failure is told by the request that then makes its own connection.
    socket.on("error", drop);
    socket.on("close", drop);
    socket.unref();
  };
}

/** For TLS: names only, an address has none. */
export function serverName(host: string): string {
  return /^[\d.]+$|:/.test(host) ? "" : host;
}
