import type { Model } from "@tiller/protocol/model";
import {
  type Environment,
  type FoundKey,
  findKey,
  isSendable,
  type KeySources,
  plainKeyVariable,
  readAuthFile,
  readCredential,
  readHeader,
  type Secret,
} from "./auth.ts";
import { builtinModelsOf, isLocal, OFFLINE_MODEL, scriptModel } from "./catalogue.ts";
import { type CustomModels, type CustomProvider, readCustomModels } from "./custom-models.ts";
import { ProviderError } from "./errors.ts";
import { createModelLists, nameOf } from "./model-lists.ts";
import { filledOptions, type ModelSecrets, publicUrl, readOptions, spokenBy, urlAccess } from "./model-secrets.ts";
import { type ParsedFile, problemAt } from "./parsed-file.ts";
import type { StreamModel } from "./provider.ts";
import { PROVIDERS, providerRow, resolveBaseUrl } from "./providers/index.ts";
import type { ProviderRow } from "./providers/provider-row.ts";
import { createCommandValues, type RunCommand } from "./secret-commands.ts";
import { bareModel, similarModel } from "./unlisted-model.ts";

export interface RegistryOptions {
  /** models.json or models.yml. */
  models?: ParsedFile;
  /** auth.json. */
  auth?: ParsedFile;
  env: Environment;
  /** Milliseconds since 1970, for logins that expire. */
  now(): number;
  /** Runs a `!command` and gives what it printed. */
  runCommand: RunCommand;
  /** `--api-key`. */
  runtimeKey?: { provider: string; key: string };
  /** May the offline model be used? */
  offline: boolean;
  /** The script file that was chosen at start, if any. */
  script?: { path: string };
  /** Keeps a login, or forgets it, for other processes and for later. */
  keepLogin?(provider: string, login: Login | undefined): Promise<void>;
  /** Where packages that models name (`ai-sdk`) are looked for. */
  packagesFrom?: string;
}

/** What a request needs beside the model, which hosts can see: see `askedModel`. */
export interface Credentials extends ModelSecrets {
  apiKey?: string;
  headers?: Record<string, string>;
}

/** Where a provider is and whether it has a key; nothing secret is in it. */
export interface ProviderState {
  row: ProviderRow;
  /** The row's, changed by the environment and models.json; or the variable that has to be set first. */
  baseUrl: { url: string } | { missing: string };
  key: { source: string } | { missing: string };
  keyless: boolean;
  /** Its server is asked for the models it has: one on this machine, or one that models.json wants to be asked. */
  discovers: boolean;
  /** Somebody meant it: there is a key, or models.json speaks of it. */
  configured: boolean;
}

/** A provider that a program has added or changed while the process runs; it counts before files and the built-in rows. */
export interface RegisteredProvider {
  settings: CustomProvider;
  /** Instead of the provider's own list; that list, changed, when there is none. */
  models?: readonly Model[];
  change?(model: Model): Model;
  /** The models are not where the files say: what those say about their addresses does not count. */
  isElsewhere: boolean;
  modelHeaders: ReadonlyMap<string, Readonly<Record<string, string>>>;
  modelOptions: ReadonlyMap<string, Readonly<Record<string, unknown>>>;
  /** Who asks a model instead of its API family. */
  speaker?(model: Model): StreamModel | undefined;
  /** The key that is in a login of auth.json. May throw. */
  keyOfLogin?(login: Login): string;
  /** A login that is good again, for one that has expired. */
  renewLogin?(login: Login): Promise<unknown>;
}

/** An entry of auth.json that a provider's own code has made. */
export type Login = Readonly<Record<string, unknown>>;

