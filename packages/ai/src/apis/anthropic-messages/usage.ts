import type { Delta } from "../../provider.ts";
import { countOf } from "../wire-values.ts";

/** Token counts of the Anthropic Messages API. All of them are totals so far; one that is missing or null says nothing. */

export interface WireUsage {
  input_tokens?: number | null;
  output_tokens?: number | null;
  output_tokens_details?: { thinking_tokens?: number | null } | null;
  cache_read_input_tokens?: number | null;
  cache_creation_input_tokens?: number | null;
  cache_creation?: { ephemeral_1h_input_tokens?: number | null } | null;
}

type Counts = Omit<Extract<Delta, { type: "usage" }>, "type">;

/** What was told so far. */
export type UsageState = Counts;

export function createUsage(): UsageState {
  return {};
}

export function pushUsage(state: UsageState, usage: WireUsage | null | undefined, out: Delta[]): void {
  if (!usage) return;
  const told: Counts = {};
  tell(state, told, "input", usage.input_tokens);
  tell(state, told, "output", usage.output_tokens);
  tell(state, told, "cacheRead", usage.cache_read_input_tokens);
  tell(state, told, "cacheWrite", usage.cache_creation_input_tokens);
  // Nothing is kept for an hour unless it was asked for: a zero is no news.
  tell(state, told, "cacheWrite1h", usage.cache_creation?.ephemeral_1h_input_tokens || undefined);
  tell(state, told, "reasoning", usage.output_tokens_details?.thinking_tokens || undefined);
  if (Object.keys(told).length > 0) out.push({ type: "usage", ...told });
}

/** Totals never shrink: some servers end with zeros for what they counted at the beginning. */
function tell(state: UsageState, told: Counts, name: keyof Counts, value: number | null | undefined): void {
  const count = countOf(value);
  if (count === undefined || (count === 0 && (state[name] ?? 0) > 0)) return;
  state[name] = count;
  told[name] = count;
}
