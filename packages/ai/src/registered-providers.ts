import type { Model } from "@tiller/protocol/model";
import { isApiFamily } from "./api-families.ts";
import type { Environment } from "./auth.ts";
import { type Fields, firstProblem, isRecord, PROVIDER_CHECKS } from "./custom-fields.ts";
import { type CustomModels, type CustomProvider, readCustomModels } from "./custom-models.ts";
import type { SimpleContext, StreamSimple } from "./custom-stream.ts";
import type { ModelRegistry, RegisteredProvider } from "./model-registry.ts";
import { keyName } from "./parsed-file.ts";
import type { StreamModel } from "./provider.ts";
import { providerRow } from "./providers/index.ts";

/** Providers that programs add or change while the process runs. Nothing of it is written anywhere. */

/** A login that a program brings along: how to log in, how to renew it, and which key it gives. */
export interface OAuthConfig {
  name?: string;
  login?(callbacks: unknown): Promise<unknown>;
  refreshToken?(credentials: unknown): Promise<unknown>;
  getApiKey?(credentials: Readonly<Record<string, unknown>>): string;
  modifyModels?(models: Model[], credentials: Readonly<Record<string, unknown>>): Model[];
}

/** What may be registered: the fields of a provider in models.json, and functions. */
export interface ProviderConfig {
  name?: string;
  baseUrl?: string;
  /** The key, the name of a variable that is set, `$NAME` or `!command`. */
  apiKey?: string;
  api?: string;
  headers?: Record<string, string>;
  authHeader?: boolean;
  /** Instead of all models the provider has. Without them those stay, at the new address and with the new headers. */
  models?: readonly unknown[];
  streamSimple?: StreamSimple;
  oauth?: OAuthConfig;
}

export interface Providers {
  /** Throws an Error that names the field that is wrong. What was registered before under this name and is not said anew stays. */
  register(name: string, config: unknown): void;
  /** Everything is as it was before the name was registered. */
  unregister(name: string): void;
  /** The same for all names. */
  clear(): void;
  /** What was registered under a name. */
  get(name: string): ProviderConfig | undefined;
  /** Those that have a way to log in. */
  logins(): { id: string; name: string }[];
  /** Logs in as the provider does it, and keeps what comes of it. `callbacks` are how a person is asked. */
  login(name: string, callbacks: unknown): Promise<void>;
  logout(name: string): Promise<void>;
}

export interface ProvidersOptions {
  registry: ModelRegistry;
  env: Environment;
  /** Models may be others now. */
  onChange(): void;
  /** What a `streamSimple` gets to see of the conversation; as it is when nobody says otherwise. */
  contextFor?(context: SimpleContext): SimpleContext;
}

export function createProviders({ registry, env, onChange, contextFor }: ProvidersOptions): Providers {
  const configs = new Map<string, ProviderConfig>();
  const speakers = new Map<StreamSimple, StreamModel>();

  /** The provider's own, or that of the first who speaks an API which is none of our families. */
  const speakerOf = (model: Model): StreamModel | undefined => {
    const own = configs.get(model.provider);
    const isOwn = own?.streamSimple && (own.api === undefined || own.api === model.api || !isApiFamily(model.api));
    const stream = isOwn ? own.streamSimple : isApiFamily(model.api) ? undefined : speaking(model.api);
    if (!stream) return undefined;
    const speaker = speakers.get(stream) ?? lateSpeaker(stream, contextFor);
    speakers.set(stream, speaker);
    return speaker;
  };
  const speaking = (api: string): StreamSimple | undefined =>
    [...configs.values()].find((config) => config.streamSimple && config.api === api)?.streamSimple;
  const read = (name: string, config: ProviderConfig): RegisteredProvider => {
    const hasOwn = config.streamSimple !== undefined;
    const speaks = (api: string): boolean => (hasOwn && config.api === api) || speaking(api) !== undefined;
    // Not by an earlier registration: what that one has said is in this one.
    const isKnown = (registry.settingsOf(name)?.row ?? providerRow(name)) !== undefined;
    const made = config.models
      ? withModels(name, config, isKnown, { env, speaks })
      : withoutModels(name, config, registry.settingsOf(name), env);
    return { ...made, speaker: speakerOf, ...loginParts(name, config.oauth, made.models, registry) };
  };

  /** A login may change the models. */
  const readAgain = (name: string, config: ProviderConfig): void => {
    const provider = read(name, config);
    configs.set(name, config);
    registry.register(name, provider);
    onChange();
  };

  return {
    register: (name, given) => readAgain(name, { ...configs.get(name), ...checked(name, given) }),
    async login(name, callbacks) {
      const login = configs.get(name)?.oauth?.login;
      if (!login) throw new Error(`Unknown OAuth provider: ${name}`);
      await registry.setLogin(name, (await login(callbacks)) ?? {});
      const config = configs.get(name);
      if (config) readAgain(name, config);
    },
    async logout(name) {
      await registry.setLogin(name, undefined);
      const config = configs.get(name);
      if (config) readAgain(name, config);
    },
    unregister(name) {
      if (!configs.delete(name)) return;
      registry.register(name, undefined);
      onChange();
    },
    clear() {
      if (configs.size === 0) return;
      for (const name of configs.keys()) registry.register(name, undefined);
      configs.clear();
      onChange();
    },
    get: (name) => configs.get(name),
    logins: () =>
      [...configs].flatMap(([id, { oauth }]) =>
        oauth ? [{ id, name: oauth.name ?? registryName(registry, id) }] : [],
      ),
  };
}

