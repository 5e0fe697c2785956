import { join } from "node:path";
import { readJsonFile } from "../../config/json-file.ts";
import { isPlainObject } from "../../config/setting-value.ts";

/** What the package.json of a package says about its extensions, skills and templates. */

export interface Manifest {
  extensions?: string[];
  skills?: string[];
  prompts?: string[];
}

/** In the order in which they count. */
const MANIFEST_KEYS = ["tiller", "pi", "omp", "xcsh"] as const;

const LISTS = ["extensions", "skills", "prompts"] as const;

/** Undefined for a folder without package.json, or with one that says nothing to us. */
export function readManifest(folder: string, problems: string[]): Manifest | undefined {
  const file = join(folder, "package.json");
  const { object: parsed, problem } = readJsonFile(file);
  if (problem) problems.push(problem);
  if (!parsed) return undefined;
  const key = MANIFEST_KEYS.find((name) => isPlainObject(parsed[name]));
  if (key === undefined) return undefined;
  const said = parsed[key] as Record<string, unknown>;
  const manifest: Manifest = {};
  for (const list of LISTS) {
    const value = typeof said[list] === "string" ? [said[list]] : said[list];
    if (value === undefined) continue;
    if (isListOfTexts(value)) manifest[list] = value;
    else problems.push(`${file}: "${key}.${list}" must be a list of paths; it is ignored`);
  }
  return Object.keys(manifest).length > 0 ? manifest : undefined;
}

export function isListOfTexts(value: unknown): value is string[] {
  return Array.isArray(value) && value.every((entry) => typeof entry === "string");
}
