import type { Model } from "@tiller/protocol/model";
import { type Environment, readHeader, type Secret } from "./auth.ts";
import { ProviderError } from "./errors.ts";
import type { StreamModel } from "./provider.ts";
import { basicAuthorization, decoded } from "./url-login.ts";

/**
 * What only a model's server may see: user, password and keys in its base URL, and the options of its package. Hosts see
 * the model without them; they come back in when it is asked.
 */

type Fields = Readonly<Record<string, unknown>>;

/** `//user:password@` of a URL, also of one that is not quite a URL. */
const USER = /^((?:[a-z][\w+.-]*:)?\/\/)?[^/?#]*@/i;
/** The only thing in a query that is known to be no secret. */
const HARMLESS_QUERY = new Set(["api-version"]);

export function isHarmlessInQuery(name: string): boolean {
  return HARMLESS_QUERY.has(name);
}

/** The base URL as everybody may see it. */
export function publicUrl(baseUrl: string): string {
  const [path = "", query] = splitQuery(withoutUser(baseUrl));
  if (query === undefined) return path;
  const kept = query.split("&").filter((pair) => HARMLESS_QUERY.has(pair.split("=", 1)[0] ?? ""));
  return kept.length === 0 ? path : `${path}?${kept.join("&")}`;
}

function withoutUser(baseUrl: string): string {
  return baseUrl.replace(USER, "$1");
}

function splitQuery(url: string): [path: string, query?: string] {
  const at = url.indexOf("?");
  return at < 0 ? [url] : [url.slice(0, at), url.slice(at + 1)];
}

/** What a base URL says beside the address: a login for a header, and the URL with its query when that is not public. */
export function urlAccess(baseUrl: string): { baseUrl?: string; authorization?: string } {
  const asked = withoutUser(baseUrl);
  const url = asked !== baseUrl && URL.canParse(baseUrl) ? new URL(baseUrl) : undefined;
  const login = url && url.username + url.password !== "" ? basicAuthorization(url) : undefined;
  return {
    ...(asked === publicUrl(baseUrl) ? {} : { baseUrl: asked }),
    ...(login === undefined ? {} : { authorization: login }),
  };
}

/** The secret parts of a base URL, for whoever has to hide them in a text. */
export function secretsInUrl(baseUrl: string): string[] {
  const login =
    USER.exec(baseUrl)?.[0]
      .replace(/^.*\/\//, "")
      .slice(0, -1) ?? "";
  const pairs = (splitQuery(baseUrl)[1] ?? "")
    .split("&")
    .filter((pair) => !HARMLESS_QUERY.has(pair.split("=", 1)[0] ?? ""));
  const values = pairs.flatMap((pair) => [pair, pair.slice(pair.indexOf("=") + 1)]);
  return [login, ...login.split(":"), ...values].flatMap((text) => [text, decoded(text)]);
}

/** Options that say where something is; their values are worth more in an error than hidden. */
const HARMLESS_OPTIONS = /^(region|location|project|name|resourceName|apiVersion|baseURL|baseUrl|endpoint)$/;

/**
 * The secret parts of the options of a package. Those of a program may lead round in a circle, or hold the same object in many
 * places: it is looked at once.
 */
export function secretsInOptions(options: unknown): string[] {
  const secrets: string[] = [];
  const seen = new Set<unknown>();
  const found: [name: string, value: unknown][] = [["", options]];
  // It grows while it is gone through.
  for (const [name, value] of found) {
    if (typeof value === "string") secrets.push(...secretsInOption(name, value));
    if (typeof value !== "object" || value === null || seen.has(value)) continue;
    seen.add(value);
    for (const field of Object.entries(value)) found.push(field);
  }
  return secrets;
}

function secretsInOption(name: string, text: string): string[] {
  if (/^\w+:\/\//.test(text)) return secretsInUrl(text);
  return HARMLESS_OPTIONS.test(name) ? [] : [text];
}

/** The texts of options as values, wherever they stand: `$NAME`, `${NAME}` inside a text, `!command`. */
export function readOptions(options: Fields, env: Environment, owner: string): Secret[] {
  const secrets: Secret[] = [];
  eachText(options, (text, place) => {
    if (isPlain(text)) return text;
    const secret = readHeader(text, env);
    if ("missing" in secret) {
      throw new ProviderError("auth", `compat.options.${place} of ${owner} in models.json: ${secret.missing}`);
    }
    secrets.push(secret);
    return text;
  });
  return secrets;
}

/** The options with the values in place. */
export function filledOptions(options: Fields, env: Environment, valueFor: (secret: Secret) => string): Fields {
  return eachText(options, (text) => (isPlain(text) ? text : valueFor(readHeader(text, env)))) as Fields;
}

/** Not a value to be looked up, so it stays as it is to the last line break: it may be the text of a certificate. */
function isPlain(text: string): boolean {
  return !text.includes("$") && !text.trimStart().startsWith("!");
}

type Change = (text: string, place: string) => string;

/** What a program gives may lead round in a circle, or hold the same object in many places: it is copied once. */
function eachText(value: unknown, change: Change, place = "", depth = 0, copies = new Map<object, object>()): unknown {
  if (typeof value === "string") return change(value, place);
  if (!(Array.isArray(value) || isData(value)) || depth > MOST_OPTION_LEVELS) return value;
  const known = copies.get(value);
  if (known) return known;
  const copy = Array.isArray(value) ? [] : {};
  copies.set(value, copy);
  for (const [key, item] of Object.entries(value)) {
    const name = Array.isArray(value) ? `[${key}]` : place === "" ? key : `.${key}`;
    const changed = eachText(item, change, place + name, depth + 1, copies);
    Object.defineProperty(copy, key, { value: changed, enumerable: true, writable: true, configurable: true });
  }
  return copy;
}

/** Values stand nowhere deeper; and what goes on for ever must not take all of the stack. */
const MOST_OPTION_LEVELS = 100;

/** An object that is more, an agent for connections say, stays what it is. */
function isData(value: unknown): value is object {
  if (typeof value !== "object" || value === null) return false;
  const prototype: unknown = Object.getPrototypeOf(value);
  return prototype === null || Object.getPrototypeOf(prototype) === null;
}

/** What a model is asked with, beside the key and the headers. */
export interface ModelSecrets {
  /** Instead of the base URL that everybody sees. */
  baseUrl?: string;
  /** `compat.options`. */
  options?: Fields;
}

/** The model as its server is to be asked. Never give it to a host. */
export function askedModel(model: Model, { baseUrl, options }: ModelSecrets): Model {
  if (baseUrl === undefined && options === undefined) return model;
  const asked = {
    ...model,
    ...(baseUrl === undefined ? {} : { baseUrl }),
    ...(options === undefined ? {} : { compat: { ...model.compat, options } }),
  };
  const speaker = speakers.get(model);
  return speaker ? spokenBy(asked, speaker) : asked;
}

/** A function is no part of a model, which travels as JSON: it is kept beside it. */
const speakers = new WeakMap<Model, StreamModel>();

/** From now on this is how the model is asked, whatever its API family. Gives back the same object. */
export function spokenBy(model: Model, speaker: StreamModel): Model {
  speakers.set(model, speaker);
  return model;
}

export function speakerOf(model: Model): StreamModel | undefined {
  return speakers.get(model);
}

/** Their values are words that stand in every answer: to take them out would take the answers apart. */
export function isHarmlessHeader(name: string): boolean {
  return /^(accept(-\w+)?|content-type|user-agent|anthropic-(version|beta)|openai-beta)$/i.test(name);
}
