import { ProviderError, type ProviderErrorKind } from "../../errors.ts";
import { kindOfError } from "../../http/error-kind.ts";
import type { Delta } from "../../provider.ts";
import { countOf, filledText } from "../wire-values.ts";
import type { WireError, WireEvent, WireResponse } from "./wire.ts";

/** How a stream ends: with an answer, without one, or with an error. Pure. */

interface SoFar {
  hasToolCall: boolean;
  /** What the model said instead of an answer. */
  refusal: string;
}

type Ending = (response: WireResponse, soFar: SoFar) => Delta;

const ENDINGS: ReadonlyMap<string, Ending> = new Map(
  Object.entries<Ending>({
    completed: (_response, { refusal, hasToolCall }) =>
      refusal === "" ? { type: "done", stopReason: hasToolCall ? "toolUse" : "stop" } : refused(refusal),
    incomplete: (response, { refusal }) => (refusal === "" ? incomplete(response) : refused(refusal)),
    failed: (response) => failureOf(response.error ?? {}, "The response failed without a reason given"),
    cancelled: () => failure("server", "The provider cancelled the response"),
  }),
);

/** Servers end with `response.completed` what is not complete, so there the response is asked how it ended. */
export function endOf(type: string, response: WireResponse, soFar: SoFar): Delta {
  const named = type.replace("response.", "");
  const name = named === "completed" || named === "done" ? response.status : named;
  const ending = ENDINGS.get(name ?? "") ?? ENDINGS.get("completed")!;
  return ending(response, soFar);
}

function refused(words: string): Delta {
  return failure("content_filter", `The model refused to answer: ${words}`);
}

function incomplete(response: WireResponse): Delta {
  const reason = response.incomplete_details?.reason ?? "max_output_tokens";
  if (reason === "max_output_tokens" || reason === "max_tokens") return { type: "done", stopReason: "length" };
  if (reason === "content_filter") {
    return failure("content_filter", "The provider's filter cut the answer off (content_filter)");
  }
  return failure("server", `The provider left the response incomplete: ${reason}`);
}

/** The error stands in the event itself or, from some, in an object inside it. */
export function errorOf(event: WireEvent): Delta {
  const inner = typeof event.error === "string" ? { message: event.error } : event.error;
  return failureOf(inner ?? event, "The provider sent an error without a message");
}

function failureOf(error: WireError, withoutWords: string): Delta {
  const code = typeof error.code === "number" ? String(error.code) : filledText(error.code);
  const type = error.type === "error" ? undefined : filledText(error.type);
  const words = filledText(error.message) ?? withoutWords;
  const name = code ?? type;
  return failure(kindOfError({ code, type, message: words }), name ? `${name}: ${words}` : words);
}

export function failure(kind: ProviderErrorKind, message: string): Delta {
  return { type: "error", error: new ProviderError(kind, message) };
}

/** What came from the cache and what went into it is counted among the input. */
export function usageOf(usage: WireResponse["usage"]): Delta | undefined {
  if (!usage) return undefined;
  const cacheRead = countOf(usage.input_tokens_details?.cached_tokens);
  const cacheWrite = countOf(usage.input_tokens_details?.cache_write_tokens);
  const all = countOf(usage.input_tokens);
  return {
    type: "usage",
    input: all === undefined ? undefined : Math.max(0, all - (cacheRead ?? 0) - (cacheWrite ?? 0)),
    output: countOf(usage.output_tokens),
    cacheRead,
    cacheWrite,
    reasoning: countOf(usage.output_tokens_details?.reasoning_tokens),
  };
}
