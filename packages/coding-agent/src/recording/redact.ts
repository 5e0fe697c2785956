import { secretsOfAuthFile, secretsOfModelsFile, valuesOf } from "@tiller/ai/configured-secrets";
import { isHarmlessInQuery } from "@tiller/ai/model-secrets";
import { parseJsonText } from "../config/json-text.ts";
import type { Env } from "../config/paths.ts";
import {
  alternatives,
  FILE_WORDS,
  hideWebTokens,
  KEY_BEGIN,
  PASSWORD_IN_ADDRESS,
  PRIVATE_KEY,
  spellings,
} from "../lib/redactor.ts";
import { parseYaml } from "../lib/yaml-text.ts";
import { parsed } from "./format.ts";

/** Recordings are shown to others: what looks like a secret is not in them. */

export const HIDDEN = "[hidden]";
/** A shorter value is a word rather than a secret. */
const SHORTEST = 8;

const SECRET_NAME = /key|token|secret|passw|auth|cookie|credential|session_?id|signature/i;

/** Forms in which keys of well-known services come; the group at the beginning, if there is one, is kept. */
const SECRET_FORMS: readonly RegExp[] = [
  ...[
    String.raw`sk-[\w-]{16,}`,
    String.raw`[rs]k_(?:live|test)_\w{16,}`,
    String.raw`(?:ghp|gho|ghu|ghs|ghr|github_pat)_\w{20,}`,
    String.raw`glpat-[\w-]{16,}`,
    String.raw`xox[abeprs]-[\w-]{10,}`,
    String.raw`(?:AKIA|ASIA)[A-Z0-9]{16}\b`,
    String.raw`AIza[\w-]{30,}`,
    "(?:gsk|xai|hf|r8|pplx|fw|tgp|csk|nvapi)[-_][A-Za-z0-9_-]{20,}",
  ].map((form) => new RegExp(`()${KEY_BEGIN}${form}`, "g")),
  PRIVATE_KEY,
  PASSWORD_IN_ADDRESS,
  /(\bBearer )[\w.~+/-]{8,}=*/gi,
];

/** Variables whose values are written down: they say where things are and how the program behaves. */
const OPEN_VARIABLES = /^(HOME|PATH|USERPROFILE|LANG|LC_\w+|TZ|TMPDIR|SHELL|TERM|(PI|TILLER|XDG)_\w+)$/;

/** The environment as it may be shown: which variables there are, and the values of those that are known to be harmless. */
export function openEnv(env: Env): Record<string, string> {
  return Object.fromEntries(
    Object.entries(env).flatMap(([name, value]) => {
      if (value === undefined) return [];
      const isOpen = OPEN_VARIABLES.test(name) && !SECRET_NAME.test(name);
      return [[name, isOpen ? value : value === "" ? "" : HIDDEN]];
    }),
  );
}

/** The command line without keys. */
export function openArgv(argv: readonly string[]): string[] {
  return argv.map((arg, index) => {
    if (argv[index - 1] === "--api-key") return HIDDEN;
    return arg.startsWith("--api-key=") ? `--api-key=${HIDDEN}` : arg;
  });
}

export interface Redaction {
  (text: string): string;
  /** From now on these values are taken out as well. */
  learn(values: readonly string[]): void;
}

/** Takes out what looks like a secret, and the values of variables that are called like one. */
export function createRedaction(env: Env, argv: readonly string[]): Redaction {
  let known: string[] = [];
  let literal: RegExp | undefined;
  const redact = (text: string): string => {
    // Before the forms, which end at a dot and would leave the rest of a token.
    let clean = hideWebTokens(literal ? text.replace(literal, HIDDEN) : text, HIDDEN);
    for (const form of SECRET_FORMS) clean = clean.replace(form, (_, kept: string) => `${kept}${HIDDEN}`);
    return clean;
  };
  const learn = (values: readonly string[]): void => {
    const found = values.filter((value) => value.trim().length >= SHORTEST && !FILE_WORDS.has(value));
    if (found.every((value) => known.includes(value))) return;
    known = [...new Set([...known, ...found])];
    literal = new RegExp(alternatives(known.flatMap(spellings)) ?? "", "g");
  };
  learn(Object.entries(env).flatMap(([name, value = ""]) => (SECRET_NAME.test(name) ? [value] : [])));
  learn(keysIn(argv));
  return Object.assign(redact, { learn });
}

function keysIn(argv: readonly string[]): string[] {
  return argv.flatMap((arg, index) => {
    if (argv[index - 1] === "--api-key") return [arg];
    return arg.startsWith("--api-key=") ? [arg.slice("--api-key=".length)] : [];
  });
}

/** Headers of a request or an answer. */
export function openHeaders(headers: Readonly<Record<string, unknown>>): Record<string, unknown> {
  return Object.fromEntries(
    Object.entries(headers).map(([name, value]) => [name, SECRET_NAME.test(name) ? HIDDEN : value]),
  );
}

