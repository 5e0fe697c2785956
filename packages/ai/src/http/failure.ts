import { ProviderError, type ProviderErrorKind } from "../errors.ts";
import { isOverflowText } from "../overflow.ts";

/** An answer that is not a success, as far as it was read. */
export interface FailedAnswer {
  status: number;
  statusText: string;
  /** By lower-case name. */
  headers: Readonly<Record<string, string | string[] | undefined>>;
  body: string;
}

const LONGEST_WORDS = 2000;

const KINDS: Readonly<Record<number, ProviderErrorKind>> = {
  401: "auth",
  403: "auth",
  408: "stalled",
  413: "overflow",
  429: "rate_limit",
  503: "overloaded",
  529: "overloaded",
};

/** Money is not back after a pause: such a 429 must not be retried. */
const OUT_OF_MONEY = /insufficient_quota|quota exceeded|billing|out of budget|credit balance/i;

export function failureOf(answer: FailedAnswer, now: number): ProviderError {
  const words = wordsOf(answer);
  const retryAfterMs = retryAfter(answer.headers, now);
  return new ProviderError(kindOf(answer.status, words), `${answer.status} ${words}`, {
    status: answer.status,
    ...(retryAfterMs === undefined ? {} : { retryAfterMs }),
  });
}

export function kindOf(status: number, words: string): ProviderErrorKind {
  if (status === 429 && OUT_OF_MONEY.test(words)) return "bad_request";
  if (status >= 400 && status < 500 && status !== 429 && isOverflowText(words)) return "overflow";
  return KINDS[status] ?? (status >= 500 ? "server" : "bad_request");
}

/** The provider's own words: the message inside its JSON, else the text of the page, else the name of the status. */
export function wordsOf(answer: FailedAnswer): string {
  const body = answer.body.trim();
  const words = jsonWords(body) ?? plainWords(body);
  if (words !== "") return words.slice(0, LONGEST_WORDS);
  const location = answer.headers.location;
  if (typeof location === "string") return `${answer.statusText} to ${location}; redirects are not followed`;
  return `${answer.statusText} (no body)`.trim();
}

function jsonWords(body: string): string | undefined {
  if (!/^[[{]/.test(body)) return undefined;
  try {
    const parsed: unknown = JSON.parse(body);
    return messageIn(Array.isArray(parsed) ? parsed[0] : parsed);
  } catch {
    return undefined;
  }
}

/** `{error:{type,message}}`, `{error:"..."}`, `{message}` or `{detail}`: the shapes that occur. */
function messageIn(value: unknown): string | undefined {
  if (!isRecord(value)) return undefined;
  const { error, message, detail } = value;
  if (isRecord(error)) {
    const type = [error.type, error.code].find((name) => typeof name === "string" && name !== "");
    const text = messageIn(error);
    return text === undefined || type === undefined ? text : `${String(type)}: ${text}`;
  }
  return [error, message, detail].find((text): text is string => typeof text === "string" && text !== "");
}

function plainWords(body: string): string {
  return body
    .replace(/<(script|style)\b[\s\S]*?<\/\1>/gi, " ")
    .replace(/<[^>]*>/g, " ")
    .replace(/\s+/g, " ")
    .trim();
}

/** Milliseconds from `retry-after-ms`, or from `retry-after` in seconds or as a date. */
export function retryAfter(headers: FailedAnswer["headers"], now: number): number | undefined {
  const exact = Number(headers["retry-after-ms"] ?? Number.NaN);
  if (exact >= 0) return exact;
  const value = headers["retry-after"];
  if (typeof value !== "string" || value.trim() === "") return undefined;
  const seconds = Number(value);
  if (!Number.isNaN(seconds)) return seconds >= 0 ? seconds * 1000 : undefined;
  const date = Date.parse(value);
  return Number.isNaN(date) ? undefined : Math.max(0, date - now);
}

function isRecord(value: unknown): value is Record<string, unknown> {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}
