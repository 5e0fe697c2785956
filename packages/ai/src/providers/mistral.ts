import type { ProviderRow } from "./provider-row.ts";

/** Refuses fields it does not know, and tells the usage without being asked. */
export const mistral: ProviderRow = {
  id: "mistral",
  name: "Mistral",
  api: "openai-completions",
  baseUrl: "https://api.mistral.ai/v1",
  keyVariables: ["MISTRAL_API_KEY"],
  defaultModel: "mistral-medium-latest",
  compat: {
    supportsStore: false,
    supportsDeveloperRole: false,
    maxTokensField: "max_tokens",
    supportsUsageInStreaming: false,
    requiresMistralToolIds: true,
  },
  modelsPath: "/models",
  keyPage: "https://console.mistral.ai/api-keys",
};
