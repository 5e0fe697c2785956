/**
 * Finds secrets in a text that somebody else wrote, as they are or as they stand in an address, a page or JSON. Pure. The work
 * is linear in the length of the text.
 */

export const HIDDEN = "[hidden]";

/** So much of a secret, and it is one: less than this would be a word. */
const SHORTEST_BEGINNING = 8;
/** What stands before a secret and is none: `Bearer `, `key=`, `https://`, and the host of an address without a login. */
const LEAD =
  /^(?:[A-Za-z]+ |[A-Za-z_.-]{1,32}=(?=[^=])|\w+:\/\/(?:(?:localhost|[\w-]+(?:\.[\w-]+)+)(?::\d{1,5})?(?:\/(?![\s\S]*@)|$))?)/;
/** A shorter one may well begin as a word does. */
const SHORTEST_CUT = 16;
/** Before a sign that a text was cut so much of any of them is one: there is hardly a word to take it for. */
const SHORTEST_REST = 4;
/** We say so, and others do it with dots. */
const CUT_MARK = String.raw`(?=…|\.{3})`;
/** What may be left there of a character that is written in another way. */
const HALF = String.raw`(?:[%&][\w#;%]{0,12}|\\{1,8}\w{0,4})?`;

/** A secret, a pattern for each of its characters. */
interface Spelled {
  readonly characters: readonly string[];
  /** How many of them must be there. */
  readonly least: number;
}

/** The text without the secrets. Longest first, so that no part of a secret is left beside a shorter one. */
export function withoutSecrets(text: string, secrets: readonly string[]): string {
  return withHidden(text, secrets, (_, characters) => characters);
}

/**
 * Also without what begins like one and breaks off: errors are cut by those who pass them on, by servers, and where we stop
 * reading, and a cut key is still most of a key.
 */
export function withoutCutSecrets(text: string, secrets: readonly string[]): string {
  const whole = withoutSecrets(text, secrets);
  const long = secrets.filter((secret) => secret.length >= SHORTEST_CUT);
  const clean = withHidden(whole, long, (secret, characters) =>
    Math.min(characters, leadOf(secret) + SHORTEST_BEGINNING),
  );
  return withoutRests(clean, secrets);
}

/**
 * Before a mark fewer characters are enough; where more of them stand there, they are hidden by now. Every text has an end, most
 * of them with a word or a number: `must be one of 2023` has nothing of the value `2023-06-01`.
 */
function withoutRests(text: string, secrets: readonly string[]): string {
  if (secrets.length === 0) return text;
  const beforeMark = new RegExp(restsOf(secrets, SHORTEST_REST) + CUT_MARK, "g");
  const atEnd = new RegExp(`${restsOf(secrets, SHORTEST_BEGINNING)}$`);
  return text.replace(beforeMark, HIDDEN).replace(atEnd, HIDDEN);
}

/** So many characters of one of them, and what follows of it. */
function restsOf(secrets: readonly string[], count: number): string {
  const rests = secrets.map((secret) => {
    const least = leadOf(secret) + count;
    const characters = charactersOf(secret).slice(0, leadOf(secret) + SHORTEST_CUT);
    const more = characters.slice(least).reduceRight((rest, character) => `(?:${character}${rest})?`, "");
    return characters.slice(0, least).join("") + more;
  });
  return `(?:${rests.join("|")})${HALF}`;
}

function leadOf(secret: string): number {
  return LEAD.exec(secret)?.[0].length ?? 0;
}

function charactersOf(secret: string): string[] {
  return (secret.match(/\\+|[^\\]/gsu) ?? []).map(spellingsOf);
}

function withHidden(
  text: string,
  secrets: readonly string[],
  least: (secret: string, characters: number) => number,
): string {
  const spelled = secrets
    .map((secret): Spelled => {
      const characters = charactersOf(secret);
      return { characters, least: least(secret, characters.length) };
    })
    .filter((one) => one.characters.length >= one.least);
  if (spelled.length === 0) return text;
  const begin = new RegExp(spelled.map((one) => one.characters.slice(0, one.least).join("")).join("|"), "g");
  let clean = "";
  let from = 0;
  for (let found = begin.exec(text); found; found = begin.exec(text)) {
    const at = found.index;
    const end = Math.max(begin.lastIndex, ...spelled.map(({ characters }) => endOf(characters, text, at)));
    clean += text.slice(from, at) + HIDDEN;
    from = end;
    begin.lastIndex = end;
  }
  return clean + text.slice(from);
}

/** How far the text goes on like the secret. */
function endOf(characters: readonly string[], text: string, start: number): number {
  let at = start;
  for (const character of characters) {
    const pattern = stickyPattern(character);
    pattern.lastIndex = at;
    if (!pattern.test(text)) return at;
    at = pattern.lastIndex;
  }
  return at;
}

/** There are as many as there are characters that keys are made of. */
const patterns = new Map<string, RegExp>();

function stickyPattern(source: string): RegExp {
  const pattern = patterns.get(source) ?? new RegExp(source, "y");
  patterns.set(source, pattern);
  return pattern;
}

/** What pages call the signs that are found in keys. */
const ENTITIES: Readonly<Record<string, string>> = {
  "!": "excl",
  '"': "quot",
  "#": "num",
  $: "dollar",
  "%": "percnt",
  "&": "amp",
  "'": "apos",
  "*": "ast",
  "+": "plus",
  ",": "comma",
  ".": "period",
  "/": "sol",
  ":": "colon",
  ";": "semi",
  "<": "lt",
  "=": "equals",
  ">": "gt",
  "?": "quest",
  "@": "commat",
  _: "lowbar",
};
const JSON_ESCAPES: Readonly<Record<string, string>> = { "\n": "n", "\r": "r", "\t": "t", '"': '"', "/": "\\/" };

/**
 * All ways to write a character; itself last, because it may be the beginning of another. Backslashes in a row are one: each of
 * them for itself could be found in too many ways.
 */
function spellingsOf(character: string): string {
  if (character.startsWith("\\")) {
    const count = character.length;
    return String.raw`(?:\\{${count},${8 * count}}|(?:%(?:25){0,2}5[cC]|&(?:amp;)?#(?:0{0,6}92|[xX]0{0,6}5[cC]);?){${count}})`;
  }
  if (/[A-Za-z0-9]/.test(character)) return character;
  const code = character.codePointAt(0) ?? 0;
  const hex = anyCase(code.toString(16));
  const bytes = [...Buffer.from(character, "utf8")].map((byte) => anyCase(byte.toString(16).padStart(2, "0")));
  const entity = ENTITIES[character];
  const escaped = JSON_ESCAPES[character];
  const ways = [
    bytes.map((byte) => `%(?:25){0,2}${byte}`).join(""),
    `&(?:amp;)?#(?:0{0,6}${code}|[xX]0{0,6}${hex});?`,
    ...(entity === undefined ? [] : [`&(?:amp;)?${entity};`]),
    ...(code > 0xffff ? [] : [String.raw`\\{1,8}u${anyCase(code.toString(16).padStart(4, "0"))}`]),
    ...(escaped === undefined ? [] : [String.raw`\\{1,8}${escaped}`]),
    ...(character === " " ? [String.raw`\+`] : []),
    character.replace(/[$()*+./?[\]^{|}-]/, String.raw`\$&`),
  ];
  return `(?:${ways.join("|")})`;
}

function anyCase(hex: string): string {
  return hex.replace(/[a-f]/g, (letter) => `[${letter}${letter.toUpperCase()}]`);
}