/** What makes deltas of its events is loaded with the first question. */
function lateSpeaker(stream: StreamSimple, contextFor: ProvidersOptions["contextFor"]): StreamModel {
  return async function* (request) {
    const { streamFromEvents } = await import("./custom-stream.ts");
    yield* streamFromEvents(stream, contextFor)(request);
  };
}

function registryName(registry: ModelRegistry, id: string): string {
  return registry.provider(id)?.row.name ?? id;
}

/** Only what is given; throws when something of it cannot be meant. */
function checked(name: string, config: unknown): ProviderConfig {
  if (typeof name !== "string" || name === "") throw new Error("registerProvider: the name of the provider is missing");
  if (!isRecord(config)) throw new Error(`registerProvider("${name}"): the configuration must be an object`);
  const given = Object.fromEntries(Object.entries(config).filter(([, value]) => value !== undefined && value !== null));
  const wrong = firstProblem(given, PROVIDER_CHECKS) ?? wrongFunction(given);
  if (wrong) throw wrongField(name, wrong.field, `must be ${wrong.expected}`);
  if (given.baseUrl !== undefined && !URL.canParse(String(given.baseUrl))) {
    throw wrongField(name, "baseUrl", `is "${given.baseUrl}", which is not a URL`);
  }
  if (Object.keys(given).length === 0) {
    throw new Error(`registerProvider("${name}") says nothing; give it models, a baseUrl, headers or an apiKey`);
  }
  return given as ProviderConfig;
}

function wrongFunction({ streamSimple, oauth }: Fields): { field: string; expected: string } | undefined {
  if (streamSimple !== undefined && typeof streamSimple !== "function")
    return { field: "streamSimple", expected: "a function" };
  if (oauth !== undefined && !isRecord(oauth)) return { field: "oauth", expected: "an object" };
  return undefined;
}

function wrongField(name: string, field: string, what: string): Error {
  return new Error(`registerProvider("${name}"): ${field} ${what}`);
}

type Made = Omit<RegisteredProvider, "speaker">;

/** Read like an entry of models.json, but strictly: the first problem is thrown. */
function withModels(
  name: string,
  config: ProviderConfig,
  isKnown: boolean,
  { env, speaks }: { env: Environment; speaks(api: string): boolean },
): Made {
  const { streamSimple, oauth, models = [], ...rest } = config;
  if (models.length === 0) throw wrongField(name, "models", "is empty");
  const hasUrls = models.every((model) => isRecord(model) && typeof model.baseUrl === "string");
  const needsUrl = config.baseUrl === undefined && !isKnown && !hasUrls && config.api !== "ai-sdk";
  if (needsUrl && !streamSimple) throw wrongField(name, "baseUrl", "is missing; it is needed with models");
  if (config.apiKey === undefined && !isKnown && !oauth && !streamSimple) {
    throw wrongField(name, "apiKey", "is missing; with models it is needed, or oauth");
  }
  if (streamSimple && config.api === undefined && !isKnown && !models.every((model) => isRecord(model) && model.api)) {
    throw wrongField(name, "api", "is missing; streamSimple needs a name for the API it speaks");
  }
  const entry = { ...withVariables(rest, env), models, ...(needsUrl ? { baseUrl: `custom://${name}` } : {}) };
  const file = { name: `registerProvider("${name}")`, value: { providers: { [name]: entry } } };
  const read = readCustomModels(file, { builtinModelsOf: () => [], speaks });
  const settings = read.providers.get(name);
  const problem = read.problems[0];
  if (problem !== undefined || !settings) throw new Error(shortProblem(name, problem ?? "cannot be used"));
  // Who asks in a way of its own may need no key.
  const keyless = settings.keyless || (streamSimple !== undefined && config.apiKey === undefined && !oauth);
  return { ...kept(read), settings: { ...settings, keyless }, models: settings.models, isElsewhere: true };
}

