import type { Model } from "@tiller/protocol/model";
import { expect, test } from "vitest";
import { builtinModelsOf } from "./catalogue.ts";
import { createModelRegistry } from "./models.ts";
import { testModel } from "./testing.ts";
import { similarModel } from "./unlisted-model.ts";

/** Ids that no list has, against the real catalogue: what is assumed must not be refused by older models. */

const registry = createModelRegistry({
  env: {},
  offline: true,
  now: () => 0,
  runCommand: () => Promise.reject(new Error("no command may run")),
});
const listed = (provider: string, id: string): Model => builtinModelsOf(provider).find((model) => model.id === id)!;

test.each<[provider: string, id: string, like: string]>([
  ["anthropic", "claude-opus-4-1-20250805", "claude-opus-4-5"],
  ["anthropic", "claude-haiku-4-5-20260101", "claude-haiku-4-5"],
  ["anthropic", "claude-opus-4-9", "claude-opus-4-8"],
  ["anthropic", "claude-sonnet-4-20250514", "claude-sonnet-4-5"],
  ["openai", "gpt-5.9", "gpt-5.6-sol"],
  ["openai", "gpt-4o-2024-08-06", "gpt-4o"],
  ["openai", "gpt-4.1-nano", "gpt-4.1"],
  ["openai", "o4-mini", "o3"],
  ["openai", "gpt-5.4-2026-03-01", "gpt-5.4"],
])("%s/%s is taken for one like %s", (provider, id, like) => {
  const { name: _, id: __, ...traits } = listed(provider, like);
  expect(registry.unlisted(provider, id)).toEqual({ ...traits, id, name: id });
});

test("where several are as near, only what they have in common counts", () => {
  const opus = registry.unlisted("anthropic", "claude-opus-nightly")!;
  // Some think by budget and some by effort: nothing is said about it.
  expect(opus).toMatchObject({ reasoning: true, contextWindow: 200_000, maxTokens: 64_000 });
  expect(opus.compat).toBeUndefined();
  expect(opus.thinkingLevelMap).toBeUndefined();
});

test.each([
  ["anthropic", "claude-3-5-haiku-20241022"],
  ["anthropic", "some-model"],
  ["openai", "some-model"],
  ["groq", "brand-new"],
])("where none is near (%s/%s), nothing is assumed that an older model could refuse", (provider, id) => {
  const model = registry.unlisted(provider, id)!;
  const { api, baseUrl, cost } = registry.find(provider, registry.provider(provider)!.row.defaultModel!)!;
  expect(model).toMatchObject({ id, provider, api, baseUrl, cost, reasoning: false });
  expect(model).toMatchObject({ contextWindow: expect.any(Number), maxTokens: 16_384 });
  expect(model.contextWindow).toBeLessThanOrEqual(128_000);
  for (const quirk of ["thinking", "preservedThinking", "supportsPromptCacheOptions"]) {
    expect(model.compat ?? {}).not.toHaveProperty(quirk);
  }
  expect(model.thinkingLevelMap).toBeUndefined();
});

test("a number behind what all ids have in common tells the nearest", () => {
  const all = ["m-2", "m-5"].map((id) => testModel({ id, reasoning: id === "m-5" }));
  expect(similarModel(all, all[0]!, "m-1").reasoning).toBe(false);
  expect(similarModel(all, all[0]!, "m-7").reasoning).toBe(true);
  expect(similarModel(all, all[0]!, "n-7").reasoning).toBe(false);
});
