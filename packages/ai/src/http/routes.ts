import { certificatesKey, trustOf } from "./certificates.ts";
import { directRoute, type Route } from "./direct-route.ts";
import type { TransportEnvironment } from "./environment.ts";
import { forwardRoute, tunnelRoute } from "./proxy.ts";
import type { ProxySettings } from "./proxy-settings.ts";

/** The ways that need more than a plain connection. Kept, so that their connections are used again. */

const routes = new Map<string, Route>();

export function specialRoute(protocol: string, proxy: ProxySettings | undefined, env: TransportEnvironment): Route {
  const key = [protocol, proxy?.url.href, proxy?.variable, certificatesKey(env)].join(" ");
  const known = routes.get(key);
  if (known) return known;
  const route = makeRoute(protocol, proxy, env);
  routes.set(key, route);
  return route;
}

function makeRoute(protocol: string, proxy: ProxySettings | undefined, env: TransportEnvironment): Route {
  const usesTls = protocol === "https:" || proxy?.url.protocol === "https:";
  const trust = usesTls ? trustOf(env) : {};
  if (proxy) return protocol === "https:" ? tunnelRoute(proxy, trust) : forwardRoute(proxy, trust);
  return directRoute(trust);
}
