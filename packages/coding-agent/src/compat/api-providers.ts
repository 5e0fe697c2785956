import { isApiFamily } from "@tiller/ai/api-families";
import { streamAssistant } from "@tiller/ai/stream";
import type { Model } from "@tiller/protocol/model";
import { type AskOptions, askModel } from "./ask-model.ts";
import type { AssistantMessageEventStream } from "./event-stream.ts";
import type { CompatHost } from "./host.ts";
import type { ModelContext } from "./model-context.ts";

/** Who answers for which API: our own families, and those that extensions bring along. */

export type AskFunction = (model: Model, context: ModelContext, options?: AskOptions) => AssistantMessageEventStream;

export interface ApiProvider {
  api: string;
  stream: AskFunction;
  streamSimple: AskFunction;
}

/** By host, so that what an old session's extensions brought along ends with them. */
const registered = new WeakMap<CompatHost, Map<string, ApiProvider & { sourceId?: string }>>();

function registeredBy(host: CompatHost): Map<string, ApiProvider & { sourceId?: string }> {
  const known = registered.get(host) ?? new Map();
  registered.set(host, known);
  return known;
}

/** What an extension has registered for an API with `registerApiProvider`; undefined when nobody has. */
export function registeredApi(host: CompatHost, api: string): ApiProvider | undefined {
  return registeredBy(host).get(api);
}

const FAMILY_NAMES: Readonly<Record<string, string>> = {
  Anthropic: "anthropic-messages",
  OpenAICompletions: "openai-completions",
  OpenAIResponses: "openai-responses",
  OpenAICodexResponses: "openai-responses",
  AzureOpenAIResponses: "azure-openai-responses",
  Google: "google-generative-ai",
  // Mistral's own API is close enough to the one that all speak.
  Mistral: "openai-completions",
  // Not spoken here: the answer is an error that says so.
  GoogleVertex: "google-vertex",
};

/** The same under the names of later versions. */
const API_GETTERS: Readonly<Record<string, string>> = {
  anthropicMessagesApi: "anthropic-messages",
  openAICompletionsApi: "openai-completions",
  openAIResponsesApi: "openai-responses",
  openAICodexResponsesApi: "openai-responses",
  azureOpenAIResponsesApi: "azure-openai-responses",
  googleGenerativeAIApi: "google-generative-ai",
  mistralConversationsApi: "openai-completions",
  googleVertexApi: "google-vertex",
  bedrockConverseStreamApi: "bedrock-converse-stream",
};

export function apiProviderNames(host: CompatHost): Record<string, unknown> {
  const own = registeredBy(host);
  /** Through the code of one of our families, whoever else may answer for the model's provider. */
  const askFamily =
    (api: string): AskFunction =>
    (model, context, options) =>
      askModel(host, streamAssistant, { ...model, api }, context, options);
  const family = (api: string): ApiProvider => ({ api, stream: askFamily(api), streamSimple: askFamily(api) });
  const ask =
    (kind: "stream" | "streamSimple"): AskFunction =>
    (model, context, options) =>
      own.get(model.api)?.[kind](model, context, options) ?? askModel(host, host.stream, model, context, options);

  const names: Record<string, unknown> = {
    stream: ask("stream"),
    streamSimple: ask("streamSimple"),
    complete: (...given: Parameters<AskFunction>) => ask("stream")(...given).result(),
    completeSimple: (...given: Parameters<AskFunction>) => ask("streamSimple")(...given).result(),
    registerApiProvider(provider: ApiProvider, sourceId?: string) {
      own.set(provider.api, { ...provider, sourceId });
    },
    unregisterApiProviders(sourceId: string) {
      for (const [api, provider] of own) if (provider.sourceId === sourceId) own.delete(api);
    },
    clearApiProviders: () => own.clear(),
    resetApiProviders: () => own.clear(),
    registerBuiltInApiProviders: () => undefined,
    getApiProvider: (api: string) => own.get(api) ?? (isApiFamily(api) ? family(api) : undefined),
    getApiProviders: () => [...own.values()],
  };
  for (const [name, api] of Object.entries(FAMILY_NAMES)) {
    names[`stream${name}`] = askFamily(api);
    names[`streamSimple${name}`] = askFamily(api);
  }
  for (const [name, api] of Object.entries(API_GETTERS)) names[name] = () => family(api);
  return names;
}
