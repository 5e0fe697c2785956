import type { Model } from "@tiller/protocol/model";
import type { Environment } from "./auth.ts";
import { type Fields, isRecord } from "./custom-fields.ts";
import type { SimpleOptions } from "./custom-stream.ts";
import { ProviderError } from "./errors.ts";
import type { OAuthConfig, ProviderConfig, RefreshContext } from "./provider-config.ts";

/** Providers that come as an object with functions of their own, in the words of a configuration. */
export interface WholeProvider {
  id: string;
  name?: string;
  baseUrl?: string;
  headers?: Record<string, string>;
  auth?: { apiKey?: ApiKeyAuth; oauth?: OAuthAuth };
  /** As they are known now. */
  getModels(): readonly unknown[];
  /** Finds out which there are; says so with `publish`, and from then on by `getModels`. */
  refreshModels?(context: RefreshContext): unknown;
  stream?: ProviderConfig["streamSimple"];
  streamSimple?: ProviderConfig["streamSimple"];
}

/** What a request needs, as a provider works it out. */
interface RequestAuth {
  apiKey?: string;
  headers?: Record<string, string>;
  baseUrl?: string;
}

interface ApiKeyAuth {
  name?: string;
  /** The variables that hold a key, where it is known that nothing else is looked at. */
  variables?: readonly string[];
  resolve?(about: { credential?: object; env: Environment; signal: AbortSignal }): unknown;
}

interface OAuthAuth {
  name?: string;
  login?(interaction: object): Promise<unknown>;
  refresh?(credential: unknown, signal: AbortSignal): Promise<unknown>;
  toAuth?(credential: unknown): unknown;
}

export function isWholeProvider(value: unknown): value is WholeProvider {
  return isRecord(value) && typeof value.id === "string" && value.id !== "" && typeof value.getModels === "function";
}

interface WholeOptions {
  env: Environment;
  /** The login with it that is kept, if there is one. */
  login(): Readonly<Record<string, unknown>> | undefined;
}

/** Throws when it cannot be asked anything. */
export function configOf(provider: WholeProvider, { env, login }: WholeOptions): ProviderConfig {
  const stream = provider.streamSimple ?? provider.stream;
  if (typeof stream !== "function") throw new Error(`registerProvider("${provider.id}"): streamSimple is missing`);
  const { apiKey, oauth } = provider.auth ?? {};
  const models = modelsOf(provider);
  const variables = apiKey?.variables ?? [];
  const variable = variables.find((name) => env[name]?.trim()) ?? variables[0];
  return {
    isWhole: true,
    name: provider.name ?? provider.id,
    ...(provider.baseUrl !== undefined && { baseUrl: provider.baseUrl }),
    ...(provider.headers && { headers: provider.headers }),
    ...(models.length > 0 && { models }),
    ...(variable === undefined ? apiKey?.resolve && { findsKeys: true } : { apiKey: `$${variable}` }),
    ...(variables.length > 0 && { keyVariables: variables }),
    ...(oauth && { oauth: loginOf(oauth) }),
    async streamSimple(model, context, options) {
      const auth = await authFor(provider, options, { env, login });
      const asked = auth.baseUrl === undefined ? model : { ...model, baseUrl: auth.baseUrl };
      const headers = { ...auth.headers, ...options.headers };
      const key = auth.apiKey ?? options.apiKey;
      return Reflect.apply(stream, provider, [
        asked,
        context,
        { ...options, ...(key !== undefined && { apiKey: key }), ...(Object.keys(headers).length > 0 && { headers }) },
      ]) as unknown;
    },
    ...(provider.refreshModels && {
      async refreshModels(context: RefreshContext) {
        await provider.refreshModels?.(context);
        return modelsOf(provider);
      },
    }),
  };
}

/** Models say themselves whose they are; here that goes without saying. */
function modelsOf(provider: WholeProvider): Fields[] {
  const models = provider.getModels();
  if (!Array.isArray(models)) throw new Error(`registerProvider("${provider.id}"): getModels must give back a list`);
  return models.map((model: Partial<Model>) => {
    const { provider: _, ...fields } = model;
    return fields as Fields;
  });
}

/** A login goes before a key; who works out a key itself is told the one that is kept. */
async function authFor(
  { id, auth }: WholeProvider,
  options: SimpleOptions,
  { env, login }: WholeOptions,
): Promise<RequestAuth> {
  const stored = login();
  if (stored && auth?.oauth?.toAuth) return requestAuth(await auth.oauth.toAuth(stored));
  if (!auth?.apiKey?.resolve) return {};
  const credential = options.apiKey === undefined ? undefined : { type: "api_key", key: options.apiKey };
  const found: unknown = await auth.apiKey.resolve({ ...(credential && { credential }), env, signal: options.signal });
  if (isRecord(found)) return requestAuth(found.auth);
  if (options.apiKey !== undefined) return {};
  throw new ProviderError("auth", `No key for "${id}": its provider finds none (${auth.apiKey.name ?? "no name"})`);
}

function requestAuth(value: unknown): RequestAuth {
  if (!isRecord(value)) return {};
  const { apiKey, headers, baseUrl } = value;
  return {
    ...(typeof apiKey === "string" && { apiKey }),
    ...(isRecord(headers) && { headers: headers as Record<string, string> }),
    ...(typeof baseUrl === "string" && { baseUrl }),
  };
}

/** In the words of the other kind of login. Which key a login gives is asked when it is used. */
function loginOf(oauth: OAuthAuth): OAuthConfig {
  return {
    ...(oauth.name !== undefined && { name: oauth.name }),
    ...(oauth.login && { login: async (callbacks: unknown) => oauth.login?.(interactionOf(callbacks)) }),
    ...(oauth.refresh && {
      refreshToken: async (login: unknown) => oauth.refresh?.(login, new AbortController().signal),
    }),
    getApiKey: ({ access, key }) => String(access ?? key ?? ""),
  };
}

interface Callbacks {
  signal?: AbortSignal;
  onAuth?(where: object): void;
  onDeviceCode?(where: object): void;
  onProgress?(message: string): void;
  onPrompt?(question: object): Promise<string>;
  onSelect?(question: object): Promise<string | undefined>;
}

/** How a person is asked: one function that asks and one that tells, instead of one for each thing. */
function interactionOf(given: unknown): object {
  const callbacks = (isRecord(given) ? given : {}) as Callbacks & { prompt?: unknown };
  if (typeof callbacks.prompt === "function") return callbacks;
  return {
    signal: callbacks.signal ?? new AbortController().signal,
    prompt: (question: Fields) =>
      question.type === "select" ? callbacks.onSelect?.(question) : callbacks.onPrompt?.(question),
    notify(event: Fields) {
      if (event.type === "auth_url") callbacks.onAuth?.(event);
      else if (event.type === "device_code") callbacks.onDeviceCode?.(event);
      else callbacks.onProgress?.(String(event.message ?? ""));
    },
  };
}