/** Which models there are and how they are reached. Runs nothing, and reads the catalogue only when somebody asks for it. */
export interface ModelRegistry {
  /** Every model, also those without a key. */
  all(): Model[];
  modelsOf(provider: string): readonly Model[];
  /** Every provider that has models or could have them, built in or from models.json. */
  providers(): string[];
  provider(id: string): ProviderState | undefined;
  /**
   * The models that can be asked now. The offline model is among them only when there is nothing else or when it is the
   * one in use, so that nobody lands on it by accident.
   */
  available(current?: Model): Model[];
  find(provider: string, id: string): Model | undefined;
  /** A model that no list has, with the figures of those it is like; undefined for an unknown provider. */
  unlisted(provider: string, id: string): Model | undefined;
  /** The same, and it is adopted; only where any name may be given: no list, or a server of one's own, and no key missing. */
  named(provider: string, id: string): Model | undefined;
  /** Stands for the first model of a server that has not been asked yet. */
  firstOf(provider: string): Model | undefined;
  isFirstOf(model: Model): boolean;
  /** From now on it is one of its provider's models. */
  adopt(model: Model): void;
  /** What a server says it has now. */
  learn(provider: string, models: readonly Model[]): void;
  /** What is known of one model, instead of what was assumed. */
  describe(model: Model): void;
  /** Its server could tell more of it than is known. */
  isAssumed(model: Model): boolean;
  hasCredentials(model: Model): boolean;
  /** Why a model cannot be asked, as far as that is known without running anything. */
  unusable(model: Model): string | undefined;
  /** Throws ProviderError("auth") with a text that says how to configure the model. A promise when a command must run. */
  credentials(model: Model): Credentials | Promise<Credentials>;
  /** The same without what only one model has. */
  providerCredentials(provider: string): Credentials | Promise<Credentials>;
  /** What could not be used of the configuration, one sentence each. */
  problems: string[];
  /** Takes effect at once, for this process only; undefined takes it back. */
  register(provider: string, registered: RegisteredProvider | undefined): void;
  /** What models.json says of a provider. */
  settingsOf(provider: string): CustomProvider | undefined;
  /** A key for this process only, before all others; undefined takes it back. */
  setRuntimeKey(provider: string, key: string | undefined): void;
  /** A login as it stands in auth.json. */
  loginOf(provider: string): Login | undefined;
  /** Another one, which is kept; undefined ends it. Rejects when it is no login, or cannot be kept. */
  setLogin(provider: string, login: unknown): Promise<void>;
}

const NEEDS_HOLD_MS = 1000;

