import { directRoute, type Route } from "./direct-route.ts";
import type { TransportEnvironment } from "./environment.ts";
import { proxyFor } from "./proxy-settings.ts";

/** Finds the way to a server. The plain ones are here; what a proxy or certificates need is loaded for them only. */

/** A way for every address, or a promise when more has to be loaded for it: a proxy, certificates. */
export function routeTo(url: URL, env: TransportEnvironment): Route | Promise<Route> {
  const proxy = proxyFor(url, env);
  const addsCertificates = url.protocol === "https:" && Boolean(env.SSL_CERT_FILE || env.TILLER_CA_FILE);
  if (!proxy && !addsCertificates) return plainRoute(url.protocol);
  return import("./routes.ts").then(({ specialRoute }) => specialRoute(url.protocol, proxy, env));
}

/** Loaded with the first request: `node:http` costs more than the rest of a start together. */
const PLAIN: Readonly<Record<string, () => Route>> = {
  "http:": once(() => {
    const http = process.getBuiltinModule("node:http");
    return directRoute(http.request, new http.Agent({ keepAlive: true }));
  }),
  "https:": once(() => {
    const https = process.getBuiltinModule("node:https");
    return directRoute(https.request, new https.Agent({ keepAlive: true }));
  }),
};

export function canReach(protocol: string): boolean {
  return Object.hasOwn(PLAIN, protocol);
}

function plainRoute(protocol: string): Route {
  return PLAIN[protocol]!();
}

function once<T>(make: () => T): () => T {
  let made: T | undefined;
  return () => {
    made ??= make();
    return made;
  };
}
