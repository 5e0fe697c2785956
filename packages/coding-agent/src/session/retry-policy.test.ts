import { ProviderError } from "@tiller/ai/errors";
import { describe, expect, it } from "vitest";
import { retryDelay } from "./retry-policy.ts";

const settings = { maxRetries: 9, baseDelayMs: 2000, maxDelayMs: 60_000 };
const asking = (retryAfterMs: number) => new ProviderError("rate_limit", "slow down", { retryAfterMs });

describe("the pause before a retry", () => {
  const rows: [
    story: string,
    attempt: number,
    error: ProviderError | undefined,
    lot: number,
    delay: number | undefined,
  ][] = [
    ["starts with the base", 1, undefined, 0, 2000],
    ["doubles", 3, undefined, 0, 8000],
    ["is capped", 9, undefined, 0, 60_000],
    ["is longer by up to a tenth, by lot", 1, undefined, 1, 2200],
    ["is as long as the provider asks", 1, asking(5000), 0, 5000],
    ["is not shorter because the provider asks for less", 2, asking(10), 0, 4000],
    ["is not made when the provider asks for too much", 1, asking(60_001), 0, undefined],
  ];
  for (const [story, attempt, error, lot, delay] of rows) {
    it(story, () => expect(retryDelay(attempt, error, settings, lot)).toBe(delay));
  }
});
