import { cutWords } from "./cut-words.ts";
import { ProviderError } from "./errors.ts";
import { isHarmlessHeader, secretsInOptions, secretsInUrl } from "./model-secrets.ts";
import type { Delta, ModelRequest } from "./provider.ts";
import { withoutCutSecrets, withoutSecrets } from "./spelled-secrets.ts";

/** Providers quote keys and headers in their errors; nobody else shall read them. */

/** A shorter value is a word like `none` rather than a secret, and taking it out would only garble the text. */
const SHORTEST_SECRET = 8;
/** As much as is read of an answer that fails; an event inside a stream may say far more. */
const LONGEST_MESSAGE = 64 * 1024;

/** What may hold secrets: of a request, or of credentials alone. */
export interface SecretHolder extends Pick<ModelRequest, "apiKey" | "headers"> {
  /** As it is asked. */
  model?: Pick<ModelRequest["model"], "baseUrl" | "compat">;
  baseUrl?: string;
  options?: unknown;
}

export function redactError(error: ProviderError, request: SecretHolder): ProviderError {
  const message = redactQuoted(error.message, secretsOf(request));
  if (message === error.message) return error;
  const { kind, status, retryAfterMs } = error;
  // Without the cause, whose text may hold the same.
  return new ProviderError(kind, message, { status, retryAfterMs });
}

/** What a server says of an answer beside its words. One that wants to could say the key there; the model `asked` is none. */
export function redactResponse(delta: Delta, request: SecretHolder, asked: string): Delta {
  if (delta.type !== "response") return delta;
  const secrets = secretsOf(request);
  const { id, model } = delta;
  return {
    ...delta,
    ...(id === undefined ? {} : { id: withoutSecrets(id, secrets) }),
    ...(model === undefined ? {} : { model: model === asked ? model : withoutSecrets(model, secrets) }),
  };
}

/** The words of others without secrets, whole ones or cut ones; the beginning of what is very long. */
export function redactQuoted(text: string, secrets: readonly string[]): string {
  return withoutCutSecrets(cutWords(text, LONGEST_MESSAGE), secrets);
}

/** What of a request is secret. Longest first, so that no part of a secret is left beside a shorter one. */
export function secretsOf({ apiKey, headers, model, baseUrl, options }: SecretHolder): string[] {
  const values = [
    apiKey ?? "",
    ...Object.entries(headers ?? {}).flatMap(([name, value]) => (isHarmlessHeader(name) ? [] : secretsInHeader(value))),
    ...[model?.baseUrl, baseUrl].flatMap((url) => (url === undefined ? [] : secretsInUrl(url))),
    ...secretsInOptions(model?.compat?.options),
    ...secretsInOptions(options),
  ];
  return [...new Set(values)].filter((value) => value.length >= SHORTEST_SECRET).sort((a, b) => b.length - a.length);
}

/** The whole, its words, and the login behind the word `Basic`. */
function secretsInHeader(value: string): string[] {
  const login = /^Basic\s+(\S+)$/i.exec(value)?.[1];
  const text = login === undefined ? "" : Buffer.from(login, "base64").toString("utf8");
  return [value, ...value.split(/\s+/), text, ...text.split(":")];
}
