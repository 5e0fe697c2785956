import type { ProviderRow } from "./provider-row.ts";

/** The model of a request is the name of a deployment: the list has those that are named like their model. */
export const azureOpenai: ProviderRow = {
  id: "azure-openai",
  name: "Azure OpenAI",
  api: "azure-openai-responses",
  baseUrl: "https://{AZURE_OPENAI_RESOURCE_NAME}.openai.azure.com/openai/v1",
  baseUrlVariable: "AZURE_OPENAI_BASE_URL",
  versionVariable: "AZURE_OPENAI_API_VERSION",
  keyVariables: ["AZURE_OPENAI_API_KEY"],
  defaultModel: "gpt-6.1-sol",
  modelsPath: "/models",
  keyPage: "https://ai.azure.com",
};
