/**
 * What the transport takes from the environment: proxies and certificates. Given once at start as data; nothing here reads
 * `process.env`. Nobody else is imported here, so that setting it costs nothing before the first request.
 */

export type TransportEnvironment = Readonly<Record<string, string | undefined>>;

let current: TransportEnvironment = {};

/** Without this call nothing is proxied and no certificates are added. */
export function configureTransport(options: { env: TransportEnvironment }): void {
  current = options.env;
}

export function transportEnvironment(): TransportEnvironment {
  return current;
}