export function createModelRegistry(options: RegistryOptions): ModelRegistry {
  const { env } = options;
  const custom = readCustomModels(options.models, { builtinModelsOf: builtins, packagesFrom: options.packagesFrom });
  const auth = readAuthFile(options.auth);
  const configured = configuredKeys(custom);
  const commands = createCommandValues(options.runCommand);
  const firsts = new Map<string, Model>();
  /** Whole base URLs of models of which hosts see only a part, by name. */
  const addresses = new Map<string, string>();
  const locals = [
    ...(options.script ? [scriptModel(options.script.path)] : []),
    ...(options.offline ? [OFFLINE_MODEL] : []),
  ];
  const listedIds = [...new Set([...PROVIDERS.map(({ id }) => id), ...custom.providers.keys()])];
  const registered = new Map<string, Standing>();
  const ids = (): string[] => (registered.size === 0 ? listedIds : [...new Set([...listedIds, ...registered.keys()])]);
  const settingsOf = (provider: string): CustomProvider | undefined =>
    registered.get(provider)?.given.settings ?? custom.providers.get(provider);
  const runtimeKeys = new Map<string, string>();
  if (options.runtimeKey) runtimeKeys.set(options.runtimeKey.provider, options.runtimeKey.key);

  const logins = new Map(Object.entries((options.auth?.value ?? {}) as Record<string, Login>));
  const loginOf = (provider: string): Login | undefined =>
    auth.stored.get(provider)?.type === "oauth" ? logins.get(provider) : undefined;
  const setLogin = async (provider: string, given: unknown): Promise<void> => {
    const login = given === undefined ? undefined : { ...(given as Login), type: "oauth" };
    const read = login && readCredential(login);
    if (typeof read === "string") throw new Error(`The login of "${provider}" ${read}`);
    if (login && read) {
      logins.set(provider, login);
      auth.stored.set(provider, read);
    } else {
      logins.delete(provider);
      auth.stored.delete(provider);
    }
    lately = new WeakMap();
    await options.keepLogin?.(provider, login);
  };
  /** One at a time: a provider may take back the old login with the first renewal. */
  const renewals = new Map<string, Promise<void>>();
  /** Undefined when there is nothing to renew. */
  const renewed = (provider: string): undefined | Promise<void> => {
    const renew = registered.get(provider)?.given.renewLogin;
    const [login, stored] = [loginOf(provider), auth.stored.get(provider)];
    if (!renew || !login || stored?.type !== "oauth" || runtimeKeys.has(provider)) return undefined;
    if (stored.expires === 0 || stored.expires > options.now()) return undefined;
    const running =
      renewals.get(provider) ?? renew(login).then((fresh) => setLogin(provider, { ...login, ...(fresh as Login) }));
    renewals.set(provider, running);
    return running
      .catch((cause: unknown) => {
        const why = cause instanceof Error ? cause.message : String(cause);
        throw new ProviderError("auth", `The login of "${provider}" has expired and could not be renewed: ${why}`, {
          cause,
        });
      })
      .finally(() => renewals.delete(provider));
  };
  const keyOf = (provider: string): FoundKey | { missing: string } => {
    const key = runtimeKeys.get(provider);
    const runtimeKey = key === undefined ? undefined : { provider, key };
    if (settingsOf(provider)?.isOpen) return { missing: "" };
    const names = { auth: shortName(options.auth, "auth.json"), models: shortName(options.models, "models.json") };
    const sources: KeySources = { env, now: options.now(), runtimeKey, stored: auth.stored, configured, names };
    const standing = registered.get(provider);
    if (!standing) return findKey(provider, sources);
    try {
      return findKey(provider, withRegistered(provider, standing.given, sources, loginOf(provider)));
    } catch (error) {
      // What reads the login is somebody else's: no list and no other provider depends on it.
      const why = error instanceof Error ? error.message : String(error);
      return { missing: `The login of "${provider}" could not be read: ${why}` };
    }
  };
  const rowOf = (provider: string): ProviderRow | undefined => settingsOf(provider)?.row ?? providerRow(provider);
  const isKeyless = (provider: string): boolean =>
    settingsOf(provider)?.keyless ?? providerRow(provider)?.keyless === true;
  const hasKey = (provider: string): boolean => isKeyless(provider) || "secret" in keyOf(provider);

  const isReplaced = (provider: string): boolean => registered.get(provider)?.given.models !== undefined;
  const discovers = (provider: string): boolean =>
    !isReplaced(provider) && (settingsOf(provider)?.isDiscovered === true || providerRow(provider)?.keyless === true);
  /** The model as hosts may see it, with its base URL as the environment has it. */
  const shown = (model: Model, whole = addresses): Model => {
    const { baseUrl } = addressed(model, env);
    const visible = publicUrl(baseUrl);
    if (visible !== baseUrl) whole.set(nameOf(model), baseUrl);
    return visible === model.baseUrl ? model : { ...model, baseUrl: visible };
  };
  const lists = createModelLists(
    remembered((provider) => {
      const listed = custom.providers.get(provider)?.models ?? builtins(provider);
      return [...listed, ...locals.filter((model) => model.provider === provider)].map((model) => shown(model));
    }),
  );
  /** Made once for each list it is made of: a model is the same object as long as nothing changes. */
  const modelsOf = (provider: string): readonly Model[] => {
    const standing = registered.get(provider);
    if (!standing) return lists.of(provider);
    const { models, change, speaker } = standing.given;
    const from = models ?? lists.of(provider);
    if (standing.from === from) return standing.models;
    standing.from = from;
    standing.models = from.map((model) => {
      const changed = shown(change?.(model) ?? model, standing.addresses);
      const speaks = speaker?.(changed);
      return speaks ? spokenBy({ ...changed }, speaks) : changed;
    });
    return standing.models;
  };
  const find = (provider: string, id: string): Model | undefined => modelsOf(provider).find((model) => model.id === id);
  const unlisted = (provider: string, id: string): Model | undefined => {
    const row = rowOf(provider);
    const own = modelsOf(provider);
    if (!row || own.length === 0) return row && shown(bareModel(row, id));
    const fallback = own.find((model) => model.id === row.defaultModel) ?? own[0]!;
    if (isLocal(fallback)) return undefined;
    const model = similarModel(own, fallback, id);
    const options = custom.modelOptions.get(nameOf(fallback));
    const address = wholeAddress(fallback);
    if (options) custom.modelOptions.set(nameOf(model), options);
    if (address !== undefined && model.baseUrl === fallback.baseUrl) addresses.set(nameOf(model), address);
    return model;
  };
  /** The base URL with everything in it. */
  const wholeUrl = (provider: string, model: Model | undefined): string => {
    const row = rowOf(provider);
    const found = row ? baseUrlOf(row, env) : undefined;
    const own = found && "url" in found ? found.url : "";
    if (!model) return own;
    return wholeAddress(model) ?? (publicUrl(own) === model.baseUrl ? own : model.baseUrl);
  };
  const wholeAddress = (model: Model): string | undefined => {
    const standing = registered.get(model.provider);
    const known = standing?.given.isElsewhere ? standing.addresses : addresses;
    return known.get(nameOf(model));
  };
  /** What is kept away from the models: of the registration, or of the file when the model is from there. */
  const keptOf = <T>(kept: "modelHeaders" | "modelOptions", model: Model): T | undefined => {
    const given = registered.get(model.provider)?.given;
    const own = given?.[kept].get(nameOf(model));
    return (own ?? (given?.models ? undefined : custom[kept].get(nameOf(model)))) as T | undefined;
  };

  /** A prompt asks twice, before it is accepted and when it is sent; all that can change meanwhile is that a login ends. */
  let lately = new WeakMap<Model, { needed: Needs; until: number }>();
  const needsOf = (model: Model): Needs => {
    const known = lately.get(model);
    if (known && options.now() < known.until) return known.needed;
    const needed = needs(model.provider, model);
    lately.set(model, { needed, until: options.now() + NEEDS_HOLD_MS });
    return needed;
  };
  /** Throws when something is known to be missing. */
  const needs = (provider: string, model?: Model): Needs => {
    if (model && isLocal(model)) return { owner: nameOf(model), headers: {} };
    const key = keyOf(provider);
    const row = rowOf(provider);
    const missing = row && addressMissing(model?.baseUrl ?? row.baseUrl, row, env);
    if (missing) throw new ProviderError("auth", missing);
    if ("missing" in key && !isKeyless(provider)) throw noKey(provider, model, key.missing);
    const settings = settingsOf(provider);
    const owner = model ? nameOf(model) : provider;
    const { authorization, baseUrl } = urlAccess(wholeUrl(provider, model));
    const given = {
      ...(settings?.headers ?? providerRow(provider)?.headers),
      ...(model ? keptOf<Record<string, string>>("modelHeaders", model) : undefined),
    };
    const headers = readHeaders(given, env, owner);
    if (authorization !== undefined) headers.authorization ??= { value: authorization };
    const options = model && (keptOf<Record<string, unknown>>("modelOptions", model) ?? settings?.options);
    const needed: Needs = {
      owner,
      ...("secret" in key ? { key } : {}),
      headers,
      authHeader: settings?.authHeader,
      ...(baseUrl === undefined ? {} : { baseUrl }),
      ...(options ? { options, optionSecrets: readOptions(options, env, owner) } : {}),
    };
    checkSendable(needed, (secret) => ("value" in secret ? secret.value : ""));
    return needed;
  };
  const resolved = (provider: string, needed: Needs): Credentials | Promise<Credentials> =>
    commands.resolve(allSecrets(needed), provider, (valueFor) => joined(needed, env, valueFor));
  const unusable = (model: Model): string | undefined => {
    try {
      needsOf(model);
      return undefined;
    } catch (error) {
      return error instanceof Error ? error.message : String(error);
    }
  };
  const hasCredentials = (model: Model): boolean =>
    isLocal(model) || (hasKey(model.provider) && !/\{\w+\}/.test(model.baseUrl));

  return {
    all: () => [...ids().flatMap((provider) => [...modelsOf(provider)]), ...locals],
    modelsOf,
    providers: () => [...ids(), ...new Set(locals.map(({ provider }) => provider))],
    provider(id) {
      const row = rowOf(id);
      if (!row) return undefined;
      const key = keyOf(id);
      const baseUrl = baseUrlOf(row, env);
      return {
        row: { ...row, baseUrl: publicUrl(row.baseUrl) },
        baseUrl: "url" in baseUrl ? { url: publicUrl(baseUrl.url) } : baseUrl,
        key: "source" in key ? { source: key.source } : key,
        keyless: isKeyless(id),
        discovers: discovers(id),
        configured: "secret" in key || settingsOf(id) !== undefined,
      };
    },
    available(current) {
      const isThere = (model: Model): boolean => !lists.isUnknownToServer(model) || isSame(model, current);
      const usable = ids()
        .filter(hasKey)
        .flatMap((provider) => modelsOf(provider).filter((model) => hasCredentials(model) && isThere(model)));
      const chosen = locals.filter((model) => model.provider === "script" || isSame(model, current));
      const listed = [...usable, ...chosen];
      return listed.length > 0 ? listed : [...locals];
    },
    find,
    unlisted,
    named(provider, id) {
      const isFree = (isKeyless(provider) && !isReplaced(provider)) || modelsOf(provider).length === 0;
      const model = isFree && id !== "" ? (find(provider, id) ?? unlisted(provider, id)) : undefined;
      if (!model || !hasCredentials(model)) return undefined;
      lists.adopt(model);
      return model;
    },
    firstOf(provider) {
      const row = rowOf(provider);
      if (!row || !discovers(provider)) return undefined;
      const model = firsts.get(provider) ?? shown({ ...bareModel(row, "default"), name: `First model of ${row.name}` });
      firsts.set(provider, model);
      return model;
    },
    isFirstOf: (model) => firsts.get(model.provider) === model,
    adopt(model) {
      if (!find(model.provider, model.id) && firsts.get(model.provider) !== model) lists.adopt(model);
    },
    learn: lists.learn,
    describe: lists.describe,
    isAssumed: (model) => discovers(model.provider) && lists.isAssumed(model),
    hasCredentials,
    unusable,
    credentials(model) {
      const renewal = renewed(model.provider);
      if (!renewal) return resolved(model.provider, needsOf(model));
      return renewal.then(() => resolved(model.provider, needsOf(model)));
    },
    providerCredentials(provider) {
      const renewal = renewed(provider);
      return renewal ? renewal.then(() => resolved(provider, needs(provider))) : resolved(provider, needs(provider));
    },
    problems: [...custom.problems, ...auth.problems, ...suspiciousKeys(options.models, configured, env)],
    register(provider, given) {
      if (given) registered.set(provider, { given, addresses: new Map(), models: [] });
      else registered.delete(provider);
      lately = new WeakMap();
    },
    settingsOf: (provider) => custom.providers.get(provider),
    setRuntimeKey(provider, key) {
      if (key === undefined) runtimeKeys.delete(provider);
      else runtimeKeys.set(provider, key);
      lately = new WeakMap();
    },
    loginOf,
    setLogin,
  };
}

