import type { ProviderRow } from "./provider-row.ts";

export const openrouter: ProviderRow = {
  id: "openrouter",
  name: "OpenRouter",
  api: "openai-completions",
  baseUrl: "https://openrouter.ai/api/v1",
  keyVariables: ["OPENROUTER_API_KEY"],
  defaultModel: "anthropic/claude-opus-5.5",
  compat: { supportsStore: false, supportsDeveloperRole: false, thinkingFormat: "openrouter" },
  modelsPath: "/models",
  keyPage: "https://openrouter.ai/settings/keys",
};
