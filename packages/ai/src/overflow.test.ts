import { expect, test } from "vitest";
import { isOverflowText } from "./overflow.ts";

test.each([
  "prompt is too long: 213462 tokens > 200000 maximum",
  "Prompt too long",
  "request_too_large: Request exceeds the maximum size",
  "Input is too long for requested model.",
  "Your input exceeds the context window of this model",
  "The input token count (1196265) exceeds the maximum number of tokens allowed",
  "This model's maximum prompt length is 131072 but the request contains 537812 tokens",
  "Please reduce the length of the messages or completion",
  "This endpoint's maximum context length is 4096 tokens",
  "prompt token count of 5000 exceeds the limit of 4000",
  "the request exceeds the available context size",
  "tokens to keep is greater than the context length",
  "context window exceeds limit (2013)",
  "exceeded model token limit: 262144",
  "too large for model with 32768 maximum context length",
  "model_context_window_exceeded",
  "exceeded max context length by 3 tokens",
  "context_length_exceeded",
  "Too many tokens",
  "token limit exceeded",
])("overflow: %s", (text) => {
  expect(isOverflowText(text)).toBe(true);
});

test.each([
  "Throttling error: Too many tokens, please wait before trying again.",
  "Service unavailable: too many tokens",
  "rate_limit_error: too many tokens per minute",
  "Too many requests, token limit exceeded",
  "invalid x-api-key",
  "",
])("no overflow: %s", (text) => {
  expect(isOverflowText(text)).toBe(false);
});
