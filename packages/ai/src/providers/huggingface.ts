import type { ProviderRow } from "./provider-row.ts";

export const huggingface: ProviderRow = {
  id: "huggingface",
  name: "Hugging Face",
  api: "openai-completions",
  baseUrl: "https://router.huggingface.co/v1",
  keyVariables: ["HF_TOKEN"],
  compat: { supportsStore: false, supportsDeveloperRole: false, maxTokensField: "max_tokens" },
  modelsPath: "/models",
  keyPage: "https://huggingface.co/settings/tokens",
};
