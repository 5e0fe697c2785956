import type { ProviderRow } from "./provider-row.ts";

export const vllm: ProviderRow = {
  id: "vllm",
  name: "vLLM",
  api: "openai-completions",
  baseUrl: "http://127.0.0.1:8000/v1",
  baseUrlVariable: "VLLM_BASE_URL",
  keyVariables: ["VLLM_API_KEY"],
  keyless: true,
  compat: { supportsStore: false, supportsDeveloperRole: false, maxTokensField: "max_tokens" },
  modelsPath: "/models",
};
