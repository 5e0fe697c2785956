import type { ProviderRow } from "./provider-row.ts";

export const google: ProviderRow = {
  id: "google",
  name: "Google Gemini",
  api: "google-generative-ai",
  baseUrl: "https://generativelanguage.googleapis.com/v1beta",
  keyVariables: ["GEMINI_API_KEY", "GOOGLE_API_KEY"],
  defaultModel: "gemini-3.8-flash",
  modelsPath: "/models?pageSize=1000",
  keyPage: "https://aistudio.google.com/apikey",
};
