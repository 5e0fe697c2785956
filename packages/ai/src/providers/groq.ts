import type { ProviderRow } from "./provider-row.ts";

export const groq: ProviderRow = {
  id: "groq",
  name: "Groq",
  api: "openai-completions",
  baseUrl: "https://api.groq.com/openai/v1",
  keyVariables: ["GROQ_API_KEY"],
  defaultModel: "openai/gpt-oss-120b",
  compat: { supportsStore: false, supportsDeveloperRole: false },
  modelsPath: "/models",
  keyPage: "https://console.groq.com/keys",
};
