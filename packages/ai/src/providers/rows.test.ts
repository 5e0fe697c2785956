import { expect, test } from "vitest";
import { API_FAMILIES } from "../api-families.ts";
import { modelsUrl, PROVIDERS, providerRow, resolveBaseUrl } from "./index.ts";

test.each(PROVIDERS.map((row) => [row.id, row] as const))("the row of %s is complete", (id, row) => {
  expect(id).toMatch(/^[a-z][a-z0-9-]*$/);
  expect(providerRow(id)).toBe(row);
  expect(row.name).not.toBe("");
  expect(API_FAMILIES).toContain(row.api);
  expect(URL.canParse(row.baseUrl.replace(/\{\w+\}/g, "x"))).toBe(true);
  expect(row.baseUrl).not.toMatch(/\/$/);
  expect(row.baseUrl.startsWith("https://")).toBe(row.keyless !== true);
  expect(row.keyVariables.length).toBeGreaterThan(0);
  for (const name of row.keyVariables) expect(name).toMatch(/^[A-Z][A-Z0-9_]+$/);
  if (!row.keyless) expect(URL.canParse(row.keyPage ?? "")).toBe(true);
  expect(JSON.stringify(row.headers ?? {})).not.toMatch(/key|token|authorization/i);
});

test("every provider is there once, and so is every address", () => {
  expect(new Set(PROVIDERS.map(({ id }) => id)).size).toBe(PROVIDERS.length);
  expect(new Set(PROVIDERS.map(({ baseUrl }) => baseUrl)).size).toBe(PROVIDERS.length);
  expect(providerRow("nobody")).toBeUndefined();
});

test("two providers never fight for a variable", () => {
  const names = PROVIDERS.flatMap(({ keyVariables }) => keyVariables);
  expect(new Set(names).size).toBe(names.length);
});

test("the variables people have set for years", () => {
  const variables = Object.fromEntries(PROVIDERS.map(({ id, keyVariables }) => [id, keyVariables]));
  expect(variables).toMatchObject({
    anthropic: ["ANTHROPIC_OAUTH_TOKEN", "ANTHROPIC_API_KEY"],
    openai: ["OPENAI_API_KEY"],
    google: ["GEMINI_API_KEY", "GOOGLE_API_KEY"],
    "azure-openai": ["AZURE_OPENAI_API_KEY"],
    openrouter: ["OPENROUTER_API_KEY"],
    "vercel-ai-gateway": ["AI_GATEWAY_API_KEY"],
    huggingface: ["HF_TOKEN"],
  });
});

test.each<[provider: string, env: Record<string, string>, url: string]>([
  ["groq", {}, "https://api.groq.com/openai/v1"],
  ["azure-openai", { AZURE_OPENAI_RESOURCE_NAME: "acme" }, "https://acme.openai.azure.com/openai/v1"],
  ["azure-openai", { AZURE_OPENAI_BASE_URL: "https://gate.example/openai/v1/" }, "https://gate.example/openai/v1"],
  [
    "azure-openai",
    { AZURE_OPENAI_RESOURCE_NAME: "acme", AZURE_OPENAI_API_VERSION: "preview" },
    "https://acme.openai.azure.com/openai/v1?api-version=preview",
  ],
  [
    "azure-openai",
    { AZURE_OPENAI_RESOURCE_NAME: "acme", AZURE_OPENAI_API_VERSION: "v1" },
    "https://acme.openai.azure.com/openai/v1",
  ],
  ["ollama", {}, "http://127.0.0.1:11434/v1"],
  ["ollama", { OLLAMA_HOST: "box" }, "http://box:11434/v1"],
  ["ollama", { OLLAMA_HOST: "box:9999" }, "http://box:9999/v1"],
  ["ollama", { OLLAMA_HOST: ":9999" }, "http://127.0.0.1:9999/v1"],
  ["ollama", { OLLAMA_HOST: "0.0.0.0:11434" }, "http://127.0.0.1:11434/v1"],
  ["ollama", { OLLAMA_HOST: "https://ollama.example.com" }, "https://ollama.example.com/v1"],
  ["ollama", { OLLAMA_HOST: "http://box:1/proxy/v1/" }, "http://box:1/proxy/v1"],
  ["ollama", { OLLAMA_HOST: "not a host" }, "not a host"],
])("%s with %j is at %s", (provider, env, url) => {
  expect(resolveBaseUrl(providerRow(provider)!, env)).toEqual({ url });
});

test("an address that lacks a part names the variable", () => {
  expect(resolveBaseUrl(providerRow("azure-openai")!, {})).toEqual({ missing: "AZURE_OPENAI_RESOURCE_NAME" });
});

test("an address that somebody wrote down is not replaced by the environment", () => {
  const row = providerRow("ollama")!;
  expect(resolveBaseUrl(row, { OLLAMA_HOST: "box" }, "http://other/v1")).toEqual({ url: "http://other/v1" });
});

test("an address that has its version keeps it", () => {
  const row = providerRow("azure-openai")!;
  const env = { AZURE_OPENAI_RESOURCE_NAME: "acme", AZURE_OPENAI_API_VERSION: "preview" };
  const once = resolveBaseUrl(row, env);
  expect(resolveBaseUrl(row, env, "url" in once ? once.url : "")).toEqual(once);
});

test.each([
  ["openai", "https://api.openai.com/v1", "https://api.openai.com/v1/models"],
  ["ollama", "http://box:11434/v1/", "http://box:11434/api/tags"],
  ["github-models", "https://models.github.ai/inference", "https://models.github.ai/catalog/models"],
  [
    "azure-openai",
    "https://a.example/openai/v1?api-version=preview",
    "https://a.example/openai/v1/models?api-version=preview",
  ],
])("the list of %s", (provider, baseUrl, url) => {
  expect(modelsUrl(providerRow(provider)!, baseUrl)).toBe(url);
});
