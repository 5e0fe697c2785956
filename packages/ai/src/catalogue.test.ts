import { Model } from "@tiller/protocol/model";
import { Compile } from "typebox/schema";
import { describe, expect, test } from "vitest";
import { builtinModels, builtinModelsOf, expandEntry, OFFLINE_MODEL, scriptModel } from "./catalogue.ts";
import { settleUsage } from "./cost.ts";
import { PROVIDERS, providerRow } from "./providers/index.ts";
import { testModel } from "./testing.ts";
import { clampLevel, levelsFor, THINKING_LEVELS } from "./thinking-levels.ts";

const nameOf = ({ provider, id }: Model): string => `${provider}/${id}`;
const find = (name: string): Model => {
  const model = builtinModels().find((candidate) => nameOf(candidate) === name);
  if (!model) throw new Error(`${name} is not in the catalogue`);
  return model;
};

describe("every model of the catalogue", () => {
  const schema = Compile(Model);

  test.each([...builtinModels(), OFFLINE_MODEL, scriptModel("/x")].map((model) => [nameOf(model), model] as const))(
    "%s is complete",
    (_, model) => {
      expect(schema.Check(model)).toBe(true);
      expect(model.contextWindow).toBeGreaterThan(0);
      expect(model.maxTokens).toBeGreaterThan(0);
      expect(model.maxTokens).toBeLessThanOrEqual(model.contextWindow);
      expect(model.input[0]).toBe("text");
      for (const price of Object.values(model.cost)) expect(price).toBeGreaterThanOrEqual(0);
      expect(model.cost.cacheRead).toBeLessThanOrEqual(model.cost.input);
    },
  );

  test("has its vendor's id once, and a provider that we know", () => {
    const names = builtinModels().map(nameOf);
    expect(new Set(names).size).toBe(names.length);
    for (const { provider } of builtinModels()) expect(providerRow(provider)?.id).toBe(provider);
  });

  test("costs more, not less, when the prompt is long", () => {
    for (const { cost, costTiers = [], contextWindow } of builtinModels()) {
      for (const tier of costTiers) {
        expect(tier.input).toBeGreaterThan(cost.input);
        expect(tier.output).toBeGreaterThan(cost.output);
        expect(tier.above).toBeLessThan(contextWindow);
      }
    }
  });

  test("has levels that are levels, and can think when it is one that thinks", () => {
    for (const model of builtinModels()) {
      const map = Object.keys(model.thinkingLevelMap ?? {});
      expect(map.filter((level) => !(THINKING_LEVELS as string[]).includes(level))).toEqual([]);
      if (model.reasoning) expect(levelsFor(model).filter((level) => level !== "off").length).toBeGreaterThan(0);
      else expect(model.thinkingLevelMap).toBeUndefined();
    }
  });
});

test("the default model of every provider is in its list", () => {
  for (const { id, defaultModel } of PROVIDERS) {
    if (defaultModel) expect(builtinModelsOf(id).map((model) => model.id)).toContain(defaultModel);
  }
});

test("models are found by provider; an unknown one has none", () => {
  expect(builtinModelsOf("anthropic").map(({ id }) => id)).toContain("claude-sonnet-4-5");
  expect(builtinModelsOf("anthropic")).toBe(builtinModelsOf("anthropic"));
  expect(builtinModelsOf("nobody")).toEqual([]);
  expect(builtinModelsOf("constructor")).toEqual([]);
  expect(builtinModelsOf("ollama")).toEqual([]);
  expect(builtinModels()).toBe(builtinModels());
});

test("models that embed, hear, speak or paint are not listed", () => {
  const others = /embed|whisper|tts|transcribe|realtime|audio|dall-e|-image|ocr|moderation/;
  expect(builtinModels().filter(({ id }) => others.test(id))).toEqual([]);
});

