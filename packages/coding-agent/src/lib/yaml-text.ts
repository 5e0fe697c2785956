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
  const found = mistake ? { code: mistake.code, offset: mistake.pos[0] } : unwanted(document);
  if (found) {
    const { line, col } = lines.linePos(found.offset);
    return { code: found.code, line, column: col };
  }
  const content = contentOf(document);
  return "code" in content ? { ...content, line: 1, column: 1 } : { ...content, document, lines };
}

/** Aliases that point nowhere or, one in another, would become thousands are refused by the reader; those that go round in a circle here. */
function contentOf(document: Document): { value: unknown } | { code: string } {
  try {
    const value: unknown = document.toJS();
    JSON.stringify(value);
    return { value };
  } catch (error) {
    if (!(error instanceof ReferenceError)) return { code: "ENDLESS_ALIAS" };
    return { code: error.message.startsWith("Excessive") ? "TOO_MANY_ALIASES" : "UNRESOLVED_ALIAS" };
  }
}

/** The reader looks through the whole text for what each stands for. */
const MOST_ALIASES = 100;

/** The first key that stands there twice, or the first alias too many. */
function unwanted(document: Document): { code: string; offset: number } | undefined {
  let found: { code: string; offset: number } | undefined;
  let aliases = 0;
  visit(document, {
    Alias(_, { range }) {
      aliases += 1;
      if (aliases <= MOST_ALIASES) return undefined;
      found = { code: "TOO_MANY_ALIASES", offset: range?.[0] ?? 0 };
      return visit.BREAK;
    },
    Map(_, { items }) {
      const seen = new Set<unknown>();
      for (const { key } of items) {
        if (!isScalar(key) || key.value === "<<") continue;
        if (seen.has(key.value)) {
          found = { code: "DUPLICATE_KEY", offset: key.range?.[0] ?? 0 };
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
