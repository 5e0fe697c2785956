import { offsetOfPath, type Place, placeOfOffset, stringEnd } from "./json-place.ts";

/** JSON with `//` and block comments and trailing commas, as people write configuration. Pure text work. */

/**
 * Blanks comments and trailing commas out with spaces, so that every other character keeps its place and the lines their
 * numbers. Strings are left alone. A block comment without an end is left as it stands: the parser then points at it.
 */
export function stripJsonComments(text: string): string {
  let out = "";
  let kept = 0;
  let comma = -1;
  const blank = (from: number, to: number): void => {
    out += text.slice(kept, from) + text.slice(from, to).replace(/[^\r\n]/g, " ");
    kept = to;
  };
  // A comma is known to be trailing only at the bracket after it; comments in between are noted until then.
  let waiting: [number, number][] = [];
  const settle = (trailing: boolean): void => {
    if (trailing && comma >= 0) blank(comma, comma + 1);
    for (const [from, to] of waiting) blank(from, to);
    waiting = [];
    comma = -1;
  };
  for (let i = 0; i < text.length; ) {
    const end = commentEnd(text, i);
    if (end > i) {
      waiting.push([i, end]);
      i = end;
      continue;
    }
    const c = text[i]!;
    if (c === '"') {
      settle(false);
      i = stringEnd(text, i);
      continue;
    }
    if (!/\s/.test(c)) {
      settle(c === "}" || c === "]");
      if (c === ",") comma = i;
    }
    i++;
  }
  settle(false);
  return out + text.slice(kept);
}

/** Where the comment that starts at `i` ends; `i` itself when none starts there. */
function commentEnd(text: string, i: number): number {
  if (text[i] !== "/") return i;
  if (text[i + 1] === "/") {
    let end = i;
    while (end < text.length && text[end] !== "\n" && text[end] !== "\r") end++;
    return end;
  }
  if (text[i + 1] !== "*") return i;
  const close = text.indexOf("*/", i + 2);
  return close < 0 ? i : close + 2;
}

export interface JsonMistake {
  offset: number;
  reason: string;
}

const SPACE = /[ \t\r\n]*/y;
const SCALAR = /-?(?:0|[1-9]\d*)(?:\.\d+)?(?:[eE][+-]?\d+)?|true|false|null/y;

/**
 * Finds the first place where a text stops being JSON. Engines word their errors differently, often without a position,
 * and quote the text around the mistake, which in a file of keys must not reach a log.
 */
export function findJsonMistake(text: string): JsonMistake | undefined {
  let at = 0;
  const eat = (pattern: RegExp): boolean => {
    pattern.lastIndex = at;
    const found = pattern.exec(text);
    if (found === null || (found[0] === "" && pattern !== SPACE)) return false;
    at += found[0].length;
    return true;
  };
  const next = (): string | undefined => {
    eat(SPACE);
    return text[at];
  };
  const expected = (what: string): JsonMistake => ({
    offset: at,
    reason: at >= text.length ? `the file ends where ${what} should stand` : `expected ${what}`,
  });
  const string = (what: string): JsonMistake | undefined => {
    if (next() !== '"') return expected(what);
    const end = stringEnd(text, at);
    if (!tryParse(text.slice(at, end)).ok) return { offset: at, reason: "this text is not closed or wrongly escaped" };
    at = end;
    return undefined;
  };

  /** The brackets that are open, innermost last: a stack instead of recursion, so that depth is no danger. */
  const open: ("}" | "]")[] = [];
  for (;;) {
    const c = next();
    if (c === "{" || c === "[") {
      at++;
      const close = c === "{" ? "}" : "]";
      if (next() === close) at++;
      else {
        open.push(close);
        const mistake = close === "}" ? key() : undefined;
        if (mistake) return mistake;
        continue;
      }
    } else if (c === '"') {
      const mistake = string("a value");
      if (mistake) return mistake;
    } else if (!eat(SCALAR)) return expected("a value");

    let after = next();
    while (open.length > 0 && after === open.at(-1)) {
      at++;
      open.pop();
      after = next();
    }
    if (open.length === 0) return after === undefined ? undefined : expected("the end of the file");
    if (after !== ",") return expected(`"," or "${open.at(-1)}"`);
    at++;
    if (open.at(-1) === "}") {
      const mistake = key();
      if (mistake) return mistake;
    }
  }

  function key(): JsonMistake | undefined {
    const mistake = string("a key in double quotes");
    if (mistake) return mistake;
    if (next() !== ":") return expected('":"');
    at++;
    return undefined;
  }
}

export type JsonText =
  | { ok: true; value: unknown; locate(path: readonly (string | number)[]): Place }
  | ({ ok: false; reason: string } & Place);

/** Blank text, also one of comments only, is an undefined value. */
export function parseJsonText(source: string): JsonText {
  const text = source.charCodeAt(0) === 0xfeff ? ` ${source.slice(1)}` : source;
  const whole = tryParse(text);
  if (whole.ok) return readText(text, whole.value);
  const plain = stripJsonComments(text);
  if (plain.trim() === "") return readText(plain, undefined);
  const parsed = tryParse(plain);
  if (parsed.ok) return readText(plain, parsed.value);
  const { offset, reason } = findJsonMistake(plain) ?? { offset: 0, reason: "not JSON" };
  return { ok: false, ...placeOfOffset(plain, offset), reason };
}

function readText(plain: string, value: unknown): JsonText {
  return { ok: true, value, locate: (path) => placeOfOffset(plain, offsetOfPath(plain, path)) };
}

function tryParse(text: string): { ok: true; value: unknown } | { ok: false } {
  try {
    return { ok: true, value: JSON.parse(text) };
  } catch {
    return { ok: false };
  }
}
