import { expect, test } from "vitest";
import type { ProviderErrorKind } from "../errors.ts";
import { type FailedAnswer, failureOf, unexpectedAnswer } from "./failure.ts";

const NOW = Date.parse("2026-01-01T00:00:00Z");

function failed(status: number, body: string, headers: FailedAnswer["headers"] = {}, statusText = "Status Text") {
  return failureOf({ status, statusText, headers, body }, NOW);
}

test.each<[status: number, body: string, kind: ProviderErrorKind, retryable: boolean]>([
  [400, '{"type":"error","error":{"type":"invalid_request_error","message":"bad field"}}', "bad_request", false],
  [400, '{"error":{"message":"prompt is too long: 250000 tokens > 200000 maximum"}}', "overflow", false],
  [401, '{"error":{"message":"invalid x-api-key"}}', "auth", false],
  [403, "", "auth", false],
  [404, '{"error":{"type":"not_found_error","message":"model: x"}}', "bad_request", false],
  [408, "", "stalled", true],
  [413, "", "overflow", false],
  [429, '{"error":{"message":"Number of requests has exceeded your rate limit, too many tokens"}}', "rate_limit", true],
  [429, '{"error":{"code":"insufficient_quota","message":"You exceeded your current quota"}}', "bad_request", false],
  [500, "", "server", true],
  [502, "<html><body>Bad Gateway</body></html>", "server", true],
  [503, "", "overloaded", true],
  [529, '{"error":{"type":"overloaded_error","message":"Overloaded"}}', "overloaded", true],
])("status %i with %s is %s", (status, body, kind, retryable) => {
  expect(failed(status, body)).toMatchObject({ kind, retryable, status });
});

test.each<[story: string, body: string, message: string]>([
  [
    "type and message",
    '{"error":{"type":"rate_limit_error","message":"Slow down"}}',
    "400 rate_limit_error: Slow down",
  ],
  ["a code instead of a type", '{"error":{"code":"nope","message":"No"}}', "400 nope: No"],
  ["a plain error", '{"error":"No such thing"}', "400 No such thing"],
  ["a bare message", '{"message":"Hm"}', "400 Hm"],
  ["a detail", '{"detail":"Not found"}', "400 Not found"],
  ["a list", '[{"error":{"message":"In a list"}}]', "400 In a list"],
  ["JSON of another kind stays as it is", '{"x":1}', '400 {"x":1}'],
  ["text", "upstream connect error", "400 upstream connect error"],
  [
    "a page",
    "<!DOCTYPE html><html><!-- hidden --><style>p{}</style><h1>Oh</h1>\n<p>no</p><script>x()</script></html>",
    "400 Oh no (an HTML page, not the API: a proxy in between or a wrong base URL?)",
  ],
  ["nothing", "", "400 Status Text (no body)"],
])("the provider's words: %s", (_story, body, message) => {
  expect(failed(400, body).message).toBe(message);
});

test("a redirect names where it leads, as it is not followed, whatever its page says", () => {
  const headers = { location: "https://elsewhere/" };
  for (const body of ["", "<html><a href='https://elsewhere/'>Moved</a></html>"]) {
    const error = failed(301, body, headers, "Moved Permanently");
    expect(error).toMatchObject({ kind: "bad_request", status: 301 });
    expect(error.message).toBe(
      "301 Moved Permanently to https://elsewhere/; redirects are not followed, correct the base URL",
    );
  }
});

test("the pause asked for is found in the headers or in the body", () => {
  expect(failed(429, "", { "retry-after": "7" }).retryAfterMs).toBe(7000);
  expect(failed(429, '[{"error":{"details":[{"retryDelay":"34s"}]}}]').retryAfterMs).toBe(34_000);
  expect(failed(429, "").retryAfterMs).toBeUndefined();
});

test("Google's bad key hides behind a bad argument", () => {
  const details = [{ "@type": "type.googleapis.com/google.rpc.ErrorInfo", reason: "API_KEY_INVALID" }];
  const body = JSON.stringify({ error: { code: 400, message: "Nope.", status: "INVALID_ARGUMENT", details } });
  expect(failed(400, body)).toMatchObject({ kind: "auth", message: "400 INVALID_ARGUMENT: Nope." });
});

test("Google's minute is not money, though it speaks of billing", () => {
  const details = [{ reason: "RATE_LIMIT_EXCEEDED" }, { retryDelay: "5s" }];
  const message = "You exceeded your current quota, please check your plan and billing details.";
  const body = JSON.stringify({ error: { code: 429, message, status: "RESOURCE_EXHAUSTED", details } });
  expect(failed(429, body)).toMatchObject({ kind: "rate_limit", retryAfterMs: 5000 });
});

test.each<[story: string, answer: Partial<FailedAnswer>, kind: ProviderErrorKind, message: string]>([
  ["an error", { body: '{"error":{"code":429,"message":"Slow down"}}' }, "rate_limit", "Slow down"],
  ["an error in one word", { body: '{"error":"model not loaded"}' }, "server", "model not loaded"],
  [
    "JSON",
    { headers: { "content-type": "application/json" }, body: '{"x":1}' },
    "bad_request",
    'api.test answered with application/json instead of an event stream: {"x":1}',
  ],
  [
    "nothing",
    { status: 204 },
    "bad_request",
    "api.test answered 204 with an empty body instead of an event stream: check the base URL and what is in between",
  ],
])("a success that is none: %s", (_story, answer, kind, message) => {
  const error = unexpectedAnswer("api.test", { status: 200, statusText: "OK", headers: {}, body: "", ...answer });
  expect(error).toMatchObject({ kind, message });
});

test.each([
  ["<p>Bad Gateway</p><script>let a = 1;", "502 Bad Gateway"],
  ["<p>Bad Gateway</p><!-- cut here", "502 Bad Gateway"],
  ["Bad <STYLE>a{}</STYLE>Gate<!-- -->way<script>1</script>", "502 Bad Gate way"],
])("what a page leaves open goes to its end: %s", (body, message) => {
  expect(failed(502, body).message).toBe(message);
});

test.each(["<!--", "<script>", "<style></script>"])("a page of nothing but %s holds nobody up", (piece) => {
  expect(failed(502, `Bad Gateway ${piece.repeat(1_000_000)}`).message).toBe("502 Bad Gateway");
});
