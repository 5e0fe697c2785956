/** Does an error text say that the conversation no longer fits the model? Every provider has its own words for it. */

const OVERFLOW: readonly RegExp[] = [
  /prompt (?:is )?too long/i,
  /request_too_large/i,
  /input is too long for requested model/i,
  /exceeds the context window/i,
  /input token count.*exceeds the maximum/i,
  /maximum prompt length is \d+/i,
  /reduce the length of the messages/i,
  /maximum context length is \d+ tokens/i,
  /exceeds the limit of \d+/i,
  /exceeds the available context size/i,
  /greater than the context length/i,
  /context window exceeds limit/i,
  /exceeded model token limit/i,
  /too large for model with \d+ maximum context length/i,
  /model_context_window_exceeded/i,
  /exceeded (?:max )?context length/i,
  /context_length_exceeded/i,
  /too many tokens/i,
  /token limit exceeded/i,
];

/** Rate limits also speak of too many tokens; they pass with time, an overflow does not. */
const PASSING: readonly RegExp[] = [
  /^(?:throttling error|service unavailable):/i,
  /rate.?limit/i,
  /too many requests/i,
];

export function isOverflowText(text: string): boolean {
  return OVERFLOW.some((pattern) => pattern.test(text)) && !PASSING.some((pattern) => pattern.test(text));
}
