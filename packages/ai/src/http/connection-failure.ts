import { ProviderError, type ProviderErrorKind } from "../errors.ts";
import { isLoopback, type ProxySettings } from "./proxy-settings.ts";

/** Why there is no connection, in plain words with a way out. Pure. */

interface Explanation {
  /** `{host}` and `{origin}` stand for the other side. */
  what: string;
  advice?: string;
  /** What does not change by itself is not tried again. */
  kind?: ProviderErrorKind;
}

const UNREACHABLE = "cannot reach {origin}";
const CHECK_ADDRESS = "check the base URL or the network";
const CERTIFICATE_ADVICE =
  "if a proxy of your company signs it, name its certificate (PEM) in NODE_EXTRA_CA_CERTS or TILLER_CA_FILE";

function certificate(what: string, advice = CERTIFICATE_ADVICE): Explanation {
  return { what: `the certificate of {host} ${what}`, advice, kind: "bad_request" };
}

/** By the codes of Node, our own, then those of Bun. */
const EXPLANATIONS: ReadonlyMap<string, Explanation> = new Map(
  Object.entries<Explanation>({
    ENOTFOUND: { what: "cannot find the host {host}", advice: CHECK_ADDRESS },
    EAI_AGAIN: { what: "cannot look up the host {host}, the name server does not answer", advice: CHECK_ADDRESS },
    ECONNREFUSED: { what: UNREACHABLE, advice: CHECK_ADDRESS },
    EHOSTUNREACH: { what: UNREACHABLE, advice: CHECK_ADDRESS },
    ENETUNREACH: { what: UNREACHABLE, advice: "is the network up?" },
    ETIMEDOUT: { what: UNREACHABLE, advice: CHECK_ADDRESS },
    DEPTH_ZERO_SELF_SIGNED_CERT: certificate("is self-signed"),
    SELF_SIGNED_CERT_IN_CHAIN: certificate("comes from an authority that is not trusted here"),
    UNABLE_TO_VERIFY_LEAF_SIGNATURE: certificate("comes from an authority that is not trusted here"),
    UNABLE_TO_GET_ISSUER_CERT: certificate("comes from an authority that is not trusted here"),
    UNABLE_TO_GET_ISSUER_CERT_LOCALLY: certificate("comes from an authority that is not trusted here"),
    UNKNOWN_CERTIFICATE_VERIFICATION_ERROR: certificate("cannot be verified"),
    CERT_HAS_EXPIRED: certificate("has expired", "renew it, and check the clock of this machine"),
    CERT_NOT_YET_VALID: certificate("is not valid yet", "check the clock of this machine"),
    ERR_TLS_CERT_ALTNAME_INVALID: certificate("is for another host", "check the base URL"),
    ERR_SSL_WRONG_VERSION_NUMBER: { what: "{origin} does not speak TLS", advice: "try http:// in the base URL" },
    ERR_SSL_PACKET_LENGTH_TOO_LONG: { what: "{origin} does not speak TLS", advice: "try http:// in the base URL" },
    EPROTO: { what: "{origin} does not speak TLS", advice: "try http:// in the base URL" },
    ERR_BAD_ANSWER: { what: "{origin} does not answer in HTTP/1.1", advice: CHECK_ADDRESS },
    ConnectionRefused: { what: UNREACHABLE, advice: CHECK_ADDRESS },
    FailedToOpenSocket: { what: UNREACHABLE, advice: CHECK_ADDRESS },
  }),
);
const REFUSED = new Set(["ECONNREFUSED", "ConnectionRefused", "FailedToOpenSocket"]);

export function connectionFailure(url: URL, error: Error, proxy?: ProxySettings): ProviderError {
  if (error instanceof ProviderError) return error;
  const code = codeOf(error);
  const known: Explanation = EXPLANATIONS.get(code) ?? { what: UNREACHABLE };
  const advice = REFUSED.has(code) && isLoopback(url.hostname) ? "is the server running?" : known.advice;
  const what = known.what.replace("{host}", url.hostname).replace("{origin}", url.origin);
  const through = proxy ? ` through the proxy ${proxy.name}` : "";
  const text = `Connection error: ${what}${through} (${wordsOf(error)})${advice ? `: ${advice}` : ""}`;
  return new ProviderError(known.kind ?? "network", text, { cause: error });
}

/** The proxy itself cannot be reached. */
export function proxyUnreachable(proxy: ProxySettings, error: Error): ProviderError {
  const text = `Connection error: cannot reach the proxy ${proxy.name} (${wordsOf(error)}): check ${proxy.variable}`;
  return new ProviderError("network", text, { cause: error });
}

/** The proxy answered, but does not let us through. */
export function proxyRefusal(proxy: ProxySettings, target: URL | string, status: number, words: string): ProviderError {
  const host = typeof target === "string" ? target : target.host;
  const said = `The proxy ${proxy.name} refused the way to ${host}: ${status} ${words}`.trimEnd();
  if (status === 407) {
    const how = proxy.authorization ? "check user and password" : "put user:password@ before its host";
    return new ProviderError("auth", `${said}: ${how} in ${proxy.variable}`, { status });
  }
  const kind = status >= 500 ? "network" : "bad_request";
  const text = `${said}: ask whoever runs it, or name the host in NO_PROXY to go there directly`;
  return new ProviderError(kind, text, { status });
}

/** Several addresses were tried (AggregateError), or `fetch` wrapped the reason: the first that has a code. */
function codeOf(error: Error): string {
  const { code, cause, errors } = error as { code?: unknown; cause?: unknown; errors?: unknown[] };
  if (typeof code === "string") return code;
  const inner = cause ?? errors?.[0];
  return inner instanceof Error ? codeOf(inner) : "";
}

function wordsOf(error: Error): string {
  const { cause, errors } = error as { cause?: unknown; errors?: unknown[] };
  if (cause instanceof Error) return wordsOf(cause);
  if (error.message !== "") return error.message.trim();
  const inner = (errors ?? []).map((one) => (one instanceof Error ? one.message : String(one)));
  return inner.join(", ") || codeOf(error) || error.name;
}
