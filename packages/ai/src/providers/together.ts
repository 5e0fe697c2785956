import type { ProviderRow } from "./provider-row.ts";

export const together: ProviderRow = {
  id: "together",
  name: "Together AI",
  api: "openai-completions",
  baseUrl: "https://api.together.ai/v1",
  keyVariables: ["TOGETHER_API_KEY"],
  defaultModel: "openai/gpt-oss-120b",
  compat: { supportsStore: false, supportsDeveloperRole: false, maxTokensField: "max_tokens" },
  modelsPath: "/models",
  keyPage: "https://api.together.ai/settings/api-keys",
};
