import type { ProviderRow } from "./provider-row.ts";

export const vercelAiGateway: ProviderRow = {
  id: "vercel-ai-gateway",
  name: "Vercel AI Gateway",
  api: "openai-completions",
  baseUrl: "https://ai-gateway.vercel.sh/v1",
  keyVariables: ["AI_GATEWAY_API_KEY"],
  defaultModel: "anthropic/claude-opus-5.5",
  compat: { supportsStore: false, supportsDeveloperRole: false, thinkingFormat: "openrouter" },
  modelsPath: "/models",
  keyPage: "https://vercel.com/ai-gateway",
};
