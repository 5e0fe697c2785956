/** How long a provider asks us to wait, in milliseconds: from the headers of its answer, else from its words. Pure. */

export type HeaderValues = Readonly<Record<string, string | string[] | undefined>>;

interface LimitedAnswer {
  status: number;
  /** By lower-case name. */
  headers: HeaderValues;
  /** The JSON of the body, when it is some. */
  body?: unknown;
}

export function retryAfterOf({ status, headers, body }: LimitedAnswer, now: number): number | undefined {
  const asked = askedPause(headers, now);
  if (asked !== undefined || status !== 429) return asked ?? pauseInBody(body, now);
  return resetPause(headers, now) ?? pauseInBody(body, now);
}

/** `retry-after-ms`, or `retry-after` in seconds or as a date. */
function askedPause(headers: HeaderValues, now: number): number | undefined {
  const exact = text(headers["retry-after-ms"]);
  if (exact !== "" && Number(exact) >= 0) return Number(exact);
  const value = text(headers["retry-after"]);
  if (value === "") return undefined;
  const seconds = Number(value);
  if (!Number.isNaN(seconds)) return seconds >= 0 ? seconds * 1000 : undefined;
  return until(Date.parse(value), now);
}

interface Bucket {
  name: string;
  remaining: string;
  /** Milliseconds until it is full again. */
  pause: number;
}

/** `anthropic-ratelimit-<bucket>-reset`, `x-ratelimit-reset-<bucket>`, `x-ratelimit-reset`, `ratelimit-reset`. */
const RESET = /^(?:anthropic-ratelimit-(.+)-reset|x-ratelimit-reset(?:-(.+))?|ratelimit-reset)$/;

function resetPause(headers: HeaderValues, now: number): number | undefined {
  const buckets: Bucket[] = [];
  for (const header of Object.keys(headers)) {
    const found = RESET.exec(header);
    const pause = found && pauseUntilReset(text(headers[header]), now);
    if (!found || pause === undefined || pause === null) continue;
    buckets.push({ name: found[1] ?? found[2] ?? "", remaining: remainingFor(header, headers), pause });
  }
  const empty = buckets.filter(({ remaining }) => remaining !== "" && Number(remaining) <= 0);
  // Where none is empty the request was larger than what is left of one. A day's bucket would be a wait for nothing.
  const likely = empty.length > 0 ? empty : buckets.filter(({ name }) => !name.endsWith("day"));
  return likely.length === 0 ? undefined : Math.max(...likely.map(({ pause }) => pause));
}

function remainingFor(header: string, headers: HeaderValues): string {
  return text(headers[header.replace("reset", "remaining")]);
}

/** From here on a number can only be a moment: seconds since 1970, or milliseconds. */
const EPOCH_SECONDS = 1e9;
const EPOCH_MS = 1e11;

/** A date, a duration such as `6m0s`, a moment since 1970, or seconds from now. */
function pauseUntilReset(value: string, now: number): number | undefined {
  const number = value === "" ? Number.NaN : Number(value);
  if (number >= EPOCH_MS) return until(number, now);
  if (number >= EPOCH_SECONDS) return until(number * 1000, now);
  if (number >= 0) return number * 1000;
  return durationMs(value) ?? until(Date.parse(value), now);
}

const UNIT_MS: Readonly<Record<string, number>> = { d: 86_400_000, h: 3_600_000, m: 60_000, s: 1000, ms: 1 };

/** `1h2m3.5s`, `20ms`. */
export function durationMs(value: string): number | undefined {
  const duration = value.trim();
  if (!/^(\d+(\.\d+)?(ms|[dhms]))+$/.test(duration)) return undefined;
  let sum = 0;
  for (const [, amount, unit] of duration.matchAll(/([\d.]+)(ms|[dhms])/g)) sum += Number(amount) * UNIT_MS[unit!]!;
  return Math.round(sum);
}

/** Google's RetryInfo, the headers OpenRouter passes on, or a sentence. */
function pauseInBody(body: unknown, now: number): number | undefined {
  const first: unknown = Array.isArray(body) ? body[0] : body;
  const error = at(first, "error") ?? first;
  const details = at(error, "details");
  for (const detail of Array.isArray(details) ? details : []) {
    const delay: unknown = at(detail, "retryDelay");
    const pause = typeof delay === "string" ? durationMs(delay) : undefined;
    if (pause !== undefined) return pause;
  }
  const passedOn = at(at(error, "metadata"), "headers");
  const pause = typeof passedOn === "object" ? resetPause(lowerCase(passedOn), now) : undefined;
  const message = at(error, "message");
  return pause ?? (typeof message === "string" ? pauseInWords(message) : undefined);
}

/** "Please try again in 1m12.5s." Errors inside a stream have no other place for it. */
export function pauseInWords(message: string): number | undefined {
  const found = /\b(?:try again|retry) in ((?:\d+(?:\.\d+)?(?:ms|[dhms]))+)(?![a-z])/i.exec(message);
  return found?.[1] === undefined ? undefined : durationMs(found[1].toLowerCase());
}

function lowerCase(headers: object): HeaderValues {
  return Object.fromEntries(Object.entries(headers).map(([name, value]) => [name.toLowerCase(), String(value)]));
}

function until(moment: number, now: number): number | undefined {
  return Number.isNaN(moment) ? undefined : Math.max(0, moment - now);
}

function text(value: string | string[] | undefined): string {
  return (Array.isArray(value) ? value[0] : value)?.trim() ?? "";
}

function at(value: unknown, key: string): object | string | undefined {
  const found: unknown = typeof value === "object" && value !== null ? Reflect.get(value, key) : undefined;
  return typeof found === "string" || (typeof found === "object" && found !== null) ? found : undefined;
}
