import { join, relative, sep } from "node:path";
import { readText } from "../lib/text-file.ts";
import type { Entry } from "../prompts/places.ts";
import type { IgnoreRules } from "../tools/gitignore.ts";
import type { IgnoreWork } from "../tools/ignore-work.ts";

/**
 * What ignore files hide in a folder of skills. Those above the folder do not count: many keep `.claude` out of their
 * repository, and want the skills in it all the same.
 */

/** Of two in a folder the later one is asked first. */
const NAMES: readonly string[] = [".gitignore", ".ignore", ".fdignore"];

export interface IgnoreLevel {
  folder: string;
  rules: IgnoreRules;
}

/** The levels inside of a folder, given those around it. The reader of such files is loaded with the first of them. */
export async function levelsInside(
  around: readonly IgnoreLevel[],
  folder: string,
  entries: readonly Entry[],
  work: IgnoreWork,
): Promise<readonly IgnoreLevel[]> {
  const found = NAMES.filter((name) => entries.some((entry) => entry.name === name && entry.kind === "file"));
  if (found.length === 0) return around;
  const { parseIgnoreFile } = await import("../tools/gitignore.ts");
  const read = found.map((name) => readText(join(folder, name)));
  const texts = read.flatMap((file) => ("text" in file ? [file.text] : []));
  return [...around, ...texts.map((text) => ({ folder, rules: parseIgnoreFile(text, work) }))];
}

export function isIgnored(
  levels: readonly IgnoreLevel[],
  folder: string,
  { name, kind }: Entry,
  work: IgnoreWork,
): boolean {
  work.nextName();
  for (const level of levels.toReversed()) {
    const path = relative(level.folder, join(folder, name)).split(sep).join("/");
    const verdict = level.rules.verdict(path, name, kind === "folder");
    if (verdict !== undefined) return verdict === "ignored";
  }
  return false;
}
