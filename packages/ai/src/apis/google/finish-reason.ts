import { ProviderError, type ProviderErrorKind } from "../../errors.ts";

/** Why Gemini stopped. */

export const STOP_REASONS: ReadonlyMap<string, "stop" | "length"> = new Map([
  ["STOP", "stop"],
  ["MAX_TOKENS", "length"],
  ["CONTINUATION", "length"],
]);

/** Reasons that are no answer. One that is not listed counts as a failure too: all but three are. */
const FAILED: Readonly<Record<string, readonly [kind: ProviderErrorKind, why: string]>> = {
  SAFETY: ["content_filter", "the answer was held back for safety"],
  RECITATION: ["content_filter", "the answer repeats something too closely"],
  LANGUAGE: ["content_filter", "the language is not supported"],
  BLOCKLIST: ["content_filter", "the answer has forbidden words"],
  PROHIBITED_CONTENT: ["content_filter", "the answer has prohibited content"],
  SPII: ["content_filter", "the answer has sensitive personal data"],
  MODEL_ARMOR: ["content_filter", "the answer was blocked by Model Armor"],
  IMAGE_SAFETY: ["content_filter", "an image was held back for safety"],
  IMAGE_PROHIBITED_CONTENT: ["content_filter", "an image has prohibited content"],
  IMAGE_RECITATION: ["content_filter", "an image repeats something too closely"],
  IMAGE_OTHER: ["content_filter", "an image could not be made"],
  NO_IMAGE: ["content_filter", "no image was made"],
  MALFORMED_FUNCTION_CALL: ["malformed", "the model wrote a tool call that cannot be read"],
  MALFORMED_RESPONSE: ["malformed", "the model wrote an answer that cannot be read"],
  UNEXPECTED_TOOL_CALL: ["malformed", "the model called a tool it was not given"],
  TOO_MANY_TOOL_CALLS: ["malformed", "the model called too many tools in a row"],
  MISSING_THOUGHT_SIGNATURE: ["bad_request", "a tool call in the history has no thought signature"],
};

export interface SafetyRating {
  category?: string;
  probability?: string;
  blocked?: boolean;
}

export function failedFinish(reason: string, finishMessage: string, ratings: readonly SafetyRating[]): ProviderError {
  const [kind, why] = Object.hasOwn(FAILED, reason) ? FAILED[reason]! : (["server", "no reason was given"] as const);
  const words = [finishMessage || why, ratedWords(ratings)].filter((text) => text !== "").join("; ");
  return new ProviderError(kind, `Google stopped the answer (${reason}): ${words}`);
}

export function blockedPrompt(reason: string, message: string, ratings: readonly SafetyRating[]): ProviderError {
  const words = [message, ratedWords(ratings)].filter((text) => text !== "").join("; ");
  return new ProviderError(
    "content_filter",
    `Google blocked the prompt (${reason})${words === "" ? "" : `: ${words}`}`,
  );
}

/** The categories that were the reason, as far as they are told. */
function ratedWords(ratings: readonly SafetyRating[]): string {
  const blocked = ratings.filter((rating) => rating.blocked === true);
  return blocked.map(({ category = "?", probability = "?" }) => `${category} ${probability}`).join(", ");
}
