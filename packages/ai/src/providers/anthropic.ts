import type { ProviderRow } from "./provider-row.ts";

/** A token of a subscription goes before a key. */
export const anthropic: ProviderRow = {
  id: "anthropic",
  name: "Anthropic",
  api: "anthropic-messages",
  baseUrl: "https://api.anthropic.com",
  keyVariables: ["ANTHROPIC_OAUTH_TOKEN", "ANTHROPIC_API_KEY"],
  promptCache: { short: 300, long: 3600 },
  defaultModel: "claude-opus-5-5",
  modelsPath: "/v1/models?limit=1000",
  keyPage: "https://platform.claude.com/settings/keys",
};
