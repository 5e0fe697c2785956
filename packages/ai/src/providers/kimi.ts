import type { ProviderRow } from "./provider-row.ts";

/** The coding subscription; keys for the pay-as-you-go API belong to `moonshot`. */
export const kimi: ProviderRow = {
  id: "kimi",
  name: "Kimi Code",
  api: "openai-completions",
  baseUrl: "https://api.kimi.com/coding/v1",
  keyVariables: ["KIMI_API_KEY"],
  defaultModel: "kimi-for-coding",
  compat: { supportsStore: false, supportsDeveloperRole: false, supportsStrictMode: false },
  modelsPath: "/models",
  keyPage: "https://www.kimi.com/code",
};
