import type { Env } from "../config/paths.ts";

/** Recordings are shown to others: what looks like a secret is not in them. */

export const HIDDEN = "[hidden]";
/** A shorter value is a word rather than a secret. */
const SHORTEST = 8;

const SECRET_NAME = /key|token|secret|passw|auth|cookie|credential|session_?id|signature/i;

/** Forms in which keys of well-known services come. */
const SECRET_FORMS: readonly RegExp[] = [
  /\bsk-[\w-]{16,}/g,
  /\b(?:ghp|gho|ghu|ghs|ghr|github_pat)_\w{20,}/g,
  /\bxox[abeprs]-[\w-]{10,}/g,
  /\b(?:AKIA|ASIA)[A-Z0-9]{16}\b/g,
  /\bAIza[\w-]{30,}/g,
  /\b(?:gsk|xai|hf|r8|pplx|fw|tgp|csk|nvapi)[-_][A-Za-z0-9_-]{20,}/g,
  /\beyJ[\w-]{10,}\.[\w-]{10,}\.[\w-]{5,}/g,
  /-----BEGIN [A-Z ]*PRIVATE KEY-----[\s\S]*?-----END [A-Z ]*PRIVATE KEY-----/g,
  /(?<=\bBearer )[\w.~+/-]{8,}=*/gi,
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

/** Takes out what looks like a secret, and the values of variables that are called like one. */
export function createRedaction(env: Env, argv: readonly string[]): (text: string) => string {
  const key = argv[argv.indexOf("--api-key") + 1] ?? "";
  const values = Object.entries(env).flatMap(([name, value = ""]) => (SECRET_NAME.test(name) ? [value] : []));
  const known = [...new Set([...values, argv.includes("--api-key") ? key : ""])]
    .filter((value) => value.length >= SHORTEST)
    .sort((a, b) => b.length - a.length);
  return (text) => {
    let clean = text;
    for (const value of known) clean = clean.replaceAll(value, HIDDEN);
    for (const form of SECRET_FORMS) clean = clean.replace(form, HIDDEN);
    return clean;
  };
}

/** Headers of a request or an answer. */
export function openHeaders(headers: Readonly<Record<string, unknown>>): Record<string, unknown> {
  return Object.fromEntries(
    Object.entries(headers).map(([name, value]) => [name, SECRET_NAME.test(name) ? HIDDEN : value]),
  );
}

/** An address without the login and without keys in its query. */
export function openUrl(url: string): string {
  if (!URL.canParse(url)) return url;
  const parsed = new URL(url);
  if (parsed.password !== "") parsed.password = "hidden";
  for (const name of [...parsed.searchParams.keys()]) {
    if (SECRET_NAME.test(name)) parsed.searchParams.set(name, "hidden");
  }
  return parsed.href;
}

/** The text of a configuration file: values under names that sound secret, in JSON and in YAML. */
export function openConfig(text: string): string {
  return text
    .replace(/("[^"\n]*")(\s*:\s*)"(?:[^"\\\n]|\\.)*"/g, (whole, name: string, colon: string) =>
      isSecretName(name) ? `${name}${colon}"${HIDDEN}"` : whole,
    )
    .replace(/^(\s*-?\s*)([\w-]+)(:[ \t]+)([^\s"{[].*)$/gm, (whole, indent: string, name: string, colon: string) =>
      isSecretName(name) ? `${indent}${name}${colon}"${HIDDEN}"` : whole,
    );
}

/** Not the name of a keyword that only contains one: `maxTokens` is no secret, and neither is `keybindings`. */
function isSecretName(name: string): boolean {
  const plain = name.replaceAll('"', "");
  if (/^(access|refresh)$/i.test(plain)) return true;
  return SECRET_NAME.test(plain) && !/tokens|keybind|keys$|author|thinkingsignature/i.test(plain);
}
