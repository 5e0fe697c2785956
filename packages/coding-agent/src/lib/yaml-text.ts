import { type Document, isScalar, LineCounter, parseDocument, visit } from "yaml";

/** YAML that may be anybody's: whatever it says, reading it ends soon and throws nothing. Loaded only by who has some. */

export type ParsedYaml =
  /** `value` is a tree, and nothing in it leads back to what holds it. */
  | { value: unknown; document: Document; lines: LineCounter }
  /** `code` is the reader's, in capitals. */
  | { code: string; line: number; column: number };

/** What a text of a project may have at most: some of what the reader does takes the square of the length. */
export const MAX_YAML_LENGTH = 64 * 1024;

export function parseYaml(text: string, options: { merge?: boolean } = {}): ParsedYaml {
  const deep = tooDeep(text);
  if (deep !== undefined) return { code: "TOO_DEEP", line: deep, column: 1 };
  const lines = new LineCounter();
  // It compares each key with all others, and its warnings quote the file.
  const careful = { uniqueKeys: false, prettyErrors: false, logLevel: "error" } as const;
  const document = parseDocument(text, { ...options, ...careful, lineCounter: lines });
  const [mistake] = document.errors;
  const repeated = mistake ? undefined : repeatedKey(document);
  const offset = mistake?.pos[0] ?? repeated;
  if (offset !== undefined) {
    const { line, col } = lines.linePos(offset);
    return { code: mistake?.code ?? "DUPLICATE_KEY", line, column: col };
  }
  const content = contentOf(document);
  return "code" in content ? { ...content, line: 1, column: 1 } : { ...content, document, lines };
}

/** Aliases that point nowhere or would blow up to gigabytes are refused by the reader; those that go round in a circle here. */
function contentOf(document: Document): { value: unknown } | { code: string } {
  try {
    const value: unknown = document.toJS();
    JSON.stringify(value);
    return { value };
  } catch (error) {
    return { code: error instanceof ReferenceError ? "UNRESOLVED_ALIAS" : "ENDLESS_ALIAS" };
  }
}

/** Where the first one stands. */
function repeatedKey(document: Document): number | undefined {
  let found: number | undefined;
  visit(document, {
    Map(_, { items }) {
      const seen = new Set<unknown>();
      for (const { key } of items) {
        if (!isScalar(key) || key.value === "<<") continue;
        if (seen.has(key.value)) {
          found = key.range?.[0] ?? 0;
          return visit.BREAK;
        }
        seen.add(key.value);
      }
      return undefined;
    },
  });
  return found;
}

const MAX_BRACKETS = 64;
const MAX_INDENT = 200;

/**
 * The line where it gets too deep. The reader goes down one call per level and counts on an exception when the stack is
 * full, but the engine may as well end the process then: no file of a project may do that.
 */
function tooDeep(text: string): number | undefined {
  let brackets = 0;
  for (const [index, line] of text.split("\n").entries()) {
    const lead = /^(?:[ \t]|[-?:](?=\s))*/.exec(line)?.[0] ?? "";
    if (lead.length > MAX_INDENT) return index + 1;
    for (const char of line) {
      if (char === "[" || char === "{") brackets++;
      // More closed than open ones may stand in a comment.
      if ((char === "]" || char === "}") && brackets > 0) brackets--;
      if (brackets > MAX_BRACKETS) return index + 1;
    }
  }
  return undefined;
}
