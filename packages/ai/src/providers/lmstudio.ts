import type { ProviderRow } from "./provider-row.ts";

export const lmstudio: ProviderRow = {
  id: "lmstudio",
  name: "LM Studio",
  api: "openai-completions",
  baseUrl: "http://127.0.0.1:1234/v1",
  baseUrlVariable: "LMSTUDIO_BASE_URL",
  keyVariables: ["LM_API_TOKEN"],
  keyless: true,
  compat: { supportsStore: false, supportsDeveloperRole: false, maxTokensField: "max_tokens" },
  modelsPath: "/../api/v1/models",
};
