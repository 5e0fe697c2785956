import { isMap, isPair, isSeq, type Node } from "yaml";
import { parseYaml } from "../lib/yaml-text.ts";
import { type ReadFile, readTextFile } from "./json-file.ts";
import { isPlainObject } from "./setting-value.ts";

/** Loaded only when there is such a file: the YAML reader is larger than everything else at the start. */

/** Reads an object from a YAML file, like `readJsonFile` from JSON. */
export function readYamlFile(path: string, largest?: number): ReadFile {
  const read = readTextFile(path, largest);
  if (read.text === undefined) return read;
  const parsed = parseYaml(read.text, { merge: true });
  if ("code" in parsed) {
    const { code, line, column } = parsed;
    const problem = `${path}:${line}:${column}: ${reasonOf(code)}; the file is ignored until it is valid YAML`;
    return { problem, place: { line, column }, text: read.text };
  }
  const { value, document, lines } = parsed;
  if (value === undefined || value === null) return {};
  if (!isPlainObject(value)) {
    const problem = `${path}:1:1: expected keys and values; the file is ignored`;
    return { problem, place: { line: 1, column: 1 }, text: read.text };
  }
  return {
    object: value,
    locate(keys) {
      const { line, col } = lines.linePos(offsetOf(document.contents, keys));
      return { line, column: col };
    },
  };
}

const REASONS: Readonly<Record<string, string>> = {
  TOO_DEEP: "nested too deeply",
  UNRESOLVED_ALIAS: "an alias (*name) cannot be resolved",
  TOO_MANY_ALIASES: "there are more than 100 aliases (*name), or they stand for too much",
  ENDLESS_ALIAS: "an alias (*name) stands in what it is the name of",
};

/** The reader's own texts quote the file, in which there may be keys; its codes do not. */
function reasonOf(code: string): string {
  return REASONS[code] ?? code.toLowerCase().replaceAll("_", " ");
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
