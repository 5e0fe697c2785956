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

/**
 * Where a key may begin: behind no letter and no digit. In JSON the line end or the tab before it is a letter, and so is
 * the end of a colour.
 */
export const KEY_BEGIN = String.raw`(?:(?<!\w)|(?<=\\[bfnrt]|\\u00[01][\da-fA-F]|\[[\d;]{0,16}m))`;

/** What keys begin with, up to the last dash or underscore: those of models, of GitLab, Slack, Stripe. */
const BEGINNINGS = [
  "sk-",
  "[rs]k_(?:live|test)_",
  "github_pat_",
  "glpat-",
  "xox[abeoprs]-",
  "gsk_",
  "xai-",
  "pplx-",
  "nvapi-",
];
/** Those of GitHub, Hugging Face, npm, Replicate, which have no further underscore: `npm_config_...` is no key. */
const PLAIN_BEGINNINGS = ["gh[pousr]_", "hf_", "npm_", "r8_"];

/**
 * The line ends inside may be escaped, once or more often, and lines may be numbered or quoted. A line of JSON behind it is
 * another matter, and so is what follows its end.
 */
export const PRIVATE_KEY = new RegExp(
  "(-----BEGIN [A-Z ]{0,40}PRIVATE KEY(?: BLOCK)?-----)" +
    String.raw`(?:(?!-----END )(?:[\w+/=:, \t.()>|→-]|\r?\n(?!\{)|\\{1,8}[nrt]))+` +
    "(?:-----END [A-Z ]{0,40}PRIVATE KEY(?: BLOCK)?-----)?",
  "g",
);
/** It may hold an @. What stands there alone and is long is a token. */
export const PASSWORD_IN_ADDRESS =
  /(:\/\/(?:[^\s/:@"'\\<>]{0,64}:|(?=[A-Za-z_]{0,64}\d\w{0,64}@)(?=\w{20})))[^\s/"'\\<>]{1,128}(?=@)/g;

/** A backslash at its end would belong to what follows: of a line break in JSON only that would be left. */
const ASSIGNED = String.raw`["'\\]{0,4}[ \t]{0,3}[:=][ \t]{0,3}(?:["'\\]{0,3}["'])?`;
/** It may be short, and hold other signs than keys do; what begins with a sign is rather code. */
const PASSWORD =
  String.raw`(?<=[Dd]${ASSIGNED})(?=[^\s"'\\]{0,64}\d)(?=[^\s"'\\]{0,64}[A-Za-z])` +
  String.raw`\w[^\s"'\\<>,;(){}[\].\x60]{7,64}`;

/**
 * What keys look like; the group at the beginning is kept. Each begins with a character that is rare, so that a long text
 * is gone through quickly, and goes on with one class of characters or with a bounded number of them: nothing is ever
 * looked at more often than that.
 */
const SHAPES: readonly RegExp[] = [
  new RegExp(String.raw`([-_](?<=${KEY_BEGIN}(?:${BEGINNINGS.join("|")})))${HAS_DIGIT}[\w-]{16,}`, "g"),
  new RegExp(`(_(?<=${KEY_BEGIN}(?:${PLAIN_BEGINNINGS.join("|")})))${HAS_DIGIT}[A-Za-z0-9]{16,}`, "g"),
  // Amazon, Google.
  new RegExp(String.raw`(A(?:[KS]IA(?=[A-Z0-9]{16})|Iza)(?<=${KEY_BEGIN}A\w{3}))[\w-]{16,}`, "g"),
  new RegExp(String.raw`((?:[Bb]earer|[Bb]asic)[ \t]{1,4})${HAS_DIGIT}${VALUE}{8,}`, "g"),
  PRIVATE_KEY,
  PASSWORD_IN_ADDRESS,
  new RegExp(
    `((?:[Kk][Ee][Yy]|[Tt][Oo][Kk][Ee][Nn]|[Ss][Ee][Cc][Rr][Ee][Tt]|[Pp][Aa][Ss][Ss][Ww](?:[Oo][Rr])?[Dd])` +
      String.raw`${ASSIGNED})(?:${PASSWORD}|${HAS_DIGIT}${HAS_LETTER}[\w~+/=-]{12,})`,
    "g",
  ),
];

/**
 * A JSON web token may stand behind a dash, and hold dashes and more `eyJ`. So what only begins like one is matched to its end
 * as well, and left as it is: it would be followed to that end again from each `eyJ` in it.
 */
const WEB_TOKEN = new RegExp(String.raw`eyJ(?<=${KEY_BEGIN}eyJ)[\w-]{10,}(\.[\w-]{10,}\.[\w-]{5,})?`, "g");

export function hideWebTokens(text: string, shown: string): string {
  return text.replace(WEB_TOKEN, (found: string, rest: string | undefined) => (rest === undefined ? found : shown));
}

/** What stands behind `token = ` and has a bracket behind it is a call: `readToken2024(input)`. */
function isCall(kept: string, next: string | undefined): boolean {
  return next === "(" && /[:=][ \t]*$/.test(kept);
}

/** Words of session files and frames. A variable like `SORT_KEY=timestamp` must not cost them their structure. */
export const FILE_WORDS: ReadonlySet<string> = new Set(
  (
    "arguments assistant bashExecution branchSummary branch_summary cacheRead cacheWrite compaction compactionSummary " +
    "content customType custom_message errorMessage exitCode firstKeptEntryId label message mimeType model_change modelId " +
    "parentId parentSession provider session_info stopReason systemPrompt targetId thinking thinkingLevel " +
    "thinkingSignature thinking_level_change timestamp tokensBefore toolCall toolCallId toolName toolResult totalTokens"
  ).split(" "),
);

export function createRedactor({ secrets = [], home, patterns = [] }: RedactorOptions): Redact {
  const known = secrets.filter((secret) => secret.trim().length >= SHORTEST_SECRET && !FILE_WORDS.has(secret.trim()));
  const spelled = alternatives(known.flatMap(spellings));
  const literal = spelled === undefined ? undefined : new RegExp(spelled, "g");
  const cut = inParts(known.flatMap(cutOff)).map((part) => new RegExp(part, "g"));
  const own = patterns.flatMap(patternSource);
  const shapes = [...SHAPES, ...(own.length === 0 ? [] : [new RegExp(`()(?:${own.join("|")})`, "g")])];
  const shorten = homeShortener(home);
  return (text) => {
    // Before the shapes, which end at a dot and would leave the rest of a token.
    let clean = hideWebTokens(withoutAny(literal ? text.replace(literal, REDACTED) : text, cut), `eyJ${REDACTED}`);
    for (const shape of shapes) {
      clean = clean.replace(shape, (found: string, kept: string, at: number, whole: string) =>
        isCall(kept, whole[at + found.length]) ? found : `${kept}${REDACTED}`,
      );
    }
    return shorten(clean);
  };
}

/** With fewer characters it would be a word; with more of them it is the secret, whatever follows. */
const SHORTEST_REST = 4;
const LONGEST_REST = 64;
/** So many are one also inside of a word, and if they are letters. */
const SURE_REST = 8;
/**
 * What stands before a secret and is none: `Bearer `, `key=`, `https://`, and the host of an address without a login. The same
 * stands in `spelled-secrets.ts` of the package `ai`, of which nothing is imported here.
 */
const LEAD =
  /^(?:[A-Za-z]+ |[A-Za-z_.-]{1,32}=(?=[^=])|\w+:\/\/(?:(?:localhost|[\w-]+(?:\.[\w-]+)+)(?::\d{1,5})?(?:\/(?![\s\S]*@)|$))?)/;

/** The beginning of a secret before the dots by which tools say that they have cut a text, in each of its spellings. */
function cutOff(secret: string): string[] {
  const text = secret.trim();
  const lead = LEAD.exec(text)?.[0] ?? "";
  const letters = /^[A-Za-z]*/.exec(text.slice(lead.length))?.[0].length ?? 0;
  const sure = [...lead].length + SURE_REST;
  const least = [...lead].length + Math.min(Math.max(SHORTEST_REST, letters + 1), SURE_REST);
  const plain = [...text];
  const inJson = plain.map(asJson);
  return [...new Set([plain, inJson, inJson.map(asJson)].map((spelled) => beginning(spelled, least, sure)))];
}

/** As one pattern of all of them would do it: what begins first is taken, and what begins inside of it is a part of it. */
function withoutAny(text: string, patterns: readonly RegExp[]): string {
  const found = patterns.flatMap((pattern) =>
    Array.from(text.matchAll(pattern), (match) => ({ from: match.index, to: match.index + match[0].length })),
  );
  if (found.length === 0) return text;
  let clean = "";
  let at = 0;
  for (const { from, to } of found.sort((one, other) => one.from - other.from)) {
    if (from >= at) clean += text.slice(at, from) + REDACTED;
    at = Math.max(at, to);
  }
  return clean + text.slice(at);
}

/** The engine goes through a text many times slower with a pattern that is longer than it cares to make quick. */
const LONGEST_PATTERN = 8 * 1024;

function inParts(patterns: readonly string[]): string[] {
  const parts: string[] = [];
  for (const pattern of patterns) {
    const last = parts.at(-1);
    if (last === undefined || last.length + pattern.length > LONGEST_PATTERN) parts.push(pattern);
    else parts[parts.length - 1] = `${last}|${pattern}`;
  }
  return parts;
}

/** One spelling at a time: mixed ones could be found in a row of backslashes in too many ways. */
function beginning(spelled: readonly string[], least: number, sure: number): string {
  const characters = spelled.map(quoted);
  const longest = sure + LONGEST_REST;
  const head = characters.slice(0, least).join("");
  const middle = characters.slice(least, sure);
  const end = characters.length > longest ? `${VALUE}{0,4096}?` : "";
  const much = middle.join("") + asFarAsItGoes(characters.slice(sure, longest), end);
  const little = `(?<=${KEY_BEGIN}${head})${asFarAsItGoes(middle, "")}`;
  return String.raw`${head}(?:${much}|${little})(?=…|\.{3})`;
}

function asFarAsItGoes(characters: readonly string[], end: string): string {
  return characters.reduceRight((more, character) => `(?:${character}${more})?`, end);
}

/** As it is, as it stands in JSON, and in JSON that is a text in JSON: what a tool has printed. */
export function spellings(text: string): string[] {
  return [...new Set([text, asJson(text), asJson(asJson(text))])];
}

function asJson(text: string): string {
  return JSON.stringify(text).slice(1, -1);
}

/** Longest first, so that no part of a secret is left beside a shorter one. */
export function alternatives(texts: readonly string[]): string | undefined {
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
  if (after.length === 0) return pattern === "" ? [] : spellingsInTexts(pattern).map(quoted);
  // Without anything that is the same in all of them it would be every word.
  if (before + rest === "") return [];
  const run = rest === "" ? `${VALUE}+` : `${VALUE}{1,${LONGEST_RUN}}`;
  return spellingsInTexts(before).flatMap((left) =>
    spellingsInTexts(rest).map((right) => quoted(left) + run + quoted(right)),
  );
}

/** A quote as it is would be one of those around the texts of the JSON, which has to stay JSON. */
function spellingsInTexts(text: string): string[] {
  return text.includes('"') ? spellings(text).slice(1) : spellings(text);
}

/** `/home/me/app` becomes `~/app`, and the name of the folder that its sessions lie in, `--home-me-app--`, `--~-app--`. */
function homeShortener(home: string | undefined): Redact {
  const trimmed = home?.replace(/[/\\]+$/, "") ?? "";
  // A root folder is nobody's home.
  if (!/[/\\][^/\\]/.test(trimmed)) return (text) => text;
  const isWindows = /^[A-Za-z]:/.test(trimmed);
  // Programs of Windows take both slashes, and letters of either size.
  const ways = isWindows ? [trimmed, trimmed.replaceAll("\\", "/")] : [trimmed];
  const path = new RegExp(`(?:${alternatives(ways.flatMap(spellings))})(?![\\w-])(?!\\.\\w)`, isWindows ? "gi" : "g");
  /** Looked at behind the match: a pattern that begins with a text is found several times faster. */
  const short = (found: string, at: number, text: string): string => (/[\w.-]/.test(text[at - 1] ?? "") ? found : "~");
  const folder = `--${trimmed.replace(/^[/\\]/, "").replace(/[/\\:]/g, "-")}-`;
  return (text) => {
    const shown = text.replace(path, short);
    return shown.includes(folder) ? shown.replaceAll(folder, "--~-") : shown;
  };
}
