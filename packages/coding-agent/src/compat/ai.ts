import { keyVariables } from "@tiller/ai/auth";
import { settleUsage } from "@tiller/ai/cost";
import { isOverflowText } from "@tiller/ai/overflow";
import { parsePartialObject } from "@tiller/ai/partial-json";
import { clampLevel, levelsFor } from "@tiller/ai/thinking-levels";
import type { AssistantMessage, Usage } from "@tiller/protocol/message";
import type { Model } from "@tiller/protocol/model";
import { parseJsonText } from "../config/json-text.ts";
import { frozen } from "../lib/copies.ts";
import { apiProviderNames } from "./api-providers.ts";
import { AssistantMessageEventStream, createAssistantMessageEventStream, EventStream } from "./event-stream.ts";
import type { CompatHost } from "./host.ts";
import { collapseSystemMessages, contentText, getCurrentSystemPrompt, getCurrentTools } from "./model-context.ts";
import { oauthNames } from "./oauth.ts";
import { createParts, type OpenParts, type Part } from "./parts.ts";
import { providerNames } from "./provider-factories.ts";

/** What needs the schema library comes when it is asked for. */
export const AI_PARTS: readonly Part[] = [
  { names: "Type StringEnum", load: async () => (await import("./schema-part.ts")).typeNames() },
  {
    names: "validateToolArguments validateToolCall",
    load: async () => (await import("./schema-part.ts")).checkNames(),
  },
];

/** `pi-ai`: real models behind the names that extensions know. */
export function aiModule(host: CompatHost): OpenParts {
  const getModel = (provider: string, id: string) => frozen(host.models.find(provider, id));
  const getModels = (provider: string) => host.models.modelsOf(provider).map(frozen);
  const getProviders = () => host.models.providers();
  return createParts(
    "pi-ai",
    {
      EventStream,
      AssistantMessageEventStream,
      createAssistantMessageEventStream,
      ...apiProviderNames(host),
      ...providerNames(host.env),
      ...oauthNames(),
      getModel,
      getModels,
      getProviders,
      // The same under the names of later versions.
      getBuiltinModel: getModel,
      getBuiltinModels: getModels,
      getBuiltinProviders: getProviders,
      getEnvApiKey: (provider: string) => envKey(host, provider)?.value,
      findEnvKeys: (provider: string) => keyVariables(provider).filter((name) => host.env[name]?.trim()),
      uuidv7: () => host.ids.uuid(),
      calculateCost,
      isContextOverflow,
      supportsXhigh: (model: Model) => levelsFor(model).includes("xhigh"),
      getSupportedThinkingLevels: levelsFor,
      clampThinkingLevel: clampLevel,
      modelsAreEqual: (a?: Model | null, b?: Model | null) => !!a && !!b && a.id === b.id && a.provider === b.provider,
      hasApi: (model: Model, api: string) => model.api === api,
      parseStreamingJson: (text: string | undefined) => parsePartialObject(text ?? ""),
      parseJsonWithRepair,
      contentText,
      collapseSystemMessages,
      normalizeContext: collapseSystemMessages,
      getCurrentSystemPrompt,
      getCurrentTools,
    },
    AI_PARTS,
    host,
  );
}

function envKey({ env }: CompatHost, provider: string): { value: string } | undefined {
  const value = keyVariables(provider)
    .map((name) => env[name]?.trim())
    .find((text) => text);
  return value === undefined ? undefined : { value };
}

function calculateCost(model: Model, usage: Usage): Usage["cost"] {
  const { totalTokens } = usage;
  settleUsage(usage, model);
  // Whoever has counted the total himself is right.
  if (totalTokens > 0) usage.totalTokens = totalTokens;
  return usage.cost;
}

/** Some providers say so, others cut the prompt in silence and count what they were sent. */
function isContextOverflow(message: AssistantMessage, contextWindow = 0): boolean {
  if (message.stopReason === "error") return isOverflowText(message.errorMessage ?? "");
  const { input, cacheRead } = message.usage;
  return contextWindow > 0 && message.stopReason === "stop" && input + cacheRead > contextWindow;
}

function parseJsonWithRepair(text: string): unknown {
  const parsed = parseJsonText(text);
  return parsed.ok ? parsed.value : parsePartialObject(text);
}
