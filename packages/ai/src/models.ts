import type { Model } from "@tiller/protocol/model";
import { type Environment, findKey, type KeySources, keyVariables, readStoredKeys, resolveSecret } from "./auth.ts";
import { isLocal, OFFLINE_MODEL, scriptModel } from "./catalogue.ts";
import { readCustomModels } from "./custom-models.ts";
import { ProviderError } from "./errors.ts";

export interface RegistryOptions {
  /** models.json, parsed. */
  custom?: unknown;
  /** auth.json, parsed. */
  auth?: unknown;
  env: Environment;
  /** `--api-key`. */
  runtimeKey?: { provider: string; key: string };
  /** May the offline model be used? */
  offline: boolean;
  /** The script file that was chosen at start, if any. */
  script?: { path: string };
}

export interface Credentials {
  apiKey?: string;
  headers?: Record<string, string>;
}

/** Which models there are and how they are reached. Does no I/O: it is made at every start. */
export interface ModelRegistry {
  /** Every model, also those without a key. */
  all(): Model[];
  /**
   * The models that can be asked now. The offline model is among them only when there is nothing else or when it is the
   * one in use, so that nobody lands on it by accident.
   */
  available(current?: Model): Model[];
  find(provider: string, id: string): Model | undefined;
  hasCredentials(model: Model): boolean;
  /** Throws ProviderError("auth") with a text that says how to configure the model. */
  credentials(model: Model): Credentials;
  /** What could not be used of the configuration, one sentence each. */
  problems: string[];
}

export function createModelRegistry(options: RegistryOptions): ModelRegistry {
  const { env } = options;
  const custom = readCustomModels(options.custom);
  const stored = readStoredKeys(options.auth);
  const configured = new Map<string, string>();
  for (const [provider, settings] of custom.providers) {
    if (settings.apiKey !== undefined) configured.set(provider, settings.apiKey);
  }
  const sources: KeySources = { env, runtimeKey: options.runtimeKey, stored: stored.keys, configured };
  const locals = [
    ...(options.script ? [scriptModel(options.script.path)] : []),
    ...(options.offline ? [OFFLINE_MODEL] : []),
  ];
  const everything = [...custom.models, ...locals];

  const credentials = (model: Model): Credentials => {
    if (isLocal(model)) return {};
    const settings = custom.providers.get(model.provider);
    const key = settings?.keyless ? undefined : findKey(model.provider, sources);
    if (key && "missing" in key) throw noKey(model, key.missing);
    const headers = resolveHeaders(model, env, {
      ...settings?.headers,
      ...custom.modelHeaders.get(`${model.provider}/${model.id}`),
    });
    if (settings?.authHeader && key) headers.authorization = `Bearer ${key.value}`;
    return { ...(key ? { apiKey: key.value } : {}), ...(Object.keys(headers).length > 0 ? { headers } : {}) };
  };
  const hasCredentials = (model: Model): boolean =>
    isLocal(model) ||
    custom.providers.get(model.provider)?.keyless === true ||
    "value" in findKey(model.provider, sources);

  return {
    all: () => [...everything],
    available(current) {
      const usable = custom.models.filter(hasCredentials);
      const chosen = locals.filter((model) => model.provider === "script" || isSame(model, current));
      const listed = [...usable, ...chosen];
      return listed.length > 0 ? listed : [...locals];
    },
    find: (provider, id) => everything.find((model) => model.provider === provider && model.id === id),
    hasCredentials,
    credentials,
    problems: [...custom.problems, ...stored.problems, ...suspiciousKeys(configured, env)],
  };
}

function isSame(model: Model, other: Model | undefined): boolean {
  return model.provider === other?.provider && model.id === other.id;
}

function resolveHeaders(
  model: Model,
  env: Environment,
  headers: Readonly<Record<string, string>>,
): Record<string, string> {
  const resolved: Record<string, string> = {};
  for (const [name, text] of Object.entries(headers)) {
    const secret = resolveSecret(text, env);
    if ("missing" in secret) {
      throw new ProviderError(
        "auth",
        `Header "${name}" of ${model.provider}/${model.id} in models.json: ${secret.missing}`,
      );
    }
    resolved[name.toLowerCase()] = secret.value;
  }
  return resolved;
}

function noKey(model: Model, why: string): ProviderError {
  const variables = keyVariables(model.provider);
  const variable = variables.at(-1);
  const ways = [
    ...(variable ? [`set ${variable}`] : []),
    "start with --api-key",
    `add "${model.provider}": {"type":"api_key","key":"..."} to auth.json`,
  ];
  const because = why === "" ? "" : ` (${why})`;
  return new ProviderError(
    "auth",
    `No API key for ${model.provider}/${model.id}${because}. To configure one: ${ways.join(", or ")}.`,
  );
}

/** Other programs take a bare name for a variable. Here it is the key itself, which should not go unnoticed. */
function suspiciousKeys(configured: ReadonlyMap<string, string>, env: Environment): string[] {
  const problems: string[] = [];
  for (const [provider, key] of configured) {
    if (!/^[A-Z][A-Z0-9_]+$/.test(key) || env[key] === undefined) continue;
    problems.push(
      `models.json: providers.${provider}.apiKey is used as the key itself; to use the environment variable, write "$${key}"`,
    );
  }
  return problems;
}
