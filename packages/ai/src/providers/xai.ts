import type { ProviderRow } from "./provider-row.ts";

export const xai: ProviderRow = {
  id: "xai",
  name: "xAI",
  api: "openai-completions",
  baseUrl: "https://api.x.ai/v1",
  keyVariables: ["XAI_API_KEY"],
  defaultModel: "grok-4.7",
  compat: { supportsStore: false, supportsDeveloperRole: false },
  modelsPath: "/models",
  keyPage: "https://console.x.ai",
};
