import { isMap, isPair, isSeq, LineCounter, type Node, parseDocument } from "yaml";
import { type ReadFile, readTextFile } from "./json-file.ts";
import { isPlainObject } from "./setting-value.ts";

/** Loaded only when there is such a file: the YAML reader is larger than everything else at the start. */

/** Reads an object from a YAML file, like `readJsonFile` from JSON. */
export function readYamlFile(path: string, largest?: number): ReadFile {
  const read = readTextFile(path, largest);
  if (read.text === undefined) return read;
  const lines = new LineCounter();
  const document = parseDocument(read.text, { lineCounter: lines, prettyErrors: false, merge: true });
  const [mistake] = document.errors;
  if (mistake) {
    const { line, col } = lines.linePos(mistake.pos[0]);
    const reason = plainReason(mistake.code);
    const problem = `${path}:${line}:${col}: ${reason}; the file is ignored until it is valid YAML`;
    return { problem, place: { line, column: col }, text: read.text };
  }
  const value = contentOf(document);
  const refused = { place: { line: 1, column: 1 }, text: read.text };
  if ("problem" in value) return { ...refused, problem: `${path}:1:1: ${value.problem}; the file is ignored` };
  if (value.value === undefined || value.value === null) return {};
  if (!isPlainObject(value.value))
    return { ...refused, problem: `${path}:1:1: expected keys and values; the file is ignored` };
  return {
    object: value.value,
    locate(keys) {
      const { line, col } = lines.linePos(offsetOf(document.contents, keys));
      return { line, column: col };
    },
  };
}

/** Aliases that would blow up to gigabytes are refused by the reader, with an exception. */
function contentOf(document: ReturnType<typeof parseDocument>): { value: unknown } | { problem: string } {
  try {
    return { value: document.toJS() };
  } catch (error) {
    return { problem: error instanceof ReferenceError ? "an alias (*name) cannot be resolved" : "it cannot be read" };
  }
}

/** The reader's own texts quote the file, in which there may be keys; its codes do not. */
function plainReason(code: string): string {
  return code.toLowerCase().replaceAll("_", " ");
}

/** The place of a key, or of an item of a list; of what is missing, the place of what should hold it. */
function offsetOf(contents: unknown, keys: readonly (string | number)[]): number {
  let node = contents;
  let found = startOf(contents);
  for (const key of keys) {
    const next = isMap(node)
      ? node.items.find((pair) => isPair(pair) && String(pair.key) === String(key))
      : isSeq(node) && typeof key === "number"
        ? node.items[key]
        : undefined;
    if (next === undefined) return found;
    found = startOf(isPair(next) ? next.key : next);
    node = isPair(next) ? next.value : next;
  }
  return found;
}

function startOf(node: unknown): number {
  return (node as Node | null)?.range?.[0] ?? 0;
}