/** A registration and what was made of it. */
interface Standing {
  given: RegisteredProvider;
  /** Whole base URLs of its models, by name. */
  addresses: Map<string, string>;
  /** The list that `models` was made of. */
  from?: readonly Model[];
  models: readonly Model[];
}

/** What a registration says about keys, in the place of what models.json says; and it knows how to read its logins. */
function withRegistered(
  provider: string,
  { settings, keyOfLogin, renewLogin }: RegisteredProvider,
  sources: KeySources,
  login: Login | undefined,
): KeySources {
  const own = sources.stored.get(provider);
  const access = login && keyOfLogin ? keyOfLogin(login) : undefined;
  const isRenewable = renewLogin !== undefined;
  return {
    ...sources,
    ...(own?.type === "oauth" && {
      stored: new Map([[provider, { ...own, isRenewable, ...(access !== undefined && { access }) }]]),
    }),
    ...(settings.apiKey === undefined
      ? {}
      : {
          configured: new Map([[provider, settings.apiKey]]),
          names: { ...sources.names, models: "the extension that registered it" },
        }),
  };
}

/** A server of one's own has the models one gave it: the catalogue need not even be read. */
function builtins(provider: string): readonly Model[] {
  return providerRow(provider)?.keyless ? [] : builtinModelsOf(provider);
}

