import type { Agent, ClientRequest, OutgoingHttpHeaders, RequestOptions } from "node:http";
import { urlToHttpOptions } from "node:url";
import { lastMade } from "../last-made.ts";
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
}

export function directRoute(request: (options: RequestOptions) => ClientRequest, agent: Agent): Route {
  const addressOf = lastMade(urlToHttpOptions);
  return {
    open({ url, method, headers }) {
      const address = addressOf(url);
      return request({ ...address, method, agent, headers: headerLines(url.host, address.auth, headers) });
    },
    isOld: (call) => call.reusedSocket,
  };
}

/**
 * Name, value, name, value: Node writes such a list as it is, where an object is checked and copied name by name. So it is
 * for us to name the server, to send the login that its address has, and to send a name once, whatever its case.
 */
function headerLines(host: string, login: string | null | undefined, headers: OutgoingHttpHeaders): string[] {
  const lines = new Map<string, [name: string, value: string]>([["host", ["Host", host]]]);
  if (login) lines.set("authorization", ["Authorization", `Basic ${Buffer.from(login).toString("base64")}`]);
  for (const name of Object.keys(headers)) lines.set(name.toLowerCase(), [name, String(headers[name])]);
  return [...lines.values()].flat();
}

/** For TLS: names only, an address has none. */
export function serverName(host: string): string {
  return /^[\d.]+$|:/.test(host) ? "" : host;
}
