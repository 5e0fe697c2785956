import type { ProviderRow } from "./provider-row.ts";

export const llamacpp: ProviderRow = {
  id: "llamacpp",
  name: "llama.cpp",
  api: "openai-completions",
  baseUrl: "http://127.0.0.1:8080/v1",
  baseUrlVariable: "LLAMACPP_BASE_URL",
  keyVariables: ["LLAMA_API_KEY"],
  keyless: true,
  compat: { supportsStore: false, supportsDeveloperRole: false, maxTokensField: "max_tokens" },
  modelsPath: "/models",
};
