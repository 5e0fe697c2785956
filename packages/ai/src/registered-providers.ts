import type { Clock } from "@tiller/protocol/clock";
import type { Model } from "@tiller/protocol/model";
import { isApiFamily } from "./api-families.ts";
import type { Environment } from "./auth.ts";
import { type SecretText, secretsOfModelsFile, variablesOf } from "./configured-secrets.ts";
import { type Fields, firstProblem, isRecord, PROVIDER_CHECKS } from "./custom-fields.ts";
import { type CustomModels, type CustomProvider, readCustomModels } from "./custom-models.ts";
import type { SimpleContext, StreamSimple } from "./custom-stream.ts";
import type { ModelRegistry, RegisteredProvider } from "./model-registry.ts";
import { keyName } from "./parsed-file.ts";
import type { StreamModel } from "./provider.ts";
import type { OAuthConfig, ProviderConfig, RefreshContext } from "./provider-config.ts";
import { providerRow } from "./providers/index.ts";
import { configOf, isWholeProvider } from "./whole-provider.ts";

/** Providers that programs add or change while the process runs. Nothing of it is written anywhere. */

export interface Providers {
  /** Throws an Error that names the field that is wrong. What was registered before under this name and is not said anew stays. */
  register(name: string, config: unknown): void;
  /** Everything is as it was before the name was registered. */
  unregister(name: string): void;
  /** The same for all names. */
  clear(): void;
  /** Those who find out themselves which models they have are asked, unless they have lately been. Never rejects. */
  refresh(force?: boolean): undefined | Promise<void>;
  /** Somebody has to be asked before any of his models is known. */
  readonly isWaiting: boolean;
  /** What was registered under a name. */
  get(name: string): ProviderConfig | undefined;
  /** The variables of the environment that keys and headers of all that was ever registered come from. */
  readonly keyVariables: ReadonlySet<string>;
  /** Those that have a way to log in. */
  logins(): { id: string; name: string }[];
  /** Logs in as the provider does it, and keeps what comes of it. `callbacks` are how a person is asked. */
  login(name: string, callbacks: unknown): Promise<void>;
  logout(name: string): Promise<void>;
}

export interface ProvidersOptions {
  registry: ModelRegistry;
  env: Environment;
  clock: Clock;
  /** Models may be others now. */
  onChange(): void;
  /** A provider could not find out which models it has. */
  onProblem(name: string, error: unknown): void;
  /** What a `streamSimple` gets to see of the conversation; as it is when nobody says otherwise. */
  contextFor?(context: SimpleContext): SimpleContext;
}

/** How long a provider may look for its models, and how long they then hold. */
const LOOK_MS = 10_000;
const FRESH_MS = 60_000;

export function createProviders(options: ProvidersOptions): Providers {
  const { registry, env, clock, onChange, contextFor } = options;
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
    const speaks = (api: string): boolean =>
      config.isWhole === true || (hasOwn && config.api === api) || speaking(api) !== undefined;
    // Not by an earlier registration: what that one has said is in this one.
    const isKnown = (registry.settingsOf(name)?.row ?? providerRow(name)) !== undefined;
    const made = config.models
      ? withModels(name, config, isKnown, { env, speaks })
      : withoutModels(name, config, registry.settingsOf(name), env);
    return { ...made, speaker: speakerOf, ...loginParts(name, config.oauth, made.models, registry) };
  };

  // A name that is taken back is still that of a key.
  const keyVariables = new Set<string>();
  const lately = new Map<string, number>();
  /** A login may change the models. */
  const readAgain = (name: string, config: ProviderConfig): void => {
    const provider = read(name, config);
    // Before anything is kept: what is said may throw when it is looked at.
    const variables = variablesOf(secretsOf(withVariables(config, env)));
    // Another one in its place, of which no model is known, has not been asked yet.
    if (!config.models && config.refreshModels !== configs.get(name)?.refreshModels) lately.delete(name);
    configs.set(name, config);
    for (const variable of variables) keyVariables.add(variable);
    registry.register(name, provider);
    onChange();
  };

  const look = async (name: string, force: boolean): Promise<void> => {
    const config = configs.get(name);
    if (!config?.refreshModels) return;
    lately.set(name, clock.now());
    const over = new AbortController();
    const isCurrent = (): boolean => configs.get(name)?.refreshModels === config.refreshModels && !over.signal.aborted;
    const publish: RefreshContext["publish"] = (news) => {
      if (isCurrent()) news?.update?.();
    };
    const cancel = clock.after(LOOK_MS, () => over.abort(new Error(`no answer within ${LOOK_MS / 1000} s`)), true);
    try {
      const credential = await orAborted(credentialOf(registry, name), over.signal);
      const context: RefreshContext = {
        signal: over.signal,
        credential,
        stored: undefined,
        allowNetwork: true,
        force,
        publish,
      };
      const found = await orAborted(config.refreshModels(context), over.signal);
      if (!isCurrent()) return;
      if (!Array.isArray(found)) throw wrongField(name, "refreshModels", "must give back a list of models");
      const { models: _, ...rest } = configs.get(name) ?? config;
      readAgain(name, found.length > 0 ? { ...rest, models: found } : rest);
    } catch (error) {
      options.onProblem(name, error);
    } finally {
      cancel();
    }
  };

  return {
    register(name, given) {
      if (!isWholeProvider(given)) return readAgain(name, { ...configs.get(name), ...checked(name, given) });
      const config = configOf(given, { env, login: () => registry.loginOf(name) });
      readAgain(name, { ...checked(name, config) });
    },
    refresh(force = false) {
      const due = [...configs].flatMap(([name, { refreshModels }]) => {
        const isDue = force || clock.now() - (lately.get(name) ?? Number.NEGATIVE_INFINITY) >= FRESH_MS;
        return refreshModels && isDue ? [name] : [];
      });
      if (due.length === 0) return undefined;
      return Promise.all(due.map((name) => look(name, force))).then(() => undefined);
    },
    get isWaiting() {
      return [...configs.values()].some(({ refreshModels, models }) => refreshModels && !models);
    },
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
      lately.delete(name);
      registry.register(name, undefined);
      onChange();
    },
    clear() {
      if (configs.size === 0) return;
      for (const name of configs.keys()) registry.register(name, undefined);
      configs.clear();
      lately.clear();
      onChange();
    },
    get: (name) => configs.get(name),
    keyVariables,
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

