import { ProviderError } from "./errors.ts";
import type { ModelRequest } from "./provider.ts";

/** Providers quote keys and headers in their errors; nobody else shall read them. */

/** A shorter value is a word like `none` rather than a secret, and taking it out would only garble the text. */
const SHORTEST_SECRET = 8;
const HIDDEN = "[hidden]";

export function redactError(error: ProviderError, request: Pick<ModelRequest, "apiKey" | "headers">): ProviderError {
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
export function secretsOf({ apiKey, headers }: Pick<ModelRequest, "apiKey" | "headers">): string[] {
  const values = [apiKey ?? "", ...Object.values(headers ?? {}).flatMap((value) => [value, ...value.split(/\s+/)])];
  return [...new Set(values)].filter((value) => value.length >= SHORTEST_SECRET).sort((a, b) => b.length - a.length);
}
