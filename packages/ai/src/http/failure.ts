import { CUT, cutWords } from "../cut-words.ts";
import { ProviderError, type ProviderErrorKind } from "../errors.ts";
import { type ErrorFacts, kindOfError } from "./error-kind.ts";
import { type HeaderValues, retryAfterOf } from "./retry-after.ts";

/** An answer that is not a success, as far as it was read. */
export interface FailedAnswer {
  status: number;
  statusText: string;
  /** By lower-case name. */
  headers: HeaderValues;
  body: string;
}

const LONGEST_WORDS = 2000;

export function failureOf(answer: FailedAnswer, now: number): ProviderError {
  const { status, headers } = answer;
  const body = jsonIn(answer.body);
  const told = errorIn(body);
  const words = wordsOf(answer);
  const retryAfterMs = retryAfterOf({ status, headers, body }, now);
  return new ProviderError(kindOfAnswer(answer, told, words), `${status} ${words}`, {
    status,
    ...(retryAfterMs === undefined ? {} : { retryAfterMs }),
  });
}

function kindOfAnswer({ status }: FailedAnswer, told: ErrorFacts | undefined, words: string): ProviderErrorKind {
  if (status >= 300 && status < 400) return "bad_request";
  return kindOfError({ ...told, status, message: words });
}

/** An error in the clothes of a success; undefined when the text is none. */
export function toldFailure(text: string, status?: number): ProviderError | undefined {
  const body = jsonIn(text);
  const told = errorIn(body);
  if (!told) return undefined;
  const words = cutWords(messageIn(body) ?? plainWords(text), LONGEST_WORDS);
  return new ProviderError(kindOfError(told), words, status === undefined ? {} : { status });
}

/** A success that is no event stream: an error, a page, or nothing. */
export function unexpectedAnswer(host: string, answer: FailedAnswer): ProviderError {
  const { status } = answer;
  const told = toldFailure(answer.body, status);
  const type = answer.headers["content-type"];
  if (told) return told;
  if (answer.body.trim() === "") {
    const kind = status === 204 ? "bad_request" : "malformed";
    return new ProviderError(kind, emptyAnswer(host, status), { status });
  }
  const text = `${host} answered with ${String(type)} instead of an event stream: ${wordsOf(answer)}`;
  // Something else lives at this address: asking again gives the same page.
  return new ProviderError("bad_request", text, { status });
}

export function emptyAnswer(host: string, status?: number): string {
  const said = status === undefined ? "" : ` ${status}`;
  return `${host} answered${said} with an empty body instead of an event stream: check the base URL and what is in between`;
}

/** The provider's own words: the message inside its JSON, else the text of the page, else the name of the status. */
export function wordsOf(answer: FailedAnswer): string {
  const { location } = answer.headers;
  if (answer.status >= 300 && answer.status < 400 && typeof location === "string") {
    const way = "redirects are not followed, correct the base URL";
    return `${answer.statusText} to ${cutWords(location, LONGEST_WORDS)}; ${way}`.trim();
  }
  const body = answer.body.trim();
  const words = messageIn(jsonIn(body)) ?? plainWords(body);
  if (words === "") return `${answer.statusText} (no body)`.trim();
  const short = cutWords(words, LONGEST_WORDS);
  return isPage(body) ? `${short} (an HTML page, not the API: a proxy in between or a wrong base URL?)` : short;
}

function isPage(body: string): boolean {
  return /^<(!doctype html|html|head|body)\b/i.test(body);
}

/** The first object of the text; undefined when it is no JSON. What was read of it may be whole, with our mark behind it. */
function jsonIn(text: string): object | undefined {
  const body = (text.endsWith(CUT) ? text.slice(0, -CUT.length) : text).trim();
  if (!/^[[{]/.test(body)) return undefined;
  try {
    const parsed: unknown = JSON.parse(body);
    const first: unknown = Array.isArray(parsed) ? parsed[0] : parsed;
    return isRecord(first) ? first : undefined;
  } catch {
    return undefined;
  }
}

/** `{error:{type,message}}`, `{error:"..."}`, `{message}` or `{detail}`: the shapes that occur. */
function messageIn(value: unknown): string | undefined {
  if (!isRecord(value)) return undefined;
  const { error, message, detail } = value;
  if (isRecord(error)) {
    const type = [error.type, error.code, error.status].find((name) => typeof name === "string" && name !== "");
    const text = messageIn(error);
    return text === undefined || type === undefined ? text : `${String(type)}: ${text}`;
  }
  return [error, message, detail].find((text): text is string => typeof text === "string" && text !== "");
}

/** What an error calls itself. */
function errorIn(value: unknown): ErrorFacts | undefined {
  if (!isRecord(value) || value.error === undefined) return undefined;
  const error = isRecord(value.error) ? value.error : value;
  const name = [error.code, error.status].find((one) => typeof one === "string" && one !== "") ?? error.code;
  const type = typeof error.type === "string" ? error.type : reasonIn(error.details);
  return {
    code: name === undefined || name === null ? undefined : String(name),
    type,
    message: messageIn(value) ?? "",
  };
}

/** Google puts the reason among the details: API_KEY_INVALID hides behind INVALID_ARGUMENT. */
function reasonIn(details: unknown): string | undefined {
  if (!Array.isArray(details)) return undefined;
  const reasons = details.map((detail: unknown) => (isRecord(detail) ? detail.reason : undefined));
  return reasons.find((reason): reason is string => typeof reason === "string");
}

/** What is never closed goes to the end, as in a browser. Looking on behind each beginning of it would take minutes. */
function plainWords(body: string): string {
  return body
    .replace(/<(script|style)\b[\s\S]*?(?:<\/\1>|$)/gi, " ")
    .replace(/<!--[\s\S]*?(?:-->|$)/g, " ")
    .replace(/<[^<>]*>/g, " ")
    .replace(/\s+/g, " ")
    .trim();
}

function isRecord(value: unknown): value is Record<string, unknown> {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}
