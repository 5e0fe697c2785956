import type { ProviderRow } from "./provider-row.ts";

export const fireworks: ProviderRow = {
  id: "fireworks",
  name: "Fireworks AI",
  api: "openai-completions",
  baseUrl: "https://api.fireworks.ai/inference/v1",
  keyVariables: ["FIREWORKS_API_KEY"],
  defaultModel: "accounts/fireworks/models/kimi-k3",
  compat: { supportsStore: false, supportsDeveloperRole: false, maxTokensField: "max_tokens" },
  modelsPath: "/models",
  keyPage: "https://app.fireworks.ai/settings/users/api-keys",
};