test("the whole of a hand-checked model", () => {
  expect(find("anthropic/claude-sonnet-4-5")).toEqual({
    id: "claude-sonnet-4-5",
    name: "Claude Sonnet 4.5",
    api: "anthropic-messages",
    provider: "anthropic",
    baseUrl: "https://api.anthropic.com",
    reasoning: true,
    input: ["text", "image"],
    cost: { input: 3, output: 15, cacheRead: 0.3, cacheWrite: 3.75 },
    contextWindow: 200_000,
    maxTokens: 64_000,
    compat: { thinking: "budget", interleavedThinking: true },
  });
});

test.each<[model: string, asked: string, gets: string]>([
  ["anthropic/claude-opus-5-5", "off", "minimal"],
  ["anthropic/claude-sonnet-4-5", "xhigh", "high"],
  ["openai/gpt-6.1-sol", "off", "minimal"],
  ["openai/gpt-6.1-sol", "xhigh", "xhigh"],
  ["openai/gpt-5.2", "off", "off"],
  ["openai/gpt-5.1", "xhigh", "high"],
  ["openai/gpt-5-pro", "low", "high"],
  ["openai/gpt-4.1", "high", "off"],
  ["google/gemini-3.8-flash", "off", "minimal"],
  ["google/gemini-2.5-flash", "off", "off"],
  ["google/gemini-2.5-pro", "off", "minimal"],
  ["deepseek/deepseek-v4-pro", "off", "off"],
  ["mistral/devstral-2512", "high", "off"],
  ["openrouter/openai/gpt-oss-120b", "off", "minimal"],
  ["openrouter/google/gemini-2.5-pro", "off", "minimal"],
  ["openrouter/google/gemini-2.5-flash", "off", "off"],
  ["openrouter/z-ai/glm-5", "off", "off"],
  ["fireworks/accounts/fireworks/models/kimi-k2p7-code", "off", "minimal"],
  ["fireworks/accounts/fireworks/models/glm-5p2", "off", "off"],
])("%s asked to think at %s thinks at %s", (name, asked, gets) => {
  expect(clampLevel(find(name), asked)).toBe(gets);
});

test("models that keep a prompt for a day when asked", () => {
  const keeping = builtinModels().filter(({ compat }) => compat?.supportsLongCacheRetention === true);
  expect(keeping.map(({ provider, id }) => `${provider}/${id}`)).toEqual([
    ...["gpt-5.5", "gpt-5.5-pro", "gpt-5.4", "gpt-5.2", "gpt-5.1", "gpt-5", "gpt-4.1"].map((id) => `openai/${id}`),
    ...["gpt-5.5", "gpt-5.4", "gpt-5.3-codex", "gpt-5.2", "gpt-5.1", "gpt-5", "gpt-4.1"].map(
      (id) => `azure-openai/${id}`,
    ),
  ]);
});

test("a long prompt is paid at the price of long prompts", () => {
  const haiku = find("anthropic/claude-haiku-5-5");
  const usage = {
    ...{ input: 150_000, output: 1000, cacheRead: 0, cacheWrite: 0, totalTokens: 0 },
    cost: { input: 0, output: 0, cacheRead: 0, cacheWrite: 0, total: 0 },
  };
  settleUsage(usage, haiku);
  expect(usage.cost.total).toBeCloseTo(0.0775, 10);
});

test("a line of the file is filled up from the row, and has the last word", () => {
  const row = { ...providerRow("groq")!, compat: { supportsStore: false, maxTokensField: "max_tokens" } };
  const line = { id: "m", contextWindow: 1000, maxTokens: 100, cost: [1, 2, 0, 0] as const };
  expect(expandEntry(line, row)).toEqual({
    ...testModel({ id: "m", name: "m", api: "openai-completions", provider: "groq", baseUrl: row.baseUrl }),
    ...{ input: ["text"], cost: { input: 1, output: 2, cacheRead: 0, cacheWrite: 0 } },
    ...{ contextWindow: 1000, maxTokens: 100, compat: row.compat },
  });
  expect(
    expandEntry({ ...line, api: "openai-responses", baseUrl: "http://x", compat: { maxTokensField: "y" } }, row),
  ).toMatchObject({
    api: "openai-responses",
    baseUrl: "http://x",
    compat: { supportsStore: false, maxTokensField: "y" },
  });
});
