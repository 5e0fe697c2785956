import { type ParsedFile, problemAt } from "./parsed-file.ts";
import { providerRow } from "./providers/index.ts";

/** Where keys come from. Reads and runs nothing itself: files are given parsed, the environment as a record. */

export type Environment = Readonly<Record<string, string | undefined>>;

/** The variables that may hold a provider's key, the first one set wins. */
export function keyVariables(provider: string): readonly string[] {
  return providerRow(provider)?.keyVariables ?? [];
}

/** A secret, the command that prints it, or why there is none. */
export type Secret = { value: string } | { command: string } | { missing: string };

/** The variable to recommend: a plain key goes before tokens of other kinds. */
export function plainKeyVariable(provider: string): string | undefined {
  const names = keyVariables(provider);
  return names.find((name) => name.endsWith("_API_KEY")) ?? names[0];
}

/** What no header can carry: control characters, and what is outside Latin-1. */
export function isSendable(value: string): boolean {
  return /^[\x20-\x7e\xa0-\xff]*$/.test(value);
}

/** Without the line break that files and mounted secrets end with; empty counts as not set. */
function variableValue(name: string, env: Environment): string | undefined {
  return env[name]?.trim() || undefined;
}

/**
 * `$NAME` and `${NAME}` stand for a variable, `!command` for what it prints; everything else is the secret itself. White
 * space around it is nobody's key.
 */
export function readSecret(given: string, env: Environment): Secret {
  const text = given.trim();
  if (text.startsWith("!")) {
    const command = text.slice(1).trim();
    return command === "" ? { missing: "there is no command behind the !" } : { command };
  }
  const name = /^\$(?:\{(\w+)\}|(\w+))$/.exec(text);
  if (!name) return { value: text };
  const variable = name[1] ?? name[2] ?? "";
  const value = variableValue(variable, env);
  return value === undefined ? notSet(variable) : { value };
}

/** The same for a header, which may also hold `${NAME}` inside a text: `Bearer ${TOKEN}`. */
export function readHeader(text: string, env: Environment): Secret {
  const secret = readSecret(text, env);
  if (!("value" in secret) || secret.value !== text.trim()) return secret;
  const names = [...text.matchAll(/\$\{(\w+)\}/g)].map((match) => match[1] ?? "");
  const unset = names.find((name) => variableValue(name, env) === undefined);
  if (unset !== undefined) return notSet(unset);
  return { value: secret.value.replace(/\$\{(\w+)\}/g, (_, name: string) => variableValue(name, env) ?? "") };
}

/** The names of the variables that such a text takes its value from. What a command makes of variables is its own affair. */
export function variablesIn(given: string): string[] {
  const text = given.trim();
  if (text.startsWith("!")) return [];
  return [...text.matchAll(/^\$(\w+)$|\$\{(\w+)\}/g)].map((match) => match[1] ?? match[2] ?? "");
}

function notSet(variable: string): Secret {
  return { missing: `the environment variable ${variable} is not set` };
}

/** An entry of auth.json. */
export type StoredCredential =
  | { type: "api_key"; key: string }
  /** `expires` in milliseconds since 1970; 0 when it does not say. */
  | { type: "oauth"; access: string; expires: number; isRenewable?: boolean };

export interface KeySources {
  env: Environment;
  now: number;
  /** `--api-key`, for this process only. */
  runtimeKey?: { provider: string; key: string };
  /** By provider. */
  stored: ReadonlyMap<string, StoredCredential>;
  /** By provider, from models.json. */
  configured: ReadonlyMap<string, string>;
  /** How messages call the two files. */
  names: { auth: string; models: string };
}

/** A key, or the command that prints it, and where it was found. `source` is for people and never holds the key. */
export interface FoundKey {
  secret: { value: string } | { command: string };
  source: string;
}

