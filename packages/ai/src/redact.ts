import { ProviderError } from "./errors.ts";
import { secretsInOptions, secretsInUrl } from "./model-secrets.ts";
import type { ModelRequest } from "./provider.ts";

/** Providers quote keys and headers in their errors; nobody else shall read them. */

/** A shorter value is a word like `none` rather than a secret, and taking it out would only garble the text. */
const SHORTEST_SECRET = 8;
const HIDDEN = "[hidden]";

/** What may hold secrets: of a request, or of credentials alone. */
export interface SecretHolder extends Pick<ModelRequest, "apiKey" | "headers"> {
  /** As it is asked. */
  model?: Pick<ModelRequest["model"], "baseUrl" | "compat">;
  baseUrl?: string;
  options?: unknown;
}

export function redactError(error: ProviderError, request: SecretHolder): ProviderError {
  const secrets = secretsOf(request);
  const message = redactText(error.message, secrets);
  if (message === error.message) return error;
  const { kind, status, retryAfterMs } = error;
  // Without the cause, whose text may hold the same.
  return new ProviderError(kind, message, { status, retryAfterMs });
}

export function redactText(text: string, secrets: readonly string[]): string {
  let clean = text;
  for (const secret of secrets) clean = clean.replaceAll(secret, HIDDEN);
  return clean;
}

/** What of a request is secret. Longest first, so that no part of a secret is left beside a shorter one. */
export function secretsOf({ apiKey, headers, model, baseUrl, options }: SecretHolder): string[] {
  const values = [
    apiKey ?? "",
    ...Object.values(headers ?? {}).flatMap(secretsInHeader),
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
