import { expect, test } from "vitest";
import { durationMs, type HeaderValues, pauseInWords, retryAfterOf } from "./retry-after.ts";

const NOW = Date.parse("2026-01-01T00:00:00Z");

test.each<[headers: HeaderValues, ms: number | undefined]>([
  [{}, undefined],
  [{ "retry-after": "7" }, 7000],
  [{ "retry-after": "0.5" }, 500],
  [{ "retry-after": "Thu, 01 Jan 2026 00:00:30 GMT" }, 30_000],
  [{ "retry-after": "Wed, 31 Dec 2025 00:00:00 GMT" }, 0],
  [{ "retry-after": "soon" }, undefined],
  [{ "retry-after": "" }, undefined],
  [{ "retry-after": "-1" }, undefined],
  [{ "retry-after-ms": "250", "retry-after": "7" }, 250],
  [{ "retry-after-ms": "", "retry-after": "7" }, 7000],
])("asked for: %j is %s ms, whatever the status", (headers, ms) => {
  expect(retryAfterOf({ status: 429, headers }, NOW)).toBe(ms);
  expect(retryAfterOf({ status: 503, headers }, NOW)).toBe(ms);
});

test.each<[story: string, headers: HeaderValues, ms: number | undefined]>([
  ["what is asked for wins", { "retry-after": "2", "x-ratelimit-reset-requests": "6m0s" }, 2000],
  [
    "Anthropic: the bucket that is empty",
    {
      "anthropic-ratelimit-requests-remaining": "49",
      "anthropic-ratelimit-requests-reset": "2026-01-01T00:05:00Z",
      "anthropic-ratelimit-input-tokens-remaining": "0",
      "anthropic-ratelimit-input-tokens-reset": "2026-01-01T00:00:12Z",
    },
    12_000,
  ],
  [
    "Anthropic: none is empty, so the latest",
    {
      "anthropic-ratelimit-requests-remaining": "49",
      "anthropic-ratelimit-requests-reset": "2026-01-01T00:00:01Z",
      "anthropic-ratelimit-tokens-remaining": "3000",
      "anthropic-ratelimit-tokens-reset": "2026-01-01T00:00:40Z",
    },
    40_000,
  ],
  [
    "OpenAI: the bucket that is empty",
    {
      "x-ratelimit-remaining-requests": "0",
      "x-ratelimit-reset-requests": "1s",
      "x-ratelimit-remaining-tokens": "14000",
      "x-ratelimit-reset-tokens": "6m0s",
    },
    1000,
  ],
  ["without what remains", { "x-ratelimit-reset-requests": "20ms", "x-ratelimit-reset-tokens": "6m0s" }, 360_000],
  [
    "a day's bucket that is not empty says nothing",
    { "x-ratelimit-reset-requests-day": "33011.4", "x-ratelimit-reset-tokens-minute": "11.5" },
    11_500,
  ],
  ["only a day's bucket", { "x-ratelimit-reset-requests-day": "33011.4" }, undefined],
  ["milliseconds since 1970", { "x-ratelimit-reset": String(NOW + 5000) }, 5000],
  ["seconds since 1970", { "x-ratelimit-reset": String(NOW / 1000 + 5) }, 5000],
  ["seconds from now", { "x-ratelimit-reset": "8" }, 8000],
  ["the name without x", { "ratelimit-reset": "3" }, 3000],
  ["a moment that has passed", { "x-ratelimit-reset": String(NOW - 5000) }, 0],
  ["nonsense", { "x-ratelimit-reset": "whenever", "x-ratelimit-reset-tokens": "" }, undefined],
])("the reset of a limit: %s", (_story, headers, ms) => {
  expect(retryAfterOf({ status: 429, headers }, NOW)).toBe(ms);
});

test("the reset of a limit counts only where a limit was hit", () => {
  expect(retryAfterOf({ status: 500, headers: { "x-ratelimit-reset": "8" } }, NOW)).toBeUndefined();
});

const retryInfo = { "@type": "type.googleapis.com/google.rpc.RetryInfo", retryDelay: "34.074s" };

test.each<[story: string, body: unknown, ms: number | undefined]>([
  ["Google", { error: { code: 429, details: [{ "@type": "x" }, retryInfo] } }, 34_074],
  ["Google in a list", [{ error: { details: [retryInfo] } }], 34_074],
  ["OpenRouter", { error: { metadata: { headers: { "X-RateLimit-Reset": String(NOW + 9000) } } } }, 9000],
  ["a sentence", { error: { message: "Rate limit reached. Please try again in 1m12.5s. Visit us." } }, 72_500],
  ["no body", undefined, undefined],
  ["another body", { error: { details: "x", message: 5, metadata: null } }, undefined],
  ["a null", { error: null }, undefined],
])("in the body: %s", (_story, body, ms) => {
  expect(retryAfterOf({ status: 429, headers: {}, body }, NOW)).toBe(ms);
});

test.each([
  ["6m0s", 360_000],
  ["1h2m3s", 3_723_000],
  ["2m59.56s", 179_560],
  ["20ms", 20],
  ["1d", 86_400_000],
  ["", undefined],
  ["5", undefined],
  ["5 s", undefined],
  ["s", undefined],
])("the duration %j is %s ms", (text, ms) => {
  expect(durationMs(text)).toBe(ms);
});

test.each([
  ["Please retry in 34.07s.", 34_070],
  ["try again in 120ms", 120],
  ["try again in 3 hours", undefined],
  ["try again in 5mins", undefined],
  ["try again later", undefined],
])("the sentence %j says %s ms", (text, ms) => {
  expect(pauseInWords(text)).toBe(ms);
});