/** In order: given at start, auth.json, environment, models.json. */
export function findKey(provider: string, sources: KeySources): FoundKey | { missing: string } {
  const { env, runtimeKey, names } = sources;
  if (runtimeKey?.provider === provider) return { secret: { value: runtimeKey.key.trim() }, source: "--api-key" };
  const reasons: string[] = [];
  const take = (file: string, text: string | undefined): FoundKey | undefined => {
    if (text === undefined) return undefined;
    const secret = readSecret(text, env);
    if (!("missing" in secret)) return { secret, source: sourceText(file, text, secret) };
    reasons.push(`${file} has a key for "${provider}", but ${secret.missing}`);
    return undefined;
  };
  const entry = sources.stored.get(provider);
  return (
    take(names.auth, entry?.type === "api_key" ? entry.key : undefined) ??
    loginKey(provider, sources, reasons) ??
    variableKey(provider, env) ??
    take(names.models, sources.configured.get(provider)) ?? { missing: reasons.join("; ") }
  );
}

/** `models.json ($MY_KEY)` tells where to look; a command could hold a password, so it is not shown. */
function sourceText(file: string, text: string, secret: Secret): string {
  if ("command" in secret) return `${file} (a command)`;
  return text.startsWith("$") && "value" in secret && secret.value !== text.trim() ? `${file} (${text})` : file;
}

function variableKey(provider: string, env: Environment): FoundKey | undefined {
  for (const name of keyVariables(provider)) {
    const value = variableValue(name, env);
    if (value !== undefined) return { secret: { value }, source: name };
  }
  return undefined;
}

/** A login is good until it expires. It is renewed before it is used, if its provider was registered with a way to do so. */
function loginKey(provider: string, sources: KeySources, reasons: string[]): FoundKey | undefined {
  const entry = sources.stored.get(provider);
  if (entry?.type !== "oauth") return undefined;
  const file = sources.names.auth;
  if (entry.expires === 0) return { secret: { value: entry.access }, source: `${file} (login)` };
  const until = timeText(entry.expires);
  if (entry.expires > sources.now) {
    return { secret: { value: entry.access }, source: `${file} (login, until ${until})` };
  }
  if (entry.isRenewable) return { secret: { value: entry.access }, source: `${file} (login, to be renewed)` };
  reasons.push(
    `the login of "${provider}" in ${file} expired at ${until} and is not renewed here; log in again with the program that made it, or use an API key`,
  );
  return undefined;
}

function timeText(unixMs: number): string {
  return `${new Date(unixMs).toISOString().slice(0, 16).replace("T", " ")} UTC`;
}

const LATEST_TIME = 8.64e15;

/** The credentials in auth.json, and what in it cannot be used. No problem ever quotes a value. */
export function readAuthFile(file: ParsedFile | undefined): {
  stored: Map<string, StoredCredential>;
  problems: string[];
} {
  const stored = new Map<string, StoredCredential>();
  const problems: string[] = [];
  const value = file?.value;
  if (file === undefined || value === undefined || value === null) return { stored, problems };
  if (typeof value !== "object" || Array.isArray(value)) {
    return { stored, problems: [problemAt(file, [], "expected an object with one entry for each provider")] };
  }
  for (const [provider, entry] of Object.entries(value)) {
    const credential = readCredential(entry);
    if (typeof credential === "string") problems.push(problemAt(file, [provider], credential));
    else stored.set(provider, credential);
  }
  return { stored, problems };
}

export function readCredential(entry: unknown): StoredCredential | string {
  const { type, key, access, expires } = (entry ?? {}) as Readonly<Record<string, unknown>>;
  if (type === "oauth") {
    if (typeof access !== "string" || access.trim() === "")
      return 'needs {"type":"oauth","access":"...","expires":...}';
    const isTime = typeof expires === "number" && expires > 0 && expires <= LATEST_TIME;
    return { type, access: access.trim(), expires: isTime ? expires : 0 };
  }
  const isKey = typeof key === "string" && key.trim() !== "" && (type === "api_key" || type === undefined);
  return isKey ? { type: "api_key", key } : 'needs {"type":"api_key","key":"..."}';
}
