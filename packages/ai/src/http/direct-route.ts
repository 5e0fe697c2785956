import type { Agent, ClientRequest, RequestOptions } from "node:http";
import { urlToHttpOptions } from "node:url";
import { lastMade } from "../last-made.ts";
import type { ProxySettings } from "./proxy-settings.ts";

/** A way to a server, with its own kept-alive connections. Here the one without a detour. */

export interface Outgoing {
  method: "GET" | "POST";
  url: URL;
  /** In lower case. */
  headers: Readonly<Record<string, string>>;
}

export interface Route {
  proxy?: ProxySettings;
  /** Nothing is sent before the request is ended. */
  open(outgoing: Outgoing): ClientRequest;
  /** Did the request get a connection that may have died of age before it was used? */
  isOld(request: ClientRequest): boolean;
  /** Stops a connection that is still being made for a request: to destroy the request is not always enough. */
  giveUp?(request: ClientRequest): void;
}

export function directRoute(request: (options: RequestOptions) => ClientRequest, agent: Agent): Route {
  const addressOf = lastMade(urlToHttpOptions);
  return {
    open: ({ url, method, headers }) =>
      request({ ...addressOf(url), ...nameIn(headers), method, agent, headers: headerLines(url.host, headers) }),
    isOld: (call) => call.reusedSocket,
  };
}

/** Name, value, name, value: Node writes such a list as it is, where an object is checked and copied name by name. */
function headerLines(host: string, headers: Outgoing["headers"]): string[] {
  const lines = headers.host === undefined ? ["Host", host] : [];
  for (const name of Object.keys(headers)) lines.push(name, headers[name]!);
  return lines;
}

/** Who is addressed by another name has to prove that one. Node looks for it in headers that are an object. */
function nameIn({ host }: Outgoing["headers"]): { servername?: string } {
  return host === undefined ? {} : { servername: serverName(host.replace(/:\d*$/, "")) };
}

/** For TLS: names only, an address has none. */
export function serverName(host: string): string {
  return /^[\d.]+$|:/.test(host) ? "" : host;
}
