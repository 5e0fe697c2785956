import type { Delta } from "../../provider.ts";
import { countOf, isRecord } from "../wire-values.ts";

/** What servers count. Every one of them has its own names for what came from the cache and what went into it. */
export interface WireUsage {
  prompt_tokens?: unknown;
  completion_tokens?: unknown;
  total_tokens?: unknown;
  prompt_tokens_details?: {
    cached_tokens?: unknown;
    /** OpenRouter. */
    cache_write_tokens?: unknown;
    /** Proxies in front of Anthropic. */
    cache_creation_tokens?: unknown;
  } | null;
  completion_tokens_details?: { reasoning_tokens?: unknown } | null;
  /** DeepSeek. */
  prompt_cache_hit_tokens?: unknown;
  /** Moonshot. */
  cached_tokens?: unknown;
  /** Proxies in front of Anthropic. */
  cache_creation_input_tokens?: unknown;
  /** Some say it outside of the details. */
  reasoning_tokens?: unknown;
}

type UsageDelta = Extract<Delta, { type: "usage" }>;

/** Undefined when nothing is counted in it. The prompt includes what was cached; we tell them apart. */
export function readUsage(usage: unknown): UsageDelta | undefined {
  if (!isRecord(usage)) return undefined;
  const wire: WireUsage = usage;
  const prompt = countOf(wire.prompt_tokens);
  const completion = countOf(wire.completion_tokens);
  if (prompt === undefined && completion === undefined) return undefined;
  const input = wire.prompt_tokens_details;
  const cacheRead = first(input?.cached_tokens, wire.prompt_cache_hit_tokens, wire.cached_tokens);
  const cacheWrite = first(input?.cache_write_tokens, input?.cache_creation_tokens, wire.cache_creation_input_tokens);
  const reasoning = first(wire.completion_tokens_details?.reasoning_tokens, wire.reasoning_tokens);
  return {
    type: "usage",
    ...told("input", prompt === undefined ? undefined : Math.max(0, prompt - (cacheRead ?? 0) - (cacheWrite ?? 0))),
    ...told("output", completion === undefined ? undefined : completion + left(wire, prompt, completion, reasoning)),
    ...told("cacheRead", cacheRead),
    ...told("cacheWrite", cacheWrite),
    ...told("reasoning", reasoning),
  };
}

/**
 * Most servers count thinking as part of the completion; some (xAI) beside it. The total tells which: it is the price of
 * everything. Without a total, a completion that is smaller than its thinking cannot contain it.
 */
function left(wire: WireUsage, prompt = 0, completion = 0, reasoning = 0): number {
  const total = countOf(wire.total_tokens);
  const isBeside = total === undefined ? reasoning > completion : total === prompt + completion + reasoning;
  return isBeside ? reasoning : 0;
}

function first(...values: unknown[]): number | undefined {
  return values.map(countOf).find((value) => value !== undefined);
}

function told<K extends string>(key: K, value: number | undefined): { [name in K]?: number } {
  return value === undefined ? {} : ({ [key]: value } as { [name in K]?: number });
}
