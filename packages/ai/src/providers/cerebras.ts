import type { ProviderRow } from "./provider-row.ts";

export const cerebras: ProviderRow = {
  id: "cerebras",
  name: "Cerebras",
  api: "openai-completions",
  baseUrl: "https://api.cerebras.ai/v1",
  keyVariables: ["CEREBRAS_API_KEY"],
  defaultModel: "gpt-oss-120b",
  compat: { supportsStore: false, supportsDeveloperRole: false },
  modelsPath: "/models",
  keyPage: "https://cloud.cerebras.ai",
};
