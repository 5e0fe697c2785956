import { readText } from "../lib/text-file.ts";
import { withoutEnding } from "../lib/without-ending.ts";
import type { Header } from "./yaml-header.ts";

/**
 * The front matter of Markdown files: lines of YAML between two `---`. Most of it is plain `key: value`, which is read
 * here; only the rest loads the YAML reader.
 */

export interface Markdown {
  hasFrontMatter: boolean;
  values: ReadonlyMap<string, unknown>;
  /** The line in the file where a key stands, from 1; of a missing key the first line. */
  lineOf(key: string): number;
  /** What follows the front matter; the whole text without one. */
  body: string;
  /** Keys whose values could not be read, because the front matter is not YAML. */
  lost?: ReadonlySet<string>;
  /** One sentence with file and line. The body can be used all the same, and so can every line that makes sense alone. */
  problem?: string;
}

interface Split {
  header?: string;
  body: string;
  /** There is a first `---` and no second one. */
  isOpen?: true;
}

const OPENING = /^---[ \t]*\r?\n/;

export function splitFrontMatter(text: string): Split {
  const clean = text.startsWith("\ufeff") ? text.slice(1) : text;
  const opening = OPENING.exec(clean);
  if (!opening) return { body: clean };
  const closing = /(?<=\n)---[ \t]*(?:\r?\n|\r?$)/g;
  closing.lastIndex = opening[0].length;
  const end = closing.exec(clean);
  if (!end) return { body: clean, isOpen: true };
  return { header: clean.slice(opening[0].length, end.index), body: clean.slice(closing.lastIndex) };
}

export async function readMarkdown(text: string, path: string): Promise<Markdown> {
  const { header: written, body, isOpen } = splitFrontMatter(text);
  if (written === undefined) {
    const problem = isOpen && `${path}:1: the front matter is never closed; put --- in a line of its own after it`;
    return { hasFrontMatter: false, values: new Map(), lineOf: () => 1, body, problem };
  }
  const header = written.replace(BRACKETED, '$1"$2"');
  const found = readSimpleHeader(header) ?? (await readFullHeader(header));
  const { values, lines } = "reason" in found ? readLineByLine(header) : found;
  const problem =
    "reason" in found
      ? `${path}:${found.line + 1}: ${found.reason}; only the lines of the front matter that make sense alone count`
      : undefined;
  const lost = problem === undefined ? undefined : new Set(keysIn(header).filter((key) => !values.has(key)));
  return { hasFrontMatter: true, values, lineOf: (key) => (lines.get(key) ?? 0) + 1, body, problem, lost };
}

/** Undefined, and a problem more, for a file that cannot be read. What is wrong with its front matter is left to the caller. */
export async function readMarkdownFile(path: string, problems: string[]): Promise<Markdown | undefined> {
  const read = readText(path);
  const told = "text" in read ? read.warning : read.problem;
  if (told !== undefined) problems.push(told);
  return "text" in read ? readMarkdown(read.text, path) : undefined;
}

function keysIn(header: string): string[] {
  return header.split(/\r?\n/).flatMap((line) => KEY_AND_VALUE.exec(line)?.[1] ?? []);
}

async function readFullHeader(header: string): Promise<Header | { line: number; reason: string }> {
  const { readYamlHeader } = await import("./yaml-header.ts");
  return readYamlHeader(header);
}

/** `argument-hint: [file] [more]` is how people write it, and no YAML: meant is the text. */
const BRACKETED = /^([A-Za-z_][\w-]*:[ \t]+)(\[[^[\]"\\\r\n]*\][ \t]*[[<][^"\\\r\n]*)(?=\r?$)/gm;

/** A value begins behind all of the spaces: no other way to part them is tried, however many there are. */
const KEY_AND_VALUE = /^([A-Za-z_][\w-]*):(?:[ \t]+(?![ \t])(.*))?$/;
/** Text that means itself in YAML: no quotes, brackets, anchors, numbers, comments or further keys. */
const PLAIN_TEXT = /^[A-Za-z](?:(?!: |:$| #)[\x20-\x7e\u00a0-\u167f\u2010-\u2027\u3001-\ud7ff])*$/;
const QUOTED = /^(?:"([^"\\\t]*)"|'([^'\t]*)')$/;
const WORDS: ReadonlyMap<string, boolean | null> = new Map([
  ...["true", "True", "TRUE"].map((word) => [word, true] as const),
  ...["false", "False", "FALSE"].map((word) => [word, false] as const),
  ...["", "null", "Null", "NULL"].map((word) => [word, null] as const),
]);

/** Undefined when it takes a YAML reader to understand it. */
export function readSimpleHeader(header: string): Header | undefined {
  const values = new Map<string, unknown>();
  const lines = new Map<string, number>();
  for (const [index, line] of header.split(/\r?\n/).entries()) {
    if (line === "" || line.startsWith("#")) continue;
    const [, key, rest = ""] = KEY_AND_VALUE.exec(line) ?? [];
    if (key === undefined || values.has(key) || WORDS.has(key)) return undefined;
    const value = simpleValue(withoutEnding(rest, " \t"));
    if (value === undefined) return undefined;
    values.set(key, value);
    lines.set(key, index + 1);
  }
  return { values, lines };
}

function simpleValue(text: string): string | boolean | null | undefined {
  const word = WORDS.get(text);
  if (word !== undefined) return word;
  const quoted = QUOTED.exec(text);
  if (quoted) return quoted[1] ?? quoted[2];
  return PLAIN_TEXT.test(text) ? text : undefined;
}

/** What is left of a header that is not YAML, mostly because of a colon in a description: text is taken as it stands. */
function readLineByLine(header: string): Header {
  const values = new Map<string, unknown>();
  const lines = new Map<string, number>();
  for (const [index, line] of header.split(/\r?\n/).entries()) {
    const [, key, rest = ""] = KEY_AND_VALUE.exec(line) ?? [];
    const text = rest.trim();
    if (key === undefined || values.has(key) || text === "" || /^[|>[{&*!]/.test(text)) continue;
    values.set(key, simpleValue(text) ?? text);
    lines.set(key, index + 1);
  }
  return { values, lines };
}

/** A value that shall be text; undefined for what is missing or empty, null for a list or an object. */
export function textOf(value: unknown): string | undefined | null {
  if (value === undefined || value === null) return undefined;
  if (typeof value === "object") return null;
  const text = String(value).trim();
  return text === "" ? undefined : text;
}
