import type { ProviderRow } from "./provider-row.ts";

export const zai: ProviderRow = {
  id: "zai",
  name: "Z.ai",
  api: "openai-completions",
  baseUrl: "https://api.z.ai/api/paas/v4",
  keyVariables: ["ZAI_API_KEY"],
  defaultModel: "glm-5.3",
  compat: {
    supportsStore: false,
    supportsDeveloperRole: false,
    maxTokensField: "max_tokens",
    supportsStrictMode: false,
    thinkingFormat: "zai",
  },
  modelsPath: "/models",
  keyPage: "https://z.ai/manage-apikey/apikey-list",
};
