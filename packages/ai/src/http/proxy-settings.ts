import { ProviderError } from "../errors.ts";
import { basicAuthorization } from "../url-login.ts";
import type { TransportEnvironment } from "./environment.ts";

/** Which proxy the environment names for an address. Pure. */
export interface ProxySettings {
  url: URL;
  /** For people: without user and password. */
  name: string;
  /** The variable it came from. */
  variable: string;
  /** For the header `proxy-authorization`. */
  authorization?: string;
}

const VARIABLES: Readonly<Record<string, readonly string[]>> = {
  "https:": ["https_proxy", "HTTPS_PROXY", "all_proxy", "ALL_PROXY"],
  "http:": ["http_proxy", "HTTP_PROXY", "all_proxy", "ALL_PROXY"],
};

/** As curl: the lower-case name wins. Our own machine is never reached through a proxy, which could not find it. */
export function proxyFor(url: URL, env: TransportEnvironment): ProxySettings | undefined {
  const variable = VARIABLES[url.protocol]?.find((name) => env[name]?.trim());
  if (variable === undefined || isLoopback(url.hostname)) return undefined;
  if (isExempt(url, env.no_proxy || env.NO_PROXY || "")) return undefined;
  return readProxy(variable, env[variable]!.trim());
}

function readProxy(variable: string, value: string): ProxySettings {
  const text = /^[a-z][\w+.-]*:\/\//i.test(value) ? value : `http://${value}`;
  const url = URL.canParse(text) ? new URL(text) : undefined;
  if (url === undefined || url.hostname === "") {
    throw new ProviderError("bad_request", `${variable} is not the address of a proxy: give it as http://host:port`);
  }
  if (url.protocol !== "http:" && url.protocol !== "https:") {
    const text = `${variable} names a ${url.protocol}// proxy (${url.host}): only http:// and https:// proxies are supported`;
    throw new ProviderError("bad_request", text);
  }
  const settings = { url, name: `${url.protocol}//${url.host}`, variable };
  return url.username === "" ? settings : { ...settings, authorization: basicAuthorization(url) };
}

/** `0.0.0.0` is what servers are told to listen on, and what people then copy into a base URL. */
export function isLoopback(hostname: string): boolean {
  return /^(localhost|.+\.localhost|127(\.\d+){3}|0\.0\.0\.0|\[::1?\])\.?$/i.test(hostname);
}

/** `*`, `host` (with what is below it), `.suffix`, `*.suffix`, `host:port`, addresses and ranges as `10.0.0.0/8`. */
export function isExempt(url: URL, noProxy: string): boolean {
  const host = url.hostname.toLowerCase().replace(/\.$/, "");
  const port = url.port || (url.protocol === "https:" ? "443" : "80");
  return noProxy
    .toLowerCase()
    .split(/[\s,]+/)
    .some((entry) => entry !== "" && matches(entry, host, port));
}

function matches(entry: string, host: string, port: string): boolean {
  if (entry === "*") return true;
  if (entry.includes("/")) return isInRange(entry, host);
  // A colon in a bare IPv6 address is no port.
  const [, name = "", wanted] = /^(\[.*\]|[^:]*)(?::(\d+))?$/.exec(entry) ?? [undefined, `[${entry}]`, undefined];
  if (wanted !== undefined && wanted !== port) return false;
  const bare = name.replace(/^\*?\./, "");
  return bare !== "" && (host === bare || host.endsWith(`.${bare}`));
}

function isInRange(entry: string, host: string): boolean {
  const [base = "", bits = ""] = entry.split("/");
  const [first, second] = [addressNumber(base), addressNumber(host)];
  if (first === undefined || second === undefined || !/^([12]?\d|3[0-2])$/.test(bits)) return false;
  const size = 2 ** (32 - Number(bits));
  return Math.floor(first / size) === Math.floor(second / size);
}

function addressNumber(text: string): number | undefined {
  const parts = /^(\d{1,3})\.(\d{1,3})\.(\d{1,3})\.(\d{1,3})$/.exec(text)?.slice(1).map(Number);
  return parts?.every((part) => part < 256) ? parts.reduce((sum, part) => sum * 256 + part, 0) : undefined;
}
