import type { ClientRequest, RequestOptions } from "node:http";
import type { Duplex } from "node:stream";
import type { SecureContext } from "node:tls";
import { connectionFailure, proxyRefusal, proxyUnreachable } from "./connection-failure.ts";
import { type Route, serverName } from "./direct-route.ts";
import type { ProxySettings } from "./proxy-settings.ts";

/** Ways through a proxy: https as a tunnel (CONNECT, then TLS with the server), http as a request for the whole address. */

interface Trust {
  secureContext?: SecureContext;
}

/** The proxy reads the request and makes one of its own. */
export function forwardRoute(proxy: ProxySettings, trust: Trust): Route {
  const secure = proxy.url.protocol === "https:";
  const { Agent, request } = process.getBuiltinModule(secure ? "node:https" : "node:http");
  const agent = new Agent({ keepAlive: true, ...trust });
  return {
    proxy,
    isOld: (call) => call.reusedSocket,
    open: ({ url, method, headers }) =>
      request({
        ...addressOf(proxy.url),
        agent,
        method,
        path: `${url.origin}${url.pathname}${url.search}`,
        headers: { ...headers, host: url.host, ...authorizationOf(proxy) },
      }),
  };
}

/** What the agent hands to `createConnection`: the options of the request, and ours among them. */
interface TunnelOptions extends RequestOptions {
  servername?: string;
  /** Nobody wants the connection any more. */
  givenUp?: AbortSignal;
}

type Done = (error: Error | null, socket?: Duplex) => void;

/** The tunnels are the agent's connections: kept alive and used again like any other. */
export function tunnelRoute(proxy: ProxySettings, trust: Trust): Route {
  const https = process.getBuiltinModule("node:https");
  const agent = new https.Agent({ keepAlive: true, ...trust });
  Object.assign(agent, {
    createConnection: (options: TunnelOptions, done: Done) => {
      openTunnel(proxy, trust, options, done);
    },
  });
  const openings = new WeakMap<ClientRequest, AbortController>();
  return {
    proxy,
    isOld: (call) => call.reusedSocket,
    giveUp: (call) => openings.get(call)?.abort(),
    open({ url, method, headers }) {
      const opening = new AbortController();
      const options: TunnelOptions = { method, agent, headers, givenUp: opening.signal };
      const call = https.request(url, options);
      openings.set(call, opening);
      return call;
    },
  };
}

function openTunnel(proxy: ProxySettings, trust: Trust, options: TunnelOptions, done: Done): void {
  const target = authority(options.host ?? "", Number(options.port ?? 443));
  const asking = askForTunnel(proxy, trust, target);
  let opening: { destroy(): unknown } = asking;
  const giveUp = (): void => void opening.destroy();
  const over: Done = (error, socket) => {
    options.givenUp?.removeEventListener("abort", giveUp);
    done(error, socket);
  };
  options.givenUp?.addEventListener("abort", giveUp, { once: true });
  asking.once("error", (error) => over(proxyUnreachable(proxy, error)));
  asking.once("connect", (answer, socket, head) => {
    const status = answer.statusCode ?? 0;
    if (status < 200 || status > 299) {
      socket.destroy();
      over(proxyRefusal(proxy, target, status, answer.statusMessage ?? ""));
      return;
    }
    if (head.length > 0) socket.unshift(head);
    const secured = process.getBuiltinModule("node:tls").connect({
      ...trust,
      socket,
      host: options.host ?? "",
      servername: options.servername ?? "",
      ALPNProtocols: ["http/1.1"],
    });
    opening = secured;
    secured.once("secureConnect", () => over(null, secured));
    secured.once("error", (error) => over(connectionFailure(new URL(`https://${target}`), error, proxy)));
  });
  asking.end();
}

function askForTunnel(proxy: ProxySettings, trust: Trust, target: string): ClientRequest {
  const { request } = process.getBuiltinModule(proxy.url.protocol === "https:" ? "node:https" : "node:http");
  return request({
    ...addressOf(proxy.url),
    ...trust,
    agent: false,
    method: "CONNECT",
    path: target,
    headers: { host: target, ...authorizationOf(proxy) },
  });
}

/** The name is given to TLS by us: Node would take it from the header `host`, which names the server behind the proxy. */
function addressOf(url: URL): { host: string; port: number; servername?: string } {
  const host = url.hostname.replace(/^\[|\]$/g, "");
  if (url.protocol === "http:") return { host, port: Number(url.port || 80) };
  return { host, port: Number(url.port || 443), servername: serverName(host) };
}

function authority(host: string, port: number): string {
  return host.includes(":") ? `[${host}]:${port}` : `${host}:${port}`;
}

function authorizationOf({ authorization }: ProxySettings): { "proxy-authorization"?: string } {
  return authorization === undefined ? {} : { "proxy-authorization": authorization };
}