/** An address without the login and without keys in its query; all else stays as it is written. */
export function openUrl(url: string): string {
  if (!URL.canParse(url)) return url;
  const [, address = "", query, rest = ""] = /^([^?#]*)(\?[^#]*)?(.*)$/s.exec(url) ?? [];
  // Without a password the name is often a token.
  const open = address.replace(/^([a-z][\w+.-]*:\/\/)(?:([^/:]*):)?[^/]*@/i, (_, scheme: string, user?: string) =>
    user === undefined ? `${scheme}hidden@` : `${scheme}${user}:hidden@`,
  );
  return `${open}${query === undefined ? "" : openQuery(query)}${rest}`;
}

/** How the answer is to come; asked for by our own requests. */
const OPEN_IN_QUERY = new Set(["alt", "pageSize"]);

function openQuery(query: string): string {
  return query.replace(/([?&])([^=&]+)(=[^&]*)?/g, (whole, sign: string, name: string, value?: string) => {
    if (isHarmlessInQuery(name) || OPEN_IN_QUERY.has(name)) return whole;
    return value === undefined ? `${sign}hidden` : `${sign}${name}=hidden`;
  });
}

/** An address that stands in a text, up to what ends it in JSON and YAML. */
const ADDRESS = /[a-z][\w+.-]{0,32}:\/\/[^\s"'<>\\{}]{1,4096}(?<!,)/gi;

/**
 * The text of a configuration file without values under names that sound secret, in JSON and in YAML, and those values. Of the
 * files about models also what an exported page would hide.
 */
export function openConfig(text: string, name = "", env: Env = {}): { text: string; secrets: string[] } {
  const value = valueOfFile(text, name);
  const models = /^models\./.test(name) ? value : undefined;
  const secrets = secretsOfFile(value, name, env);
  const hide = (value: string): string => {
    if (!isReference(value)) secrets.push(value);
    return `"${HIDDEN}"`;
  };
  const open = text
    .replace(/("[^"\n]*")(\s*:\s*)("(?:[^"\\\n]|\\.)*")/g, (whole, name: string, colon: string, value: string) =>
      isSecretName(name) ? `${name}${colon}${hide(unquoted(value))}` : whole,
    )
    .replace(
      /^([ \t]*(?:-[ \t]+)?)([\w-]+)(:[ \t]+)([^\s"{[].*)$/gm,
      (whole, indent: string, name: string, colon: string, value: string) =>
        isSecretName(name) ? `${indent}${name}${colon}${hide(value.trim().replace(/^'(.*)'$/, "$1"))}` : whole,
    );
  // A replay has to find its models by their names, which are no secrets even where a key is the same word.
  const ids = new Set(models ? idsIn(models) : []);
  return { text: open.replace(ADDRESS, openUrl), secrets: secrets.filter((secret) => !ids.has(secret)) };
}

/** Of a file that may hold secrets under any name. */
function valueOfFile(text: string, name: string): unknown {
  if (!/^(models|auth)\./.test(name)) return undefined;
  const json = parseJsonText(text);
  const yaml = json.ok ? undefined : parseYaml(text, { merge: true });
  return json.ok ? json.value : yaml && "value" in yaml ? yaml.value : undefined;
}

/** Small letters alone are a word, and may be one of those that frames are made of. */
const isWord = (text: string): boolean => /^[a-z_]*$/.test(text);

function secretsOfFile(value: unknown, name: string, env: Env): string[] {
  const read = name.startsWith("models.") ? secretsOfModelsFile : secretsOfAuthFile;
  return valuesOf(read(value), env).filter((secret) => !isWord(secret));
}

/** The names of providers, and the ids of models wherever they stand. */
function idsIn(value: unknown): string[] {
  if (typeof value !== "object" || value === null) return [];
  return Object.entries(value).flatMap(([name, field]) => {
    if (name === "id" && typeof field === "string") return [field];
    return [...(name === "providers" && typeof field === "object" ? Object.keys(field ?? {}) : []), ...idsIn(field)];
  });
}

/** With an escape that JSON does not know: as it stands. */
function unquoted(json: string): string {
  const [text] = (parsed(`[${json}]`) as [string] | undefined) ?? [json.slice(1, -1)];
  return text;
}

/** A command, a variable or a file that a secret comes from is none itself. */
function isReference(value: string): boolean {
  return /^[!$~./]|^[A-Z][A-Z0-9_]*$/.test(value);
}

/** Not the name of a keyword that only contains one: `maxTokens` is no secret, and neither is `keybindings`. */
function isSecretName(name: string): boolean {
  const plain = name.replaceAll('"', "");
  if (/^(access|refresh)$/i.test(plain)) return true;
  return SECRET_NAME.test(plain) && !/tokens|keybind|keys$|author|thinkingsignature/i.test(plain);
}
