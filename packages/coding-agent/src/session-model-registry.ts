import type { ModelRegistry } from "@tiller/ai/model-registry";
import type { Providers } from "@tiller/ai/registered-providers";
import type { AssistantMessage } from "@tiller/protocol/message";
import type { Model } from "@tiller/protocol/model";
import { isRecord } from "./extensions/answers.ts";
import { frozen } from "./lib/copies.ts";
import type { ModelControl } from "./session/model-control.ts";
import type { SessionModels } from "./session-models.ts";

/** The models of a session as extensions see them, with the method names they know. Loaded with the first extension. */
export interface ExtensionModelRegistry {
  find(provider: string, id: string): Model | undefined;
  getAll(): Model[];
  getAvailable(): Model[];
  hasConfiguredAuth(model: Model): boolean;
  isUsingOAuth(model: Model): boolean;
  getApiKey(model: Model): Promise<string | undefined>;
  getApiKeyForProvider(provider: string): Promise<string | undefined>;
  /** Never rejects. */
  getApiKeyAndHeaders(model: Model): Promise<AuthAnswer>;
  getProviderDisplayName(provider: string): string;
  getProviderAuthStatus(provider: string): { configured: boolean; source?: string };
  /** A name and what is said of it; or an object that says all of it. */
  registerProvider(nameOrProvider: unknown, config?: unknown): void;
  unregisterProvider(name: string): void;
  /** Asks the servers on this machine what they have now, and providers that find out themselves. */
  refresh(): Promise<void>;
  /** What could not be used of the configuration. */
  getError(): string | undefined;
  /** A question beside the conversation: the events of the answer. */
  streamSimple(model: Model, context: unknown, options?: unknown): AnswerStream;
  stream: ExtensionModelRegistry["streamSimple"];
  /** The same, and only the whole answer. */
  complete(model: Model, context: unknown, options?: unknown): Promise<AssistantMessage>;
  completeSimple: ExtensionModelRegistry["complete"];
  readonly authStorage: ExtensionAuth;
}

/** What asking gives: events, and the message they make. */
export interface AnswerStream extends AsyncIterable<unknown> {
  result(): Promise<AssistantMessage>;
}

export type AuthAnswer = { ok: true; apiKey?: string; headers?: Record<string, string> } | { ok: false; error: string };

/** Keys by provider. Only logins are kept in a file. */
export interface ExtensionAuth {
  has(provider: string): boolean;
  hasAuth(provider: string): boolean;
  list(): string[];
  getApiKey(provider: string): Promise<string | undefined>;
  getOAuthProviders(): { id: string; name: string }[];
  /** Logs in with a provider that an extension has registered; `callbacks` are how a person is asked. */
  login(provider: string, callbacks?: unknown): Promise<void>;
  logout(provider: string): Promise<void>;
  /** For this process only, before all other keys. */
  setRuntimeApiKey(provider: string, key: string): void;
  removeRuntimeApiKey(provider: string): void;
  reload(): void;
}

export interface ModelRegistryOptions {
  found: Pick<SessionModels, "registry" | "source">;
  models: Pick<ModelControl, "available">;
  providers: Pick<Providers, "register" | "unregister" | "refresh" | "logins" | "login" | "logout">;
  /** Asks a model in the words of extensions. */
  ask(model: Model, context: unknown, options: unknown): AnswerStream;
}

export function createModelRegistry({ found, models, providers, ask }: ModelRegistryOptions): ExtensionModelRegistry {
  const { registry, source } = found;
  /** Whatever an extension holds of a model: the lists have the whole. */
  const known = (model: Model): Model => registry.find(model.provider, model.id) ?? model;
  const keyOf = async (model: Model): Promise<string | undefined> => {
    const answer = await authOf(registry, known(model));
    return answer.ok ? answer.apiKey : undefined;
  };
  const keyOfProvider = async (provider: string): Promise<string | undefined> => {
    try {
      return (await registry.providerCredentials(provider)).apiKey;
    } catch {
      return undefined;
    }
  };
  const streamSimple: ExtensionModelRegistry["streamSimple"] = (model, context, given = {}) =>
    ask(known(model), context, given);
  const complete: ExtensionModelRegistry["complete"] = (...asked) => streamSimple(...asked).result();

  return {
    find: (provider, id) => frozen(registry.find(provider, id)),
    getAll: () => registry.all().map(frozen),
    getAvailable: () => models.available().map(frozen),
    hasConfiguredAuth: (model) => registry.hasCredentials(known(model)),
    isUsingOAuth: ({ provider }) => isLogin(registry, provider),
    getApiKey: keyOf,
    getApiKeyForProvider: keyOfProvider,
    getApiKeyAndHeaders: (model) => authOf(registry, known(model)),
    getProviderDisplayName: (provider) => registry.provider(provider)?.row.name ?? provider,
    getProviderAuthStatus(provider) {
      const state = registry.provider(provider);
      const key = state?.key;
      const origin = key && "source" in key ? { source: key.source } : {};
      return { configured: state !== undefined && (state.keyless || "source" in state.key), ...origin };
    },
    registerProvider: (given, config) =>
      isRecord(given) ? providers.register(String(given.id), given) : providers.register(given as string, config),
    unregisterProvider: providers.unregister,
    async refresh() {
      await Promise.all([source.refresh(), providers.refresh(true)]);
    },
    getError: () => (registry.problems.length > 0 ? registry.problems.join("\n") : undefined),
    streamSimple,
    stream: streamSimple,
    complete,
    completeSimple: complete,
    authStorage: authStorage(registry, providers, keyOfProvider),
  };
}

async function authOf(registry: ModelRegistry, model: Model): Promise<AuthAnswer> {
  try {
    const { apiKey, headers } = await registry.credentials(model);
    return { ok: true, ...(apiKey === undefined ? {} : { apiKey }), ...(headers ? { headers } : {}) };
  } catch (error) {
    return { ok: false, error: error instanceof Error ? error.message : String(error) };
  }
}

function isLogin(registry: ModelRegistry, provider: string): boolean {
  const key = registry.provider(provider)?.key;
  return (
    registry.loginOf(provider) !== undefined && key !== undefined && "source" in key && key.source.includes("(login")
  );
}

function authStorage(
  registry: ModelRegistry,
  providers: Pick<Providers, "logins" | "login" | "logout">,
  getApiKey: ExtensionAuth["getApiKey"],
): ExtensionAuth {
  const has = (provider: string): boolean => {
    const key = registry.provider(provider)?.key;
    return key !== undefined && "source" in key;
  };
  return {
    has,
    hasAuth: has,
    list: () => registry.providers().filter(has),
    getApiKey,
    getOAuthProviders: providers.logins,
    login: (provider, callbacks = {}) => providers.login(provider, callbacks),
    logout: providers.logout,
    setRuntimeApiKey: (provider, key) => registry.setRuntimeKey(provider, key),
    removeRuntimeApiKey: (provider) => registry.setRuntimeKey(provider, undefined),
    reload: () => undefined,
  };
}
