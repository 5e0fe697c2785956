/**
 * Takes secrets out of a text that is going to be shown to others: those that are known, and what looks like one. It
 * works on plain text and on JSON alike, which stays JSON: what is taken out never holds a quote or half an escape, and
 * what is put in its place holds neither. Pure, and linear in the length of the text, whatever the text is.
 */

export interface RedactorOptions {
  /** Values that are known to be secret. Those that are too short to be one are left alone. */
  secrets?: readonly string[];
  /** Absolute path of the home folder; what lies in it is told as `~/...`. */
  home?: string;
  /** More texts to take out. One `*` in it stands for a run of letters, digits and `_ . ~ + / = -`. */
  patterns?: readonly string[];
}

export type Redact = (text: string) => string;

export const REDACTED = "[redacted]";

/** A shorter value is a word like `none` rather than a secret, and taking it out would only garble the text. */
const SHORTEST_SECRET = 8;

const VALUE = String.raw`[\w.~+/=-]`;
/** Words do not hold digits, keys do. */
const HAS_DIGIT = String.raw`(?=[\w.~+/=-]{0,64}\d)`;
const HAS_LETTER = String.raw`(?=[\w.~+/=-]{0,64}[A-Za-z])`;

/** What keys begin with, up to the last dash or underscore: those of models, of GitHub, GitLab, Slack, Stripe, npm. */
const BEGINNINGS = [
  "sk-",
  "[rs]k_(?:live|test)_",
  "gh[pousr]_",
  "github_pat_",
  "glpat-",
  "xox[abeoprs]-",
  "hf_",
  "gsk_",
  "xai-",
  "npm_",
];

/**
 * What keys look like; the group at the beginning is kept. Each begins with a character that is rare, so that a long text
 * is gone through quickly, and goes on with one class of characters or with a bounded number of them: nothing is ever
 * looked at more often than that.
 */
const SHAPES: readonly RegExp[] = [
  new RegExp(String.raw`([-_](?<=\b(?:${BEGINNINGS.join("|")})))${HAS_DIGIT}[\w-]{16,}`, "g"),
  // Amazon, Google.
  /\b(A(?:[KS]IA(?=[A-Z0-9]{16})|Iza))[\w-]{16,}/g,
  // JSON web tokens.
  /(eyJ(?<=(?<![\w-])eyJ))[\w-]{10,}\.[\w-]{10,}\.[\w-]{5,}/g,
  new RegExp(String.raw`((?:[Bb]earer|[Bb]asic)[ \t]{1,4})${HAS_DIGIT}${VALUE}{8,}`, "g"),
  // The line ends inside may be escaped, once or more often. A line of JSON behind it is another matter.
  /(-----BEGIN [A-Z ]{0,40}PRIVATE KEY(?: BLOCK)?-----)(?:[\w+/=:, \t.()-]|\r?\n(?!\{)|\\{1,8}[nrt])+/g,
  // Passwords in addresses.
  /(:\/\/[^\s/:@"'\\<>]{0,64}:)[^\s/@"'\\<>]{1,128}(?=@)/g,
  new RegExp(
    `((?:[Kk][Ee][Yy]|[Tt][Oo][Kk][Ee][Nn]|[Ss][Ee][Cc][Rr][Ee][Tt]|[Pp][Aa][Ss][Ss][Ww](?:[Oo][Rr])?[Dd])` +
      String.raw`["'\\]{0,4}[ \t]{0,3}[:=][ \t]{0,3}["'\\]{0,4})${HAS_DIGIT}${HAS_LETTER}[\w~+/=-]{12,}`,
    "g",
  ),
];

export function createRedactor({ secrets = [], home, patterns = [] }: RedactorOptions): Redact {
  const known = secrets.filter((secret) => secret.trim().length >= SHORTEST_SECRET);
  const literal = alternatives(known.flatMap(spellings));
  const own = patterns.flatMap(patternSource);
  const shapes = [
    ...(literal === undefined ? [] : [new RegExp(`()(?:${literal})`, "g")]),
    ...SHAPES,
    ...(own.length === 0 ? [] : [new RegExp(`()(?:${own.join("|")})`, "g")]),
  ];
  const shorten = homeShortener(home);
  return (text) => {
    let clean = text;
    for (const shape of shapes) clean = clean.replace(shape, (_, kept: string) => `${kept}${REDACTED}`);
    return shorten(clean);
  };
}

/** As it is, and as it stands in JSON. */
function spellings(text: string): string[] {
  return [...new Set([text, JSON.stringify(text).slice(1, -1)])];
}

/** Longest first, so that no part of a secret is left beside a shorter one. */
function alternatives(texts: readonly string[]): string | undefined {
  const sorted = [...new Set(texts)].sort((one, other) => other.length - one.length);
  return sorted.length === 0 ? undefined : sorted.map(quoted).join("|");
}

function quoted(text: string): string {
  return text.replace(/[\\^$.*+?()[\]{}|/-]/g, "\\$&");
}

/** A longer run in the middle of a pattern would be looked through again from each of its characters. */
const LONGEST_RUN = 256;

function patternSource(pattern: string): string[] {
  const [before = "", ...after] = pattern.split("*");
  const rest = after.join("");
  if (after.length === 0) return pattern === "" ? [] : spellings(pattern).map(quoted);
  // Without anything that is the same in all of them it would be every word.
  if (before + rest === "") return [];
  const run = rest === "" ? `${VALUE}+` : `${VALUE}{1,${LONGEST_RUN}}`;
  return spellings(before).flatMap((left) => spellings(rest).map((right) => quoted(left) + run + quoted(right)));
}

/** `/home/me/app` becomes `~/app`, and the name of the folder that its sessions lie in, `--home-me-app--`, `--~-app--`. */
function homeShortener(home: string | undefined): Redact {
  const trimmed = home?.replace(/[/\\]+$/, "") ?? "";
  // A root folder is nobody's home.
  if (!/[/\\][^/\\]/.test(trimmed)) return (text) => text;
  const path = new RegExp(`(?:${alternatives(spellings(trimmed))})(?![\\w-])(?!\\.\\w)`, "g");
  /** Looked at behind the match: a pattern that begins with a text is found several times faster. */
  const short = (found: string, at: number, text: string): string => (/[\w.-]/.test(text[at - 1] ?? "") ? found : "~");
  const folder = `--${trimmed.replace(/^[/\\]/, "").replace(/[/\\:]/g, "-")}-`;
  return (text) => {
    const shown = text.replace(path, short);
    return shown.includes(folder) ? shown.replaceAll(folder, "--~-") : shown;
  };
}
