import type { ProviderRow } from "./provider-row.ts";

/** Its GPT and Claude models speak their vendors' APIs; those of the chat API can be discovered. */
export const opencode: ProviderRow = {
  id: "opencode",
  name: "OpenCode Zen",
  api: "openai-completions",
  baseUrl: "https://opencode.ai/zen/v1",
  keyVariables: ["OPENCODE_API_KEY"],
  compat: { supportsStore: false, supportsDeveloperRole: false, maxTokensField: "max_tokens" },
  modelsPath: "/models",
  keyPage: "https://opencode.ai/auth",
};