/** `registerProvider("mine"): models[0].id is missing` */
function shortProblem(name: string, problem: string): string {
  return problem.replace(`${keyName(["providers", name])}.`, "");
}

function kept({ modelHeaders, modelOptions }: CustomModels): Pick<Made, "modelHeaders" | "modelOptions"> {
  return { modelHeaders, modelOptions };
}

/** What the provider is already, at another address, with other headers, or with another key. */
function withoutModels(
  name: string,
  config: ProviderConfig,
  known: CustomProvider | undefined,
  env: Environment,
): Made {
  const builtin = known?.row ?? providerRow(name);
  if (!builtin && !config.streamSimple && !config.oauth) {
    throw wrongField(name, "models", "is missing, and there is no provider of this name to change");
  }
  if (config.streamSimple && config.api === undefined && !builtin) {
    throw wrongField(name, "api", "is missing; streamSimple needs a name for the API it speaks");
  }
  const { baseUrl, apiKey, headers = {}, authHeader } = withVariables(config, env);
  const before = builtin ?? { id: name, name, api: config.api ?? "", baseUrl: "", keyVariables: [] };
  const row = { ...before, name: config.name ?? before.name, ...(baseUrl === undefined ? {} : { baseUrl }) };
  const settings: CustomProvider = {
    keyless: row.keyless === true,
    isDiscovered: false,
    options: undefined,
    ...known,
    row,
    apiKey: apiKey ?? known?.apiKey,
    isOpen: apiKey === undefined && known?.isOpen === true,
    authHeader: authHeader ?? known?.authHeader ?? false,
    headers: { ...before.headers, ...known?.headers, ...headers },
    models: [],
  };
  return {
    settings,
    ...(baseUrl === undefined ? {} : { change: (model: Model) => ({ ...model, baseUrl }) }),
    isElsewhere: baseUrl !== undefined,
    modelHeaders: new Map(),
    modelOptions: new Map(),
  };
}

/** Here a bare name may stand for a variable, if there is one of that name. In models.json it takes a `$`. */
function withVariables<T extends Pick<ProviderConfig, "apiKey" | "headers">>(config: T, env: Environment): T {
  const read = (text: string): string => (/^[A-Z_][A-Z0-9_]*$/.test(text) && env[text]?.trim() ? `$${text}` : text);
  const headers = Object.entries(config.headers ?? {}).map(([header, value]) => [header, read(value)]);
  return {
    ...config,
    ...(config.apiKey === undefined ? {} : { apiKey: read(config.apiKey) }),
    ...(config.headers === undefined ? {} : { headers: Object.fromEntries(headers) }),
  };
}

/** A login that stands in auth.json is read, and may change the models, as the provider wants it. */
function loginParts(
  name: string,
  oauth: OAuthConfig | undefined,
  models: readonly Model[] | undefined,
  registry: ModelRegistry,
): Pick<RegisteredProvider, "keyOfLogin" | "renewLogin"> & { models?: readonly Model[] } {
  if (!oauth) return {};
  const login = registry.loginOf(name);
  const changed: unknown = login && models && oauth.modifyModels ? oauth.modifyModels([...models], login) : undefined;
  if (Array.isArray(changed) && !changed.every((model) => isModelOf(name, model))) {
    throw wrongField(name, "oauth.modifyModels", "must give back models of this provider");
  }
  return {
    ...(oauth.refreshToken ? { renewLogin: async (stored) => oauth.refreshToken?.(stored) } : {}),
    ...(oauth.getApiKey ? { keyOfLogin: (stored) => oauth.getApiKey?.(stored) ?? String(stored.access) } : {}),
    ...(Array.isArray(changed) ? { models: changed as Model[] } : {}),
  };
}

function isModelOf(provider: string, model: unknown): boolean {
  return isRecord(model) && typeof model.id === "string" && model.provider === provider;
}
