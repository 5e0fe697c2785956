import type { Model } from "@tiller/protocol/model";

/**
 * How generations of Gemini differ, as far as a request has to know. Read from the name of the model; each can be said
 * in its `compat` instead, for other names and for servers that only speak the dialect:
 *
 *   thinking:                  "budget" | "level"     2.5 takes a number of tokens, 3 the name of a level
 *   functionCallIds:           boolean                calls and their results carry ids (3 and later)
 *   imagesInFunctionResponse:  boolean                results of tools may hold images (3 and later)
 *   requiresThoughtSignatures: boolean                calls without a signature are refused (3 and later)
 *   toolSchema:                "json" | "openapi"     the whole of JSON Schema, or the old subset of OpenAPI
 */
export interface Traits {
  thinking: "budget" | "level";
  functionCallIds: boolean;
  imagesInFunctionResponse: boolean;
  requiresThoughtSignatures: boolean;
  toolSchema: "json" | "openapi";
}

export function traitsOf(model: Model): Traits {
  const compat = model.compat ?? {};
  const isNew = generationOf(model.id) >= 3;
  const flag = (name: keyof Traits): boolean => (typeof compat[name] === "boolean" ? compat[name] : isNew);
  return {
    thinking:
      compat.thinking === "budget" || compat.thinking === "level" ? compat.thinking : isNew ? "level" : "budget",
    functionCallIds: flag("functionCallIds"),
    imagesInFunctionResponse: flag("imagesInFunctionResponse"),
    requiresThoughtSignatures: flag("requiresThoughtSignatures"),
    toolSchema: compat.toolSchema === "openapi" ? "openapi" : "json",
  };
}

/** `gemini-2.5-pro` is of generation 2; names without a number, like `gemini-flash-latest`, mean the newest. */
function generationOf(id: string): number {
  const [, number] = /gemini-(?:\w+-)?(\d+)/i.exec(id) ?? [];
  if (number !== undefined) return Number(number);
  return /gemini/i.test(id) ? Number.POSITIVE_INFINITY : 0;
}
