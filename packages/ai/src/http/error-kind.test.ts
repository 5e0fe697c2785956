import { expect, test } from "vitest";
import type { ProviderErrorKind } from "../errors.ts";
import { type ErrorFacts, kindOfError } from "./error-kind.ts";

/** It speaks of a size, of a limit and of billing; it passes within a minute. */
const GROQ_MINUTE =
  "Request too large for model `openai/gpt-oss-120b` in organization `org_1` service tier `on_demand` on tokens per minute (TPM): Limit 8000, Requested 32979, please reduce your message size and try again. Need more tokens? Upgrade to Dev Tier today at https://console.groq.com/settings/billing";

type Row = [facts: Partial<ErrorFacts>, kind: ProviderErrorKind];

const inStream: Row[] = [
  // Anthropic
  [{ type: "overloaded_error", message: "Overloaded" }, "overloaded"],
  [{ type: "rate_limit_error", message: "This request would exceed your rate limit" }, "rate_limit"],
  [{ type: "authentication_error" }, "auth"],
  [{ type: "permission_error" }, "auth"],
  [{ type: "billing_error" }, "bad_request"],
  [{ type: "invalid_request_error", message: "messages.0: field required" }, "bad_request"],
  [{ type: "invalid_request_error", message: "prompt is too long: 3 tokens > 2 maximum" }, "overflow"],
  [{ type: "request_too_large" }, "overflow"],
  [{ type: "timeout_error" }, "stalled"],
  [{ type: "api_error", message: "Internal server error" }, "server"],
  // OpenAI
  [{ code: "insufficient_quota", type: "insufficient_quota" }, "bad_request"],
  [{ code: "credit_balance_exhausted", type: "insufficient_quota" }, "bad_request"],
  [{ code: "context_length_exceeded", type: "invalid_request_error" }, "overflow"],
  [{ code: "invalid_api_key", type: "invalid_request_error" }, "auth"],
  [{ code: "rate_limit_exceeded", message: "Rate limit reached. Please try again in 20s" }, "rate_limit"],
  [{ code: "rate_limit_exceeded", type: "tokens" }, "rate_limit"],
  [{ code: "server_error" }, "server"],
  [{ code: "slow_down" }, "overloaded"],
  [{ code: "content_filter" }, "content_filter"],
  [{ code: "content_policy_violation", type: "invalid_request_error" }, "content_filter"],
  [{ code: "invalid_prompt", message: "limited access" }, "bad_request"],
  // Google
  [{ code: "RESOURCE_EXHAUSTED", message: "check your plan and billing details" }, "rate_limit"],
  [{ code: "RESOURCE_EXHAUSTED", message: "Quota exceeded for metric x, limit: 0" }, "bad_request"],
  [{ code: "INVALID_ARGUMENT", message: "bad field" }, "bad_request"],
  [{ code: "INVALID_ARGUMENT", message: "The input token count (9) exceeds the maximum number" }, "overflow"],
  [{ code: "INVALID_ARGUMENT", type: "API_KEY_INVALID" }, "auth"],
  [{ code: "UNAVAILABLE", message: "The model is overloaded" }, "overloaded"],
  [{ code: "PERMISSION_DENIED" }, "auth"],
  [{ code: "UNAUTHENTICATED" }, "auth"],
  [{ code: "DEADLINE_EXCEEDED" }, "stalled"],
  [{ code: "INTERNAL" }, "server"],
  // OpenRouter gives the status as the code
  [{ code: "429", message: "Rate limited" }, "rate_limit"],
  [{ code: "502", message: "Provider returned error" }, "server"],
  [{ code: "402", message: "Insufficient credits" }, "bad_request"],
  // Nothing to go by
  [{ message: "Something broke" }, "server"],
  [{ code: "toString", type: "constructor" }, "server"],
];

const withStatus: Row[] = [
  [{ status: 400, message: "API key not valid. Please pass a valid API key." }, "auth"],
  [{ status: 400, code: "content_filter", message: "filtered" }, "content_filter"],
  [{ status: 400, message: "The prompt triggered our content management policy" }, "content_filter"],
  [{ status: 401 }, "auth"],
  [{ status: 402, message: "Insufficient Balance" }, "bad_request"],
  [{ status: 403, code: "insufficient_quota" }, "bad_request"],
  [{ status: 404, code: "model_not_found" }, "bad_request"],
  [{ status: 413, code: "rate_limit_exceeded", type: "tokens", message: "Request too large" }, "overflow"],
  [{ status: 413, code: "rate_limit_exceeded", type: "tokens", message: GROQ_MINUTE }, "rate_limit"],
  [{ status: 429, code: "rate_limit_exceeded", type: "tokens", message: GROQ_MINUTE }, "rate_limit"],
  [{ status: 429, code: "insufficient_quota", message: "You exceeded your current quota" }, "bad_request"],
  [{ status: 429, message: "Slow down" }, "rate_limit"],
  [{ status: 429, message: "Your credit balance is too low" }, "bad_request"],
  [{ status: 429, code: "insufficient_quota", message: "You exceeded your current quota" }, "bad_request"],
  [{ status: 429, code: "RESOURCE_EXHAUSTED", message: "check your plan and billing" }, "rate_limit"],
  [{ status: 429, code: "rate_limit_exceeded", message: "too many tokens" }, "rate_limit"],
  [{ status: 500, message: "the request exceeds the available context size" }, "overflow"],
  [{ status: 500, message: "oops" }, "server"],
  [{ status: 502 }, "server"],
  [{ status: 503, message: "too many tokens" }, "overloaded"],
  [{ status: 504 }, "stalled"],
  [{ status: 529 }, "overloaded"],
];

test.each([...inStream, ...withStatus])("%j is %s", (facts, kind) => {
  expect(kindOfError({ message: "", ...facts })).toBe(kind);
});
