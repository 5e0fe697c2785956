import { directRoute, type Route } from "./direct-route.ts";
import type { TransportEnvironment } from "./environment.ts";
import { proxyFor } from "./proxy-settings.ts";

/** Finds the way to a server. The plain one is here; what a proxy or certificates need is loaded for them only. */

const PLAIN = directRoute();

/** A way for every address, or a promise when more has to be loaded for it: a proxy, certificates. */
export function routeTo(url: URL, env: TransportEnvironment): Route | Promise<Route> {
  const proxy = proxyFor(url, env);
  const addsCertificates = url.protocol === "https:" && Boolean(env.SSL_CERT_FILE || env.TILLER_CA_FILE);
  if (!proxy && !addsCertificates) return PLAIN;
  return import("./routes.ts").then(({ specialRoute }) => specialRoute(url.protocol, proxy, env));
}

export function canReach(protocol: string): boolean {
  return protocol === "http:" || protocol === "https:";
}
