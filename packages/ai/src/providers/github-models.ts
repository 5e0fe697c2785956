import type { ProviderRow } from "./provider-row.ts";

/**
 * GitHub retired the public service on 2026-07-30, so no models are listed; the row serves installations that
 * still have it. The tokens that every CI job has (`GITHUB_TOKEN`, `GH_TOKEN`) are not meant for it.
 */
export const githubModels: ProviderRow = {
  id: "github-models",
  name: "GitHub Models",
  api: "openai-completions",
  baseUrl: "https://models.github.ai/inference",
  keyVariables: ["GITHUB_MODELS_TOKEN"],
  headers: { "x-github-api-version": "2022-11-28" },
  compat: { supportsStore: false, supportsDeveloperRole: false, maxTokensField: "max_tokens" },
  modelsPath: "/../catalog/models",
  keyPage: "https://github.com/settings/personal-access-tokens",
};
