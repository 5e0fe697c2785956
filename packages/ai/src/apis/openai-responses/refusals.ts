import type { ProviderError } from "../../errors.ts";
import type { ModelRequest } from "../../provider.ts";
import type { Lesson } from "../lessons.ts";

/** OpenAI shows summaries of thoughts only to organisations that have shown their papers. Thinking needs none. */
const NOT_VERIFIED = /must be verified to generate reasoning summaries/i;

export function learnFrom(refusal: ProviderError, { model }: ModelRequest): Lesson | undefined {
  const isOverSummary = refusal.status === 400 && NOT_VERIFIED.test(refusal.message);
  if (!isOverSummary || model.compat?.reasoningSummary === "none") return undefined;
  return { compat: { reasoningSummary: "none" }, holdsFor: "server" };
}
