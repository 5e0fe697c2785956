import { expect, test } from "vitest";
import { createModelRegistry } from "./models.ts";
import { initialModel, resolveModelOption } from "./resolve-model.ts";

/** What people write, against the whole catalogue: it must lead to a provider they have a key for. */

function withKeys(...variables: string[]) {
  return createModelRegistry({
    env: Object.fromEntries(variables.map((name) => [name, "test-key"])),
    offline: true,
    now: () => 0,
    runCommand: () => Promise.reject(new Error("no command may run")),
  });
}

test.each<[variables: string[], pattern: string, provider: string, id: RegExp]>([
  [["OPENAI_API_KEY"], "gpt-5.4", "openai", /^gpt-5\.4$/],
  [["AZURE_OPENAI_API_KEY", "AZURE_OPENAI_RESOURCE_NAME"], "gpt-5.4", "azure-openai", /^gpt-5\.4$/],
  [["OPENROUTER_API_KEY"], "gpt-5", "openrouter", /^openai\/gpt-5$/],
  [["ANTHROPIC_API_KEY"], "sonnet", "anthropic", /^claude-sonnet-[\d-]+$/],
  [["OPENROUTER_API_KEY"], "sonnet", "openrouter", /^anthropic\/claude-sonnet/],
  [["ANTHROPIC_API_KEY", "OPENROUTER_API_KEY"], "claude-opus-5-5:high", "anthropic", /^claude-opus-5-5$/],
  [["GEMINI_API_KEY"], "gemini", "google", /^gemini-/],
  [["GROQ_API_KEY"], "gpt-oss-120b", "groq", /^openai\/gpt-oss-120b$/],
  [[], "claude-opus-5-5", "anthropic", /^claude-opus-5-5$/],
  [["ANTHROPIC_API_KEY"], "ollama/qwen3:8b", "ollama", /^qwen3:8b$/],
  [["GROQ_API_KEY"], "groq/brand-new", "groq", /^brand-new$/],
])("with %j --model %s is of %s", (variables, pattern, provider, id) => {
  const choice = resolveModelOption({ model: pattern }, withKeys(...variables));
  if (!choice?.ok) throw new Error(JSON.stringify(choice));
  expect(choice.model).toMatchObject({ provider, id: expect.stringMatching(id) });
});

test.each([
  ["OPENAI_API_KEY", "openai"],
  ["GEMINI_API_KEY", "google"],
  ["MISTRAL_API_KEY", "mistral"],
])("with %s alone a session starts with a model of %s", (variable, provider) => {
  const source = withKeys(variable);
  expect(initialModel({ scoped: [], isNewSession: true, source })).toMatchObject({ provider });
  expect(source.available().every((model) => model.provider === provider)).toBe(true);
});
