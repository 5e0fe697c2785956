import type { ProviderRow } from "./provider-row.ts";

/** Its newest models call tools only through the Responses API. */
export const openai: ProviderRow = {
  id: "openai",
  name: "OpenAI",
  api: "openai-responses",
  baseUrl: "https://api.openai.com/v1",
  keyVariables: ["OPENAI_API_KEY"],
  defaultModel: "gpt-6.1-sol",
  modelsPath: "/models",
  keyPage: "https://platform.openai.com/api-keys",
};
