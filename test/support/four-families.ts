import { DIALECTS, type MockLlm } from "./mock-llm.ts";

/** The four API families on one mock server, for tests that tell the same story in each of them. */

export interface Family {
  /** As in models.json. */
  provider: string;
  /** The API family. */
  family: string;
}

export const FAMILIES: readonly Family[] = DIALECTS.map(({ provider, family }) => ({ provider, family }));

/** Dollars per million tokens. */
export const PRICES = { input: 3, output: 15, cacheRead: 0.3, cacheWrite: 3.75 };
/** Must never be seen outside of a request. */
export const KEY = "key-that-nobody-may-see";

/** Two pictures of one pixel each. */
export const RED_DOT =
  "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mP8z8BQDwAEhQGAhKmMIQAAAABJRU5ErkJggg==";
export const GREY_DOT =
  "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg==";
export const picture = (data: string) => ({ type: "image", data, mimeType: "image/png" });

/** What a level above `high` is called differs from family to family. */
const XHIGH: Record<string, string> = {
  "anthropic-messages": "48000",
  "openai-completions": "max",
  "openai-responses": "xhigh",
  "google-generative-ai": "30000",
};

/** A models.json in which each family has `mock-1`, which thinks and sees, and `plain`, which only reads. */
export function fourFamilies(llm: Pick<MockLlm, "baseUrlOf">, provider: object = {}): string {
  const providers = FAMILIES.map(({ provider: name, family }) => {
    const thinker = { reasoning: true, input: ["text", "image"], thinkingLevelMap: { xhigh: XHIGH[family] } };
    const size = { contextWindow: 200_000, maxTokens: 64_000, cost: PRICES };
    const models = [
      { id: "mock-1", ...thinker, ...size },
      { id: "plain", ...size, maxTokens: 500 },
    ];
    return [name, { baseUrl: llm.baseUrlOf(family), apiKey: KEY, api: family, models, ...provider }];
  });
  return JSON.stringify({ providers: Object.fromEntries(providers) });
}
