import type { Model } from "@tiller/protocol/model";
import { type Environment, type FoundKey, findKey, type KeySources, readAuthFile, readCredential } from "./auth.ts";
import { builtinModelsOf, isLocal, OFFLINE_MODEL, scriptModel } from "./catalogue.ts";
import { type CustomModels, type CustomProvider, readCustomModels } from "./custom-models.ts";
import { ProviderError } from "./errors.ts";
import { createModelLists, modelsById, nameOf } from "./model-lists.ts";
import type { Credentials, Login, ModelRegistry, RegisteredProvider, RegistryOptions } from "./model-registry.ts";
import { publicUrl, readOptions, spokenBy, urlAccess } from "./model-secrets.ts";
import { type ParsedFile, problemAt } from "./parsed-file.ts";
import { PROVIDERS, providerRow, resolveBaseUrl } from "./providers/index.ts";
import type { ProviderRow } from "./providers/provider-row.ts";
import {
  addressMissing,
  allSecrets,
  baseUrlOf,
  checkSendable,
  joined,
  type Needs,
  noKey,
  readHeaders,
} from "./request-needs.ts";
import { createCommandValues } from "./secret-commands.ts";
import { bareModel, similarModel } from "./unlisted-model.ts";

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
  const lists = createModelLists((provider) => {
    const listed = custom.providers.get(provider)?.models ?? builtins(provider);
    return [...listed, ...locals.filter((model) => model.provider === provider)].map((model) => shown(model));
  });
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
  const byId = new WeakMap<readonly Model[], ReadonlyMap<string, Model>>();
  const find = (provider: string, id: string): Model | undefined => {
    const models = modelsOf(provider);
    const index = byId.get(models) ?? modelsById(models);
    byId.set(models, index);
    return index.get(id);
  };
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
