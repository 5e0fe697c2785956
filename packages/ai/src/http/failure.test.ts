import { expect, test } from "vitest";
import type { ProviderErrorKind } from "../errors.ts";
import { type FailedAnswer, failureOf, retryAfter } from "./failure.ts";

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
  ["a page", "<html><style>p{}</style><h1>Oh</h1>\n<p>no</p><script>x()</script></html>", "400 Oh no"],
  ["nothing", "", "400 Status Text (no body)"],
])("the provider's words: %s", (_story, body, message) => {
  expect(failed(400, body).message).toBe(message);
});

test("a redirect names where it leads, as it is not followed", () => {
  const error = failed(301, "", { location: "https://elsewhere/" }, "Moved Permanently");
  expect(error.message).toBe("301 Moved Permanently to https://elsewhere/; redirects are not followed");
});

test.each<[headers: FailedAnswer["headers"], ms: number | undefined]>([
  [{}, undefined],
  [{ "retry-after": "7" }, 7000],
  [{ "retry-after": "0.5" }, 500],
  [{ "retry-after": "Thu, 01 Jan 2026 00:00:30 GMT" }, 30_000],
  [{ "retry-after": "Wed, 31 Dec 2025 00:00:00 GMT" }, 0],
  [{ "retry-after": "soon" }, undefined],
  [{ "retry-after": "" }, undefined],
  [{ "retry-after": "-1" }, undefined],
  [{ "retry-after-ms": "250", "retry-after": "7" }, 250],
])("retry after %j is %s ms", (headers, ms) => {
  expect(retryAfter(headers, NOW)).toBe(ms);
  expect(failed(429, "", headers).retryAfterMs).toBe(ms);
});
