/** Finds the place of a thing in a text of JSON, for messages. Only called when there is something to complain about. */

type KeyPath = readonly (string | number)[];

export interface Place {
  line: number;
  column: number;
}

/** Both counted from 1. */
export function placeOfOffset(text: string, offset: number): Place {
  const lines = text.slice(0, offset).split(/\r\n|\r|\n/);
  return { line: lines.length, column: (lines.at(-1)?.length ?? 0) + 1 };
}

/**
 * Where the thing at this path begins: its key, or the item itself in a list. What is not there has the place of the
 * innermost thing that is. The text must be JSON without comments and trailing commas.
 */
export function offsetOfPath(text: string, path: KeyPath): number {
  let value = skipSpace(text, 0);
  let found = value;
  for (const key of path) {
    const member = memberAt(text, value, key);
    if (!member) return found;
    found = member.start;
    value = member.value;
  }
  return found;
}

interface Member {
  /** Of the key, or of the item. */
  start: number;
  value: number;
}

/** The member of the object or list that opens at `open`. Of keys that occur twice the last one counts, as for the parser. */
function memberAt(text: string, open: number, wanted: string | number): Member | undefined {
  const isObject = text[open] === "{";
  if (!isObject && text[open] !== "[") return undefined;
  const key = JSON.stringify(wanted);
  let found: Member | undefined;
  let at = skipSpace(text, open + 1);
  for (let index = 0; at < text.length && text[at] !== "}" && text[at] !== "]"; index++) {
    const start = at;
    const end = isObject ? stringEnd(text, at) : at;
    if (isObject) at = skipSpace(text, skipSpace(text, end) + 1);
    const isWanted = isObject ? text.slice(start, end) === key : index === wanted;
    if (isWanted) found = { start, value: at };
    at = skipSpace(text, valueEnd(text, at));
    if (text[at] === ",") at = skipSpace(text, at + 1);
  }
  return found;
}

function skipSpace(text: string, from: number): number {
  let at = from;
  while (at < text.length && " \t\r\n".includes(text[at]!)) at++;
  return at;
}

/** Past the value that begins at `from`. Brackets are counted, so that depth is no danger. */
function valueEnd(text: string, from: number): number {
  let at = from;
  let depth = 0;
  do {
    const c = text[at] ?? "";
    if (c === '"') at = stringEnd(text, at);
    else if (depth > 0 || /[{[]/.test(c)) {
      if (c === "{" || c === "[") depth++;
      if (c === "}" || c === "]") depth--;
      at++;
    } else while (at < text.length && !/[\s,\]}]/.test(text[at]!)) at++;
  } while (depth > 0 && at < text.length);
  return at;
}

/** Past the string that opens at `i`, or past the end when it is never closed. */
export function stringEnd(text: string, i: number): number {
  let end = i + 1;
  while (end < text.length && text[end] !== '"') end += text[end] === "\\" ? 2 : 1;
  return Math.min(end + 1, text.length);
}
