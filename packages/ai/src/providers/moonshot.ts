import type { ProviderRow } from "./provider-row.ts";

export const moonshot: ProviderRow = {
  id: "moonshot",
  name: "Moonshot AI",
  api: "openai-completions",
  baseUrl: "https://api.moonshot.ai/v1",
  keyVariables: ["MOONSHOT_API_KEY"],
  defaultModel: "kimi-k3",
  compat: {
    supportsStore: false,
    supportsDeveloperRole: false,
    maxTokensField: "max_completion_tokens",
    supportsStrictMode: false,
  },
  modelsPath: "/models",
  keyPage: "https://platform.kimi.ai",
};
