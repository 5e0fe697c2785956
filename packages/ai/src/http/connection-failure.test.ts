import { expect, test } from "vitest";
import { connectionFailure, proxyRefusal, proxyUnreachable } from "./connection-failure.ts";
import type { ProxySettings } from "./proxy-settings.ts";

function failure(code: string, message: string): Error {
  return Object.assign(new Error(message), { code });
}

const proxy: ProxySettings = {
  url: new URL("http://me:secret@proxy.test:3128"),
  name: "http://proxy.test:3128",
  variable: "HTTPS_PROXY",
};

test.each<[code: string, message: string, kind: string, text: RegExp]>([
  [
    "ENOTFOUND",
    "getaddrinfo ENOTFOUND api.test",
    "network",
    /^Connection error: cannot find the host api\.test \(getaddrinfo ENOTFOUND api\.test\): check the base URL or the network$/,
  ],
  [
    "EAI_AGAIN",
    "getaddrinfo EAI_AGAIN",
    "network",
    /cannot look up the host api\.test, .*: check the base URL or the network$/,
  ],
  [
    "ECONNREFUSED",
    "connect ECONNREFUSED 1.2.3.4:443",
    "network",
    /cannot reach https:\/\/api\.test \(connect .*\): check the base URL/,
  ],
  ["ENETUNREACH", "connect ENETUNREACH", "network", /is the network up\?$/],
  [
    "ECONNRESET",
    "socket hang up",
    "network",
    /^Connection error: cannot reach https:\/\/api\.test \(socket hang up\)$/,
  ],
  [
    "DEPTH_ZERO_SELF_SIGNED_CERT",
    "self-signed certificate",
    "bad_request",
    /the certificate of api\.test is self-signed \(.*NODE_EXTRA_CA_CERTS or TILLER_CA_FILE$/,
  ],
  [
    "SELF_SIGNED_CERT_IN_CHAIN",
    "self-signed",
    "bad_request",
    /comes from an authority that is not trusted here.*TILLER_CA_FILE$/,
  ],
  ["UNABLE_TO_GET_ISSUER_CERT_LOCALLY", "unable", "bad_request", /NODE_EXTRA_CA_CERTS/],
  ["CERT_HAS_EXPIRED", "certificate has expired", "bad_request", /has expired .*check the clock/],
  [
    "ERR_TLS_CERT_ALTNAME_INVALID",
    "Host: api.test. is not in the cert's altnames",
    "bad_request",
    /is for another host .*: check the base URL$/,
  ],
  [
    "ERR_SSL_WRONG_VERSION_NUMBER",
    "wrong version number",
    "network",
    /does not speak TLS .*: try http:\/\/ in the base URL$/,
  ],
])("%s", (code, message, kind, text) => {
  const error = connectionFailure(new URL("https://api.test/v1/messages"), failure(code, message));
  expect(error.kind).toBe(kind);
  expect(error.message).toMatch(text);
});

test("a refused connection to our own machine asks for the server", () => {
  const refused = failure("ECONNREFUSED", "connect ECONNREFUSED 127.0.0.1:11434");
  const text = "Connection error: cannot reach http://localhost:11434";
  const error = connectionFailure(new URL("http://localhost:11434/v1"), refused);
  expect(error.message).toBe(`${text} (connect ECONNREFUSED 127.0.0.1:11434): is the server running?`);
});

test("several addresses that were tried are one error, and so is a wrapped one", () => {
  const tried = new AggregateError([
    failure("ECONNREFUSED", "refused ::1"),
    failure("ECONNREFUSED", "refused 127.0.0.1"),
  ]);
  const url = new URL("http://localhost:1/");
  expect(connectionFailure(url, tried).message).toContain("(refused ::1, refused 127.0.0.1): is the server running?");
  const wrapped = new TypeError("fetch failed", { cause: failure("ENOTFOUND", "not found") });
  expect(connectionFailure(url, wrapped).message).toContain("cannot find the host localhost (not found)");
  expect(connectionFailure(url, new Error("")).message).toContain("(Error)");
});

test.each([
  [407, undefined, "auth", "put user:password@ before its host in HTTPS_PROXY"],
  [407, "Basic x", "auth", "check user and password in HTTPS_PROXY"],
  [403, undefined, "bad_request", "ask whoever runs it, or name the host in NO_PROXY to go there directly"],
  [502, undefined, "network", "ask whoever runs it, or name the host in NO_PROXY to go there directly"],
])("a proxy that says %i with authorization %s", (status, authorization, kind, wayOut) => {
  const error = proxyRefusal({ ...proxy, authorization }, "api.test:443", status, "No");
  expect(error.kind).toBe(kind);
  expect(error.message).toBe(
    `The proxy http://proxy.test:3128 refused the way to api.test:443: ${status} No: ${wayOut}`,
  );
});

test("a proxy that cannot be reached is named without its password", () => {
  const error = proxyUnreachable(proxy, failure("ENOTFOUND", "getaddrinfo ENOTFOUND proxy.test"));
  expect(error.message).toBe(
    "Connection error: cannot reach the proxy http://proxy.test:3128 (getaddrinfo ENOTFOUND proxy.test): check HTTPS_PROXY",
  );
});

test("a code that every object knows explains nothing", () => {
  const error = Object.assign(new Error("odd"), { code: "constructor" });
  expect(connectionFailure(new URL("https://api.test/v1"), error)).toMatchObject({
    kind: "network",
    message: "Connection error: cannot reach https://api.test (odd)",
  });
});
