import type { Model } from "@tiller/protocol/model";
import { type Environment, type FoundKey, isSendable, plainKeyVariable, readHeader, type Secret } from "./auth.ts";
import { ProviderError } from "./errors.ts";
import type { Credentials, ProviderState } from "./model-registry.ts";
import { filledOptions } from "./model-secrets.ts";
import { providerRow, resolveBaseUrl } from "./providers/index.ts";
import type { ProviderRow } from "./providers/provider-row.ts";

/** What a request needs beside the model, some of it perhaps still to be had from commands. */
export interface Needs {
  /** For messages. */
  owner: string;
  key?: FoundKey;
  authHeader?: boolean;
  headers: Readonly<Record<string, Secret>>;
  baseUrl?: string;
  options?: Readonly<Record<string, unknown>>;
  optionSecrets?: readonly Secret[];
}

export function allSecrets({ key, headers, optionSecrets = [] }: Needs): Secret[] {
  return [...(key ? [key.secret] : []), ...Object.values(headers), ...optionSecrets];
}

export function joined(needed: Needs, env: Environment, valueFor: (secret: Secret) => string): Credentials {
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
export function checkSendable({ owner, key, headers }: Needs, valueFor: (secret: Secret) => string): void {
  if (key && !isSendable(valueFor(key.secret))) {
    throw new ProviderError("auth", `The key of ${owner} from ${key.source} ${UNSENDABLE}.`);
  }
  for (const [name, secret] of Object.entries(headers)) {
    if (isSendable(valueFor(secret).replaceAll("\t", " "))) continue;
    throw new ProviderError("auth", `Header "${name}" of ${owner} in models.json ${UNSENDABLE}.`);
  }
}

export function readHeaders(
  given: Readonly<Record<string, string>>,
  env: Environment,
  owner: string,
): Record<string, Secret> {
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

/** The environment has a say about built-in providers, unless models.json sends them elsewhere. */
export function baseUrlOf(row: ProviderRow, env: Environment): ProviderState["baseUrl"] {
  const builtin = providerRow(row.id);
  return builtin ? resolveBaseUrl(builtin, env, row.baseUrl) : { url: row.baseUrl };
}

export function addressMissing(baseUrl: string, row: ProviderRow, env: Environment): string | undefined {
  const found = baseUrlOf({ ...row, baseUrl }, env);
  if ("url" in found) return undefined;
  const ways = [found.missing, ...(row.baseUrlVariable ? [row.baseUrlVariable] : [])];
  return `The address of ${row.name} is not known: set ${ways.join(" or ")}.`;
}

export function noKey(provider: string, model: Model | undefined, why: string): ProviderError {
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