function wrongFunction(fields: Fields): { field: string; expected: string } | undefined {
  const { oauth } = fields;
  const field = ["streamSimple", "refreshModels"].find(
    (name) => fields[name] !== undefined && typeof fields[name] !== "function",
  );
  if (field !== undefined) return { field, expected: "a function" };
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
  const {
    streamSimple,
    oauth,
    models = [],
    refreshModels: _,
    isWhole,
    findsKeys: __,
    keyVariables: ___,
    ...rest
  } = config;
  if (models.length === 0) throw wrongField(name, "models", "is empty");
  const hasUrls = models.every((model) => isRecord(model) && typeof model.baseUrl === "string");
  const needsUrl = config.baseUrl === undefined && !isKnown && !hasUrls && config.api !== "ai-sdk";
  if (needsUrl && !streamSimple) throw wrongField(name, "baseUrl", "is missing; it is needed with models");
  if (config.apiKey === undefined && !isKnown && !oauth && !streamSimple) {
    throw wrongField(name, "apiKey", "is missing; with models it is needed, or oauth");
  }
  const saysApi = config.api !== undefined || models.every((model) => isRecord(model) && model.api);
  if (streamSimple && !saysApi && !isKnown && !isWhole) {
    throw wrongField(name, "api", "is missing; streamSimple needs a name for the API it speaks");
  }
  const entry = { ...withVariables(rest, env), models, ...(needsUrl ? { baseUrl: `custom://${name}` } : {}) };
  const file = { name: `registerProvider("${name}")`, value: { providers: { [name]: entry } } };
  const read = readCustomModels(file, { builtinModelsOf: () => [], speaks });
  const settings = read.providers.get(name);
  const problem = read.problems[0];
  if (problem !== undefined || !settings) throw new Error(shortProblem(name, problem ?? "cannot be used"));
  // Who asks in a way of its own may need no key.
  const asksForNone = config.findsKeys === true || (config.apiKey === undefined && !oauth);
  const keyless = settings.keyless || (streamSimple !== undefined && asksForNone);
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
  const saysNothing = config.isWhole || (!config.streamSimple && !config.oauth);
  if (!builtin && saysNothing && !config.refreshModels) {
    throw wrongField(name, "models", "is missing, and there is no provider of this name to change");
  }
  if (config.streamSimple && config.api === undefined && !builtin && !config.isWhole) {
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

/** As in models.json, but only of fields that we read: what else is in the object of a program may lead round in a circle. */
function secretsOf({ apiKey, headers, baseUrl, models = [], ...config }: ProviderConfig): SecretText[] {
  // Nobody has checked these.
  const { compat, modelOverrides, keyVariables } = config as Fields;
  const variables: unknown[] = Array.isArray(keyVariables) ? keyVariables : [];
  const names = variables.filter((name) => typeof name === "string");
  const overrides = isRecord(modelOverrides) ? Object.values(modelOverrides) : [];
  const ofModels = [...models, ...overrides].filter(isRecord).map(readFieldsOf);
  const fields = { apiKey, ofProvider: readFieldsOf({ headers, baseUrl, compat }), ofModels };
  return secretsOfModelsFile([fields, ...names.map((name) => ({ apiKey: `$${name}` }))]);
}

function readFieldsOf({ headers, baseUrl, compat }: Fields): Fields {
  return { headers, baseUrl, options: isRecord(compat) ? compat.options : undefined };
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

/** What a provider is let in with, as it is kept: a login, or a key. */
async function credentialOf(registry: ModelRegistry, name: string): Promise<RefreshContext["credential"]> {
  try {
    const { apiKey } = await registry.providerCredentials(name);
    return registry.loginOf(name) ?? (apiKey === undefined ? undefined : { type: "api_key", key: apiKey });
  } catch {
    // There is none: who needs one says so.
    return undefined;
  }
}

/** Rejects with the reason of the abort; what comes after that concerns nobody. */
function orAborted<T>(work: T | Promise<T>, signal: AbortSignal): Promise<T> {
  return new Promise((resolve, reject) => {
    signal.addEventListener("abort", () => reject(signal.reason as Error), { once: true });
    Promise.resolve(work).then(resolve, reject);
  });
}
