import { cutWords } from "../../cut-words.ts";
import { ProviderError, type ProviderErrorKind } from "../../errors.ts";
import { kindOfError } from "../../http/error-kind.ts";
import { isRecord, textOf } from "../wire-values.ts";

/** How a stream of the Chat Completions API ends: well, or with an error in one of many forms. */

const LONGEST_RAW = 1000;

const CUT_OFF: ReadonlySet<string | undefined> = new Set(["length", "max_tokens", "model_length"]);

/** Reasons that are no answer. */
const FAILURES: ReadonlyMap<string, [kind: ProviderErrorKind, message: string]> = new Map([
  ["content_filter", ["content_filter", "The provider filtered the answer"]],
  ["sensitive", ["content_filter", "The provider filtered the answer"]],
  ["refusal", ["content_filter", "The model refused to answer"]],
  ["error", ["server", "The provider failed while it answered"]],
  ["network_error", ["server", "The provider failed while it answered"]],
  ["abort", ["server", "The provider stopped the answer"]],
  ["insufficient_system_resource", ["overloaded", "The provider ran out of resources while it answered"]],
  ["model_context_window_exceeded", ["overflow", "The answer ran out of context"]],
]);

/**
 * Many servers say `stop` after tool calls, and some `tool_calls` without any: what came decides. A reason that nobody
 * knows is taken as a stop.
 */
export function stopReasonOf(reason: string | undefined, hasCalls: boolean): "stop" | "length" | "toolUse" {
  if (CUT_OFF.has(reason)) return "length";
  return hasCalls ? "toolUse" : "stop";
}

export function failureOfReason(reason: string | undefined): ProviderError | undefined {
  const failure = FAILURES.get(reason ?? "");
  return failure && new ProviderError(failure[0], `${failure[1]} (finish_reason ${reason})`);
}

/** An error object inside a stream, or a bare text. OpenRouter adds the words of the provider behind it. */
export function failureOfError(error: unknown): ProviderError {
  const facts: Record<string, unknown> = isRecord(error) ? error : { message: error };
  const code = typeof facts.code === "number" ? String(facts.code) : textOf(facts.code);
  const type = textOf(facts.type);
  const told = textOf(facts.message) || cutWords(JSON.stringify(error), LONGEST_RAW);
  const name = type || code;
  const words = `${name === "" ? "" : `${name}: `}${told}${rawWords(facts.metadata)}`;
  const status = /^[45]\d\d$/.test(code) ? Number(code) : undefined;
  const kind = kindOfError({ message: words, ...(code ? { code } : {}), ...(type ? { type } : {}) });
  return new ProviderError(kind, words, status === undefined ? {} : { status });
}

function rawWords(metadata: unknown): string {
  if (!isRecord(metadata)) return "";
  const { raw, provider_name } = metadata;
  if (raw === undefined || raw === null || raw === "") return "";
  const words = cutWords(typeof raw === "string" ? raw : JSON.stringify(raw), LONGEST_RAW);
  return ` (${textOf(provider_name) || "provider"}: ${words})`;
}
