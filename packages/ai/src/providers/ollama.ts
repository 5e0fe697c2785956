import type { ProviderRow } from "./provider-row.ts";

export const ollama: ProviderRow = {
  id: "ollama",
  name: "Ollama",
  api: "openai-completions",
  baseUrl: "http://127.0.0.1:11434/v1",
  baseUrlVariable: "OLLAMA_HOST",
  keyVariables: ["OLLAMA_API_KEY"],
  keyless: true,
  compat: { supportsStore: false, supportsDeveloperRole: false, maxTokensField: "max_tokens" },
  modelsPath: "/../api/tags",
  showPath: "/../api/show",
};
