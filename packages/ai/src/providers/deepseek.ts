import type { ProviderRow } from "./provider-row.ts";

export const deepseek: ProviderRow = {
  id: "deepseek",
  name: "DeepSeek",
  api: "openai-completions",
  baseUrl: "https://api.deepseek.com",
  keyVariables: ["DEEPSEEK_API_KEY"],
  defaultModel: "deepseek-v4-pro",
  compat: {
    supportsStore: false,
    supportsDeveloperRole: false,
    maxTokensField: "max_tokens",
    thinkingFormat: "deepseek",
  },
  modelsPath: "/models",
  keyPage: "https://platform.deepseek.com/api_keys",
};
