import { cutWords } from "../../cut-words.ts";
import { ProviderError, type ProviderErrorKind } from "../../errors.ts";
import { kindOfError } from "../../http/error-kind.ts";
import { failureOf } from "../../http/failure.ts";
import { isRecord, textOf } from "../wire-values.ts";

/** What an AI SDK model throws, or puts into its stream, as our kind of error. Pure. */

/** The errors of the SDK that are no answer of a server, by their names. */
const KINDS: ReadonlyMap<string, ProviderErrorKind> = new Map(
  Object.entries<ProviderErrorKind>({
    AI_LoadAPIKeyError: "auth",
    AI_LoadSettingError: "bad_request",
    AI_NoSuchModelError: "bad_request",
    AI_InvalidArgumentError: "bad_request",
    AI_InvalidPromptError: "bad_request",
    AI_UnsupportedFunctionalityError: "bad_request",
    AI_EmptyResponseBodyError: "malformed",
    AI_InvalidResponseDataError: "malformed",
    AI_JSONParseError: "malformed",
    AI_TypeValidationError: "malformed",
    AbortError: "network",
  }),
);
/** The codes of a connection that failed, ours and those of Node's fetch. */
const NETWORK_CODE = /^(E[A-Z]+|UND_ERR_\w+|CERT_\w+|UNABLE_TO_\w+|SELF_SIGNED_\w+|DEPTH_ZERO_\w+)$/;
const NETWORK_WORDS = /^(cannot connect to api|fetch failed|terminated|network error)/i;

export function toldFailure(error: unknown, now: number): ProviderError {
  if (error instanceof ProviderError) return error;
  const facts = isRecord(error) ? error : {};
  if (typeof facts.statusCode === "number") return answeredFailure(facts, facts.statusCode, error, now);
  const words = wordsOf(error);
  const kind = KINDS.get(textOf(facts.name)) ?? (isNetwork(error) ? "network" : kindOf(facts, words));
  return new ProviderError(kind, words, { cause: error });
}

/** A server answered: the same rules as for our own requests. */
function answeredFailure(facts: Facts, status: number, error: unknown, now: number): ProviderError {
  const headers = isRecord(facts.responseHeaders) ? (facts.responseHeaders as Record<string, string>) : {};
  const body = textOf(facts.responseBody) || textOf(facts.message);
  const { kind, message, retryAfterMs } = failureOf({ status, statusText: "", headers, body }, now);
  return new ProviderError(kind, message, {
    status,
    cause: error,
    ...(retryAfterMs === undefined ? {} : { retryAfterMs }),
  });
}

function kindOf(facts: Facts, message: string): ProviderErrorKind {
  const { code, type, error } = facts;
  if (isRecord(error)) return kindOf(error, message);
  return kindOfError({ code: textOf(code), type: textOf(type), message });
}

/** Anywhere in the chain of causes. */
function isNetwork(error: unknown): boolean {
  for (let at = error, depth = 0; isRecord(at) && depth < 5; at = at.cause, depth++) {
    if (NETWORK_CODE.test(textOf(at.code)) || NETWORK_WORDS.test(textOf(at.message))) return true;
  }
  return false;
}

function wordsOf(error: unknown): string {
  if (typeof error === "string") return error;
  if (!isRecord(error)) return String(error);
  const { message, cause, error: inner } = error;
  if (textOf(message) !== "") {
    const why = isRecord(cause) ? textOf(cause.message) : "";
    return why === "" || textOf(message).includes(why) ? textOf(message) : `${textOf(message)} (${why})`;
  }
  return inner === undefined ? cutWords(JSON.stringify(error), 500) : wordsOf(inner);
}

type Facts = Record<string, unknown>;
