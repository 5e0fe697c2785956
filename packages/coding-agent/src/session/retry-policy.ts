import type { ProviderError } from "@tiller/ai/errors";

export interface RetrySettings {
  maxRetries: number;
  baseDelayMs: number;
  /** Longest pause, also when the provider asks for more: then the prompt fails instead of hanging. */
  maxDelayMs: number;
}

/** Share of the delay that is drawn by lot, so that many agents do not come back at the same moment. */
const JITTER = 0.1;

/**
 * How long to wait before the given attempt (1, 2, ...), or undefined when the provider asks for a longer pause than we
 * are willing to make. `lot` is a number from 0 to 1.
 */
export function retryDelay(
  attempt: number,
  error: ProviderError | undefined,
  settings: RetrySettings,
  lot: number,
): number | undefined {
  const asked = error?.retryAfterMs;
  if (asked !== undefined && asked > settings.maxDelayMs) return undefined;
  const doubled = Math.min(settings.baseDelayMs * 2 ** (attempt - 1), settings.maxDelayMs);
  const delay = Math.round(Math.min(doubled * (1 + JITTER * lot), settings.maxDelayMs));
  return Math.max(delay, asked ?? 0);
}