/** Made when first asked for, once for each provider. */
function remembered<T>(make: (provider: string) => T): (provider: string) => T {
  const made = new Map<string, T>();
  return (provider) => {
    const known = made.get(provider) ?? make(provider);
    made.set(provider, known);
    return known;
  };
}

/** What a request needs beside the model, some of it perhaps still to be had from commands. */
interface Needs {
  /** For messages. */
  owner: string;
  key?: FoundKey;
  authHeader?: boolean;
  headers: Readonly<Record<string, Secret>>;
  baseUrl?: string;
  options?: Readonly<Record<string, unknown>>;
  optionSecrets?: readonly Secret[];
}

function allSecrets({ key, headers, optionSecrets = [] }: Needs): Secret[] {
  return [...(key ? [key.secret] : []), ...Object.values(headers), ...optionSecrets];
}

function joined(needed: Needs, env: Environment, valueFor: (secret: Secret) => string): Credentials {
  const { key, authHeader, headers, baseUrl, options } = needed;
  checkSendable(needed, valueFor);
  const apiKey = key && valueFor(key.secret);
  const values: Record<string, string> = {};
  for (const [name, secret] of Object.entries(headers)) values[name] = valueFor(secret);
  if (authHeader && apiKey !== undefined) values.authorization = `Bearer ${apiKey}`;
  return {
    ...(apiKey === undefined ? {} : { apiKey }),
    ...(Object.keys(values).length > 0 ? { headers: values } : {}),
    ...(baseUrl === undefined ? {} : { baseUrl }),
    ...(options ? { options: filledOptions(options, env, valueFor) } : {}),
  };
}

