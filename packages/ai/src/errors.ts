/** Why a model call failed. `kind` is what the retry policy and hosts branch on; `message` keeps the provider's own words. */

export type ProviderErrorKind =
  | "aborted"
  | "auth"
  | "rate_limit"
  | "overloaded"
  | "server"
  | "overflow"
  | "bad_request"
  | "network"
  | "stalled"
  | "content_filter"
  | "malformed";

const RETRYABLE: ReadonlySet<ProviderErrorKind> = new Set([
  "rate_limit",
  "overloaded",
  "server",
  "network",
  "stalled",
  "malformed",
]);

export class ProviderError extends Error {
  readonly code = "provider_error";
  readonly kind: ProviderErrorKind;
  readonly status: number | undefined;
  readonly retryAfterMs: number | undefined;

  constructor(
    kind: ProviderErrorKind,
    message: string,
    details: { status?: number; retryAfterMs?: number; cause?: unknown } = {},
  ) {
    super(message, details.cause === undefined ? undefined : { cause: details.cause });
    this.name = "ProviderError";
    this.kind = kind;
    // What a stream calls its status may be any number, and hosts are promised a whole one.
    this.status = Number.isInteger(details.status) ? details.status : undefined;
    this.retryAfterMs = details.retryAfterMs;
  }

  get retryable(): boolean {
    return RETRYABLE.has(this.kind);
  }
}
