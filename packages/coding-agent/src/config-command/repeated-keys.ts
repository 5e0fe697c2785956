import { readTextFile } from "../config/json-file.ts";
import { placeOfOffset, stringEnd } from "../config/json-place.ts";
import { parseJsonText, stripJsonComments } from "../config/json-text.ts";
import type { SettingProblem } from "../config/settings-file.ts";

const MOST_NAMED = 20;

/** What stands twice in a file: the reader takes the last and says nothing, which only matters to who wonders about a value. */
export function repeatedKeys(path: string): SettingProblem[] {
  const { text } = readTextFile(path);
  if (text === undefined || !parseJsonText(text).ok) return [];
  const plain = stripJsonComments(text);
  const before = new Map<string, number>();
  const problems: SettingProblem[] = [];
  for (const { key, offset } of keysIn(plain)) {
    const first = before.get(key);
    before.set(key, offset);
    if (first === undefined) continue;
    // With the object goes all that it had.
    for (const inner of before.keys()) if (inner.startsWith(`${key}.`)) before.delete(inner);
    const place = placeOfOffset(plain, offset);
    const { line } = placeOfOffset(plain, first);
    const text = `${key} stands here again; what was said before, in line ${line}, does not count`;
    const message = `${path}:${place.line}:${place.column}: ${text}`;
    problems.push({ level: "warning", source: path, ...place, key, message });
    if (problems.length === MOST_NAMED) break;
  }
  return problems;
}

/** Every key of the objects in objects, dotted, in the order of the text. What is in lists has no key of its own. */
function* keysIn(text: string): Generator<{ key: string; offset: number }> {
  /** The keys of the objects that are open; undefined within a list. */
  const open: (string | undefined)[] = [];
  let outer: string | undefined = "";
  let last = "";
  for (let at = 0; at < text.length; at++) {
    const c = text[at]!;
    if (c === "{" || c === "[") {
      open.push(outer);
      outer = c === "{" && outer !== undefined ? last : undefined;
    } else if (c === "}" || c === "]") outer = open.pop();
    else if (c === '"') {
      const end = stringEnd(text, at);
      if (outer !== undefined && /^[ \t\r\n]*:/.test(text.slice(end, end + 100))) {
        const read = parseJsonText(text.slice(at, end));
        const name = read.ok ? String(read.value) : "";
        last = outer === "" ? name : `${outer}.${name}`;
        yield { key: last, offset: at };
      }
      at = end - 1;
    }
  }
}
