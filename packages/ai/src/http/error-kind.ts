import type { ProviderErrorKind } from "../errors.ts";
import { isOverflowText } from "../overflow.ts";

/** What is known of an error: of an answer with its status, or of an error object inside a stream, which has none. */
export interface ErrorFacts {
  status?: number;
  /** OpenAI's `code`, Google's `status` or `reason`. A number in here (OpenRouter) is taken as the status. */
  code?: string;
  type?: string;
  message: string;
}

/** Names that decide alone, in lower case. The vendors' lists, and the words of the servers that speak their dialects. */
const NAMES: Readonly<Record<string, ProviderErrorKind>> = {
  // Anthropic
  overloaded_error: "overloaded",
  rate_limit_error: "rate_limit",
  authentication_error: "auth",
  permission_error: "auth",
  billing_error: "bad_request",
  not_found_error: "bad_request",
  request_too_large: "overflow",
  timeout_error: "stalled",
  // OpenAI and those who speak like it. What ends with money is not back after a pause: not retried.
  insufficient_quota: "bad_request",
  credit_balance_exhausted: "bad_request",
  organization_spend_limit_exceeded: "bad_request",
  project_spend_limit_exceeded: "bad_request",
  billing_hard_limit_reached: "bad_request",
  billing_not_active: "bad_request",
  context_length_exceeded: "overflow",
  exceed_context_size_error: "overflow",
  invalid_api_key: "auth",
  incorrect_api_key: "auth",
  account_deactivated: "auth",
  invalid_authentication: "auth",
  permission_denied: "auth",
  rate_limit_exceeded: "rate_limit",
  rate_limit_reached: "rate_limit",
  too_many_requests: "rate_limit",
  slow_down: "overloaded",
  server_is_overloaded: "overloaded",
  engine_overloaded: "overloaded",
  service_unavailable: "overloaded",
  service_unavailable_error: "overloaded",
  server_error: "server",
  internal_error: "server",
  internal_server_error: "server",
  model_not_found: "bad_request",
  content_filter: "content_filter",
  content_policy_violation: "content_filter",
  image_content_policy_violation: "content_filter",
  responsibleaipolicyviolation: "content_filter",
  // Google: `error.status`, and the `reason` among its details
  resource_exhausted: "rate_limit",
  unavailable: "overloaded",
  deadline_exceeded: "stalled",
  internal: "server",
  unauthenticated: "auth",
  api_key_invalid: "auth",
  not_found: "bad_request",
};

const STATUSES: Readonly<Record<number, ProviderErrorKind>> = {
  401: "auth",
  403: "auth",
  408: "stalled",
  413: "overflow",
  429: "rate_limit",
  503: "overloaded",
  504: "stalled",
  529: "overloaded",
};

/** Money, in the words of those who have no name for it. */
const OUT_OF_MONEY =
  /insufficient_quota|quota exceeded|billing|out of budget|credit balance|insufficient (credits|balance|funds)|credits (are|is) depleted/i;
/** Google says "check your plan and billing" also where a minute's quota is used up; these are the ones that stay. */
const GOOGLE_OUT_OF_MONEY = /credits (are|is) depleted|limit: 0\b/i;
const TOKENS_A_MINUTE = /\btokens per min(ute)?\b|\(TPM\)/i;
const BAD_KEY =
  /\b(invalid|incorrect|no|missing) api[ -]?key\b|api[ -]?key (is )?(not valid|invalid|expired|not found)/i;
const FILTERED = /content management policy|content[ _]filter|content[ _]policy|safety system/i;

/** The kind of any error a provider tells. Pure: for failed answers and for error objects inside a stream. */
export function kindOfError(error: ErrorFacts): ProviderErrorKind {
  const status = error.status ?? numeric(error.code);
  if (isMinuteLimit(status, error.message)) return "rate_limit";
  if (status === 413) return "overflow";
  const named = kindOfName(error.code) ?? kindOfName(error.type);
  if (named === "rate_limit" || (named === undefined && status === 429)) return limitOrMoney(error);
  if (named !== undefined && named !== "bad_request") return named;
  if (mayBeTheRequest(status)) {
    if (isOverflowText(error.message)) return "overflow";
    if (BAD_KEY.test(error.message)) return "auth";
    if (FILTERED.test(error.message)) return "content_filter";
  }
  return named ?? kindOfStatus(status, error);
}

/** Failures that pass, in the words of programs that tell nothing but a text. */
const PASSING: readonly (readonly [RegExp, ProviderErrorKind])[] = [
  [/overloaded|service.?unavailable/i, "overloaded"],
  [/rate.?limit|too many requests/i, "rate_limit"],
  [/timed? ?out|timeout/i, "stalled"],
  [/fetch failed|network|socket|econn|connection (error|refused|lost|reset)/i, "network"],
  [/(server|internal) error/i, "server"],
];

/** The kind of an error of which only a text is known, perhaps with a status in it. */
export function kindOfText(text: string): ProviderErrorKind {
  const status = /(?:^|status|error|http)\D{0,3}([45]\d\d)\b/i.exec(text)?.[1];
  const kind = kindOfError({ status: status === undefined ? undefined : Number(status), message: text });
  if (status !== undefined || kind !== "server") return kind;
  return PASSING.find(([words]) => words.test(text))?.[1] ?? "bad_request";
}

/**
 * What may be spent in a minute is not what fits into a model, though Groq answers 413 and names the page where more can
 * be bought.
 */
function isMinuteLimit(status: number | undefined, message: string): boolean {
  return (status === undefined || status === 413 || status === 429) && TOKENS_A_MINUTE.test(message);
}

function limitOrMoney({ code, type, message }: ErrorFacts): ProviderErrorKind {
  const isGoogle = [code, type].some((name) => name?.toUpperCase() === "RESOURCE_EXHAUSTED");
  return (isGoogle ? GOOGLE_OUT_OF_MONEY : OUT_OF_MONEY).test(message) ? "bad_request" : "rate_limit";
}

/** An error without a status says nothing against it; llama.cpp answers 500 to a prompt that is too long. */
function mayBeTheRequest(status: number | undefined): boolean {
  return status === undefined || (status >= 400 && status < 500) || status === 500;
}

function kindOfStatus(status: number | undefined, { code, type }: ErrorFacts): ProviderErrorKind {
  if (status !== undefined) return STATUSES[status] ?? (status >= 500 ? "server" : "bad_request");
  const isRequest = [code, type].some((name) => name !== undefined && /^invalid|^unsupported|^failed_pre/i.test(name));
  return isRequest ? "bad_request" : "server";
}

function kindOfName(name: string | undefined): ProviderErrorKind | undefined {
  const known = name?.toLowerCase() ?? "";
  return Object.hasOwn(NAMES, known) ? NAMES[known] : undefined;
}

function numeric(code: string | undefined): number | undefined {
  return code !== undefined && /^[45]\d\d$/.test(code) ? Number(code) : undefined;
}
