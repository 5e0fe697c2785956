import type { ProviderError } from "../../errors.ts";
import type { ModelRequest } from "../../provider.ts";
import type { Lesson } from "../lessons.ts";
import { compatOf } from "./compat.ts";
import { thinkingFields } from "./thinking.ts";

/** "Reasoning is mandatory for this endpoint and cannot be disabled." and the like. */
const CANNOT_STOP = /\b(reasoning|thinking)\b.*\b(mandatory|disabled?|turned off)\b|\breasoning[_. ]effort\b/i;

/** A model that cannot be told not to think is not told, rather than not asked. */
export function learnFrom(refusal: ProviderError, { model, thinkingLevel }: ModelRequest): Lesson | undefined {
  if (refusal.status !== 400 || thinkingLevel !== "off" || !CANNOT_STOP.test(refusal.message)) return undefined;
  const told = Object.keys(thinkingFields(model, thinkingLevel, compatOf(model))).length > 0;
  return told ? { thinkingLevelMap: { off: null }, holdsFor: "model" } : undefined;
}
