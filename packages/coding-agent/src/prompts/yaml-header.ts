import { isMap, isScalar, LineCounter, parseDocument } from "yaml";

/** Loaded only for front matter that is more than `key: value` lines. */

/** The lines between the dashes, as keys and values with their lines in the header (from 1). */
export interface Header {
  values: ReadonlyMap<string, unknown>;
  lines: ReadonlyMap<string, number>;
}

/** In words; the reader's own texts quote the file over several lines. */
const REASONS: Readonly<Record<string, string>> = {
  BLOCK_AS_IMPLICIT_KEY: "a value with a colon in it needs quotes",
  MULTILINE_IMPLICIT_KEY: "a line of the front matter is no key with a value",
  MISSING_CHAR: "a quote or a bracket is not closed, or a colon is missing",
  BAD_INDENT: "a line is not indented as the lines around it are",
  TAB_AS_INDENT: "a line is indented with a tab; use spaces",
  DUPLICATE_KEY: "a key occurs twice",
};

export function readYamlHeader(header: string): Header | { line: number; reason: string } {
  const deep = tooDeep(header);
  if (deep !== undefined) return { line: deep, reason: "the front matter is too long or nested too deeply" };
  const counter = new LineCounter();
  const lineAt = (offset: number): number => counter.linePos(offset).line;
  try {
    const document = parseDocument(header, { lineCounter: counter, prettyErrors: false, logLevel: "error" });
    const [mistake] = document.errors;
    if (mistake) {
      const reason = REASONS[mistake.code] ?? `not valid YAML (${mistake.code.toLowerCase().replaceAll("_", " ")})`;
      return { line: lineAt(mistake.pos[0]), reason };
    }
    const { contents } = document;
    if (contents === null) return { values: new Map(), lines: new Map() };
    if (!isMap(contents)) return { line: 1, reason: "the front matter is no list of keys with values" };
    const content: unknown = document.toJS();
    const lines = new Map<string, number>();
    for (const { key } of contents.items) {
      if (isScalar(key)) lines.set(String(key.value), lineAt(key.range?.[0] ?? 0));
    }
    return { values: new Map(Object.entries(content as object)), lines };
  } catch {
    // Aliases that grow without end, or that point nowhere.
    return { line: 1, reason: "the front matter cannot be read" };
  }
}

const MAX_LENGTH = 64 * 1024;
const MAX_BRACKETS = 64;
const MAX_INDENT = 200;

/**
 * The line where it gets too deep. The reader goes down one call per level and counts on an exception when the stack is
 * full, but the engine may as well end the process then: no file of a project may do that.
 */
function tooDeep(header: string): number | undefined {
  if (header.length > MAX_LENGTH) return 1;
  let brackets = 0;
  for (const [index, line] of header.split("\n").entries()) {
    const lead = /^(?:[ \t]|[-?:](?=\s))*/.exec(line)?.[0] ?? "";
    if (lead.length > MAX_INDENT) return index + 1;
    for (const char of line) {
      if (char === "[" || char === "{") brackets++;
      if (char === "]" || char === "}") brackets--;
      if (brackets > MAX_BRACKETS) return index + 1;
    }
  }
  return undefined;
}
