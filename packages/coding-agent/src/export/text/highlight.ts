import { type Language, languageOf } from "./languages.ts";

/** Code as pieces with a colour. One pass, never back: a text of any length and shape takes time with its length. Pure. */

export type TokenKind =
  | "plain"
  | "comment"
  | "string"
  | "number"
  | "keyword"
  | "constant"
  | "type"
  | "call"
  | "key"
  | "variable"
  | "tag";

export interface Token {
  kind: TokenKind;
  text: string;
}

const NUMBER = /(?:0[xXbBoO][\da-fA-F_]+|\d[\d_]*(?:\.\d[\d_]*)?(?:[eE][+-]?\d+)?)[a-zA-Z%]{0,8}/y;
const NAME = /[\p{L}_][\p{L}\p{N}_]*/uy;
const VARIABLE = /\$(?:\{[^}\n]{0,200}\}|[\w@#?*!-])\w*/y;
const SPACE = /\s+/y;
const TAG = /<[/!?]?[\p{L}_][\w.:-]*|\/?>/uy;

/** Tokens of `code`, one after the other without a gap. A language that is not known gives one plain piece. */
export function* highlight(code: string, languageName: string): Generator<Token> {
  const language = languageOf(languageName);
  if (!language) {
    if (code !== "") yield { kind: "plain", text: code };
    return;
  }
  const name = language.nameChars ? nameWith(language.nameChars) : NAME;
  let plain = "";
  for (let at = 0; at < code.length; ) {
    const token = tokenAt(code, at, language, name);
    at += token.text.length;
    if (token.kind === "plain") {
      plain += token.text;
      continue;
    }
    if (plain !== "") yield { kind: "plain", text: plain };
    plain = "";
    yield token;
  }
  if (plain !== "") yield { kind: "plain", text: plain };
}

const nameWith = (extra: string): RegExp => {
  const chars = extra.replace(/[-\]\\^]/g, "\\$&");
  return new RegExp(`[\\p{L}_${chars}][\\p{L}\\p{N}_${chars}]*`, "uy");
};

function tokenAt(code: string, at: number, language: Language, name: RegExp): Token {
  return (
    match(SPACE, code, at, "plain") ??
    commentAt(code, at, language) ??
    (language.markup ? match(TAG, code, at, "tag") : undefined) ??
    stringAt(code, at, language) ??
    (language.dollar ? match(VARIABLE, code, at, "variable") : undefined) ??
    match(NUMBER, code, at, "number") ??
    nameAt(code, at, language, name) ?? { kind: "plain", text: String.fromCodePoint(code.codePointAt(at) ?? 0) }
  );
}

function match(pattern: RegExp, code: string, at: number, kind: TokenKind): Token | undefined {
  pattern.lastIndex = at;
  const found = pattern.exec(code);
  return found ? { kind, text: found[0] } : undefined;
}

function commentAt(code: string, at: number, language: Language): Token | undefined {
  for (const open of language.line ?? []) {
    // In a shell `a#b` is a word.
    if (!code.startsWith(open, at) || (open === "#" && at > 0 && !/[\s;]/.test(code[at - 1] as string))) continue;
    return { kind: "comment", text: code.slice(at, endOf(code, "\n", at, 0)) };
  }
  for (const [open, close] of language.block ?? []) {
    if (code.startsWith(open, at)) {
      return { kind: "comment", text: code.slice(at, endOf(code, close, at + open.length, close.length)) };
    }
  }
  return undefined;
}

function endOf(code: string, close: string, from: number, length: number): number {
  const found = code.indexOf(close, from);
  return found < 0 ? code.length : found + length;
}

function stringAt(code: string, at: number, language: Language): Token | undefined {
  const quote = language.strings?.find((open) => code.startsWith(open, at));
  if (quote === undefined) return undefined;
  // Within markup, and behind a letter, an apostrophe is only that.
  if (quote === "'" && at > 0 && /[\p{L}\d]/u.test(code[at - 1] as string)) return undefined;
  const end = stringEnd(code, at + quote.length, quote, language.multi?.includes(quote) ?? false);
  const text = code.slice(at, end);
  return { kind: isKey(code, end, language) ? "key" : "string", text };
}

/** One that is not closed ends with its line, or with the code. */
function stringEnd(code: string, from: number, quote: string, isMulti: boolean): number {
  for (let at = from; at < code.length; at += 1) {
    if (code[at] === "\\") at += 1;
    else if (code.startsWith(quote, at)) return at + quote.length;
    else if (code[at] === "\n" && !isMulti) return at;
  }
  return code.length;
}

function nameAt(code: string, at: number, language: Language, pattern: RegExp): Token | undefined {
  const found = match(pattern, code, at, "plain");
  if (!found) return undefined;
  const { text } = found;
  const word = language.ignoreCase ? text.toLowerCase() : text;
  const end = at + text.length;
  if (language.keywords?.has(word)) return { kind: "keyword", text };
  if (language.constants?.has(word)) return { kind: "constant", text };
  if (isKey(code, end, language)) return { kind: "key", text };
  if (code[end] === "(") return { kind: "call", text };
  if (language.types && /^\p{Lu}/u.test(text) && /\p{Ll}/u.test(text)) return { kind: "type", text };
  return found;
}

function isKey(code: string, end: number, language: Language): boolean {
  if (language.keyBefore === undefined) return false;
  let at = end;
  while (code[at] === " ") at += 1;
  return code[at] === language.keyBefore;
}
