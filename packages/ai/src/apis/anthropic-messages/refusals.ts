import type { ProviderError } from "../../errors.ts";
import type { ModelRequest } from "../../provider.ts";
import type { Lesson } from "../lessons.ts";

const BOUND_ELSEWHERE = /bound to a different conversation/i;

/**
 * Something before a thought has changed. A model that thinks is asked to drop such thoughts itself (`preservedThinking`).
 * With `between_tools` that cannot be said, though there too thoughts shall be sent back as long as they fit: the
 * documented way out is to leave them out.
 */
export function learnFrom(refusal: ProviderError, { model }: ModelRequest): Lesson | undefined {
  const isOverThought = refusal.status === 400 && BOUND_ELSEWHERE.test(refusal.message);
  if (!isOverThought || model.compat?.forgetsThoughts === true) return undefined;
  return { compat: { forgetsThoughts: true }, holdsFor: "conversation" };
}