const UNSENDABLE =
  "holds a line break, another control character or one outside Latin-1, which no request can carry; copy it again";

/** Throws when a key or header could never be sent. Says where it came from and nothing of it. */
function checkSendable({ owner, key, headers }: Needs, valueFor: (secret: Secret) => string): void {
  if (key && !isSendable(valueFor(key.secret))) {
    throw new ProviderError("auth", `The key of ${owner} from ${key.source} ${UNSENDABLE}.`);
  }
  for (const [name, secret] of Object.entries(headers)) {
    if (isSendable(valueFor(secret).replaceAll("\t", " "))) continue;
    throw new ProviderError("auth", `Header "${name}" of ${owner} in models.json ${UNSENDABLE}.`);
  }
}

function readHeaders(given: Readonly<Record<string, string>>, env: Environment, owner: string): Record<string, Secret> {
  const headers: Record<string, Secret> = {};
  for (const [name, text] of Object.entries(given)) {
    const secret = readHeader(text, env);
    if ("missing" in secret) {
      throw new ProviderError("auth", `Header "${name}" of ${owner} in models.json: ${secret.missing}`);
    }
    headers[name.toLowerCase()] = secret;
  }
  return headers;
}

function configuredKeys(custom: CustomModels): Map<string, string> {
  const keys = new Map<string, string>();
  for (const [provider, { apiKey }] of custom.providers) if (apiKey !== undefined) keys.set(provider, apiKey);
  return keys;
}

/** The last part of a path: in a sentence about keys the folder does not matter. */
function shortName(file: ParsedFile | undefined, otherwise: string): string {
  return file?.name.split(/[/\\]/).at(-1) ?? otherwise;
}

function isSame(model: Model, other: Model | undefined): boolean {
  return model.provider === other?.provider && model.id === other.id;
}

/** The model with its base URL as the environment has it. One that cannot be filled in stays as it is. */
function addressed(model: Model, env: Environment): Model {
  const row = providerRow(model.provider);
  const found = row && resolveBaseUrl(row, env, model.baseUrl);
  return found && "url" in found && found.url !== model.baseUrl ? { ...model, baseUrl: found.url } : model;
}

/** The environment has a say about built-in providers, unless models.json sends them elsewhere. */
function baseUrlOf(row: ProviderRow, env: Environment): ProviderState["baseUrl"] {
  const builtin = providerRow(row.id);
  return builtin ? resolveBaseUrl(builtin, env, row.baseUrl) : { url: row.baseUrl };
}

function addressMissing(baseUrl: string, row: ProviderRow, env: Environment): string | undefined {
  const found = baseUrlOf({ ...row, baseUrl }, env);
  if ("url" in found) return undefined;
  const ways = [found.missing, ...(row.baseUrlVariable ? [row.baseUrlVariable] : [])];
  return `The address of ${row.name} is not known: set ${ways.join(" or ")}.`;
}

function noKey(provider: string, model: Model | undefined, why: string): ProviderError {
  const variable = plainKeyVariable(provider);
  const ways = [
    ...(variable ? [`set ${variable}`] : []),
    "start with --api-key",
    `add "${provider}": {"type":"api_key","key":"..."} to auth.json`,
  ];
  const because = why === "" ? "" : ` (${why})`;
  const who = model ? `${provider}/${model.id}` : provider;
  return new ProviderError("auth", `No API key for ${who}${because}. To configure one: ${ways.join(", or ")}.`);
}

/** Other programs take a bare name for a variable. Here it is the key itself, which should not go unnoticed. */
function suspiciousKeys(
  file: ParsedFile | undefined,
  configured: ReadonlyMap<string, string>,
  env: Environment,
): string[] {
  const problems: string[] = [];
  for (const [provider, key] of configured) {
    if (!file || !/^[A-Z][A-Z0-9_]+$/.test(key) || env[key] === undefined) continue;
    const what = `is used as the key itself; to use the environment variable, write "$${key}"`;
    problems.push(problemAt(file, ["providers", provider, "apiKey"], what));
  }
  return problems;
}
