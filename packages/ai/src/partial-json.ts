/**
 * Reads as much of a JSON text as has arrived. Used to show the arguments of a tool call while they stream; the last
 * word is always a strict `JSON.parse`. Whatever cannot be read yet is left out.
 */

interface Cursor {
  readonly text: string;
  at: number;
  /** Set when the text ended or went wrong: everything that is open returns what it has. */
  stopped: boolean;
}

const MISSING = Symbol("missing");
const MAX_DEPTH = 100;
const SCALAR = /-?\d+(?:\.\d+)?(?:[eE][+-]?\d+)?|true|false|null/y;

/** The object so far; `{}` when the text does not begin with one. */
export function parsePartialObject(text: string): Record<string, unknown> {
  const cursor: Cursor = { text, at: 0, stopped: false };
  skipSpace(cursor);
  return cursor.text[cursor.at] === "{" ? readObject(cursor, 0) : {};
}

function skipSpace(cursor: Cursor): void {
  const { text } = cursor;
  while (cursor.at < text.length && " \n\r\t".includes(text[cursor.at] ?? "")) cursor.at++;
}

function readValue(cursor: Cursor, depth: number): unknown {
  skipSpace(cursor);
  const first = cursor.text[cursor.at];
  if (depth > MAX_DEPTH || first === undefined) return stop(cursor);
  if (first === "{") return readObject(cursor, depth);
  if (first === "[") return readArray(cursor, depth);
  if (first === '"') return readString(cursor);
  return readScalar(cursor);
}

function readObject(cursor: Cursor, depth: number): Record<string, unknown> {
  const object: Record<string, unknown> = {};
  cursor.at++;
  while (!cursor.stopped) {
    skipSpace(cursor);
    if (taken(cursor, "}")) break;
    if (cursor.text[cursor.at] !== '"') {
      stop(cursor);
      break;
    }
    const key = readString(cursor);
    skipSpace(cursor);
    if (cursor.stopped || !taken(cursor, ":")) {
      stop(cursor);
      break;
    }
    const value = readValue(cursor, depth + 1);
    if (value !== MISSING) put(object, key, value);
    if (!nextItem(cursor, "}")) break;
  }
  return object;
}

/** As JSON.parse does: `__proto__` is a key like any other. */
function put(object: Record<string, unknown>, key: string, value: unknown): void {
  if (key !== "__proto__") object[key] = value;
  else Object.defineProperty(object, key, { value, enumerable: true, configurable: true, writable: true });
}

function readArray(cursor: Cursor, depth: number): unknown[] {
  const array: unknown[] = [];
  cursor.at++;
  while (!cursor.stopped) {
    skipSpace(cursor);
    if (taken(cursor, "]")) break;
    const value = readValue(cursor, depth + 1);
    if (value !== MISSING) array.push(value);
    if (!nextItem(cursor, "]")) break;
  }
  return array;
}

/** Steps over the comma; false at the end of the container or of the text. */
function nextItem(cursor: Cursor, closer: string): boolean {
  if (cursor.stopped) return false;
  skipSpace(cursor);
  if (taken(cursor, closer)) return false;
  if (taken(cursor, ",")) return true;
  stop(cursor);
  return false;
}

function readString(cursor: Cursor): string {
  const { text } = cursor;
  const start = cursor.at;
  let end = start + 1;
  while (end < text.length && text[end] !== '"') end += text[end] === "\\" ? 2 : 1;
  if (end < text.length) {
    cursor.at = end + 1;
    return unquote(text.slice(start, end + 1)) ?? "";
  }
  stop(cursor);
  // A cut inside an escape (`\`, `\u12`) loses the escape, nothing else.
  const whole = text
    .slice(start)
    .replace(/\\(?:u[0-9a-fA-F]{0,3})?$/, (cut, at: number) => (isEscaped(text, start + at) ? cut : ""));
  return unquote(`${whole}"`) ?? "";
}

/** Is the backslash at `at` itself escaped by an odd run of backslashes before it? */
function isEscaped(text: string, at: number): boolean {
  let before = at;
  while (text[before - 1] === "\\") before--;
  return (at - before) % 2 === 1;
}

function unquote(json: string): string | undefined {
  try {
    return JSON.parse(json) as string;
  } catch {
    return undefined;
  }
}

function readScalar(cursor: Cursor): unknown {
  SCALAR.lastIndex = cursor.at;
  const found = SCALAR.exec(cursor.text);
  if (!found) return stop(cursor);
  cursor.at = SCALAR.lastIndex;
  return JSON.parse(found[0]);
}

function taken(cursor: Cursor, char: string): boolean {
  if (cursor.text[cursor.at] !== char) return false;
  cursor.at++;
  return true;
}

function stop(cursor: Cursor): typeof MISSING {
  cursor.stopped = true;
  return MISSING;
}
