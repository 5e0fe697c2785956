import { isMap, isScalar } from "yaml";
import { MAX_YAML_LENGTH, parseYaml } from "../lib/yaml-text.ts";

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
  TOO_DEEP: "the front matter is too long or nested too deeply",
  UNRESOLVED_ALIAS: "the front matter cannot be read",
  TOO_MANY_ALIASES: "there are more than 100 aliases (*name), or they stand for too much",
  ENDLESS_ALIAS: "the front matter cannot be read",
};

export function readYamlHeader(header: string): Header | { line: number; reason: string } {
  if (header.length > MAX_YAML_LENGTH) return { line: 1, reason: REASONS.TOO_DEEP! };
  const parsed = parseYaml(header);
  if ("code" in parsed) {
    const { code, line } = parsed;
    return { line, reason: REASONS[code] ?? `not valid YAML (${code.toLowerCase().replaceAll("_", " ")})` };
  }
  const { contents } = parsed.document;
  if (contents === null) return { values: new Map(), lines: new Map() };
  if (!isMap(contents)) return { line: 1, reason: "the front matter is no list of keys with values" };
  const lines = new Map<string, number>();
  for (const { key } of contents.items) {
    if (isScalar(key)) lines.set(String(key.value), parsed.lines.linePos(key.range?.[0] ?? 0).line);
  }
  return { values: new Map(Object.entries(parsed.value as object)), lines };
}
