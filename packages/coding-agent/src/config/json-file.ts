import { readFileSync, statSync } from "node:fs";
import { parseJsonText } from "./json-text.ts";
import { isPlainObject } from "./setting-value.ts";

/** What came of reading one configuration file. A file that does not exist is neither an object nor a problem. */
export interface JsonFile {
  object?: Record<string, unknown>;
  /** One sentence that names the file, the line and the reason. */
  problem?: string;
}

/**
 * Reads a JSON object from a file, comments and trailing commas allowed. Synchronous, because the start needs it before
 * anything else; a missing file costs one `stat`.
 */
export function readJsonFile(path: string): JsonFile {
  let text: string;
  try {
    const stats = statSync(path, { throwIfNoEntry: false });
    if (stats === undefined) return {};
    // A pipe would block the start for ever.
    if (!stats.isFile()) return { problem: `${path}: not a regular file, so it is not read` };
    text = readFileSync(path, "utf8");
  } catch (error) {
    const code = (error as NodeJS.ErrnoException).code;
    return code === "ENOENT" || code === "ENOTDIR"
      ? {}
      : { problem: `${path}: cannot be read (${code ?? String(error)})` };
  }
  const parsed = parseJsonText(text);
  if (!parsed.ok)
    return { problem: `${path}, line ${parsed.line}: ${parsed.reason}; the file is ignored until it is valid JSON` };
  if (parsed.value === undefined) return {};
  if (!isPlainObject(parsed.value))
    return { problem: `${path}, line 1: expected an object in braces; the file is ignored` };
  return { object: parsed.value };
}

export function fileExists(path: string): boolean {
  try {
    return statSync(path, { throwIfNoEntry: false })?.isFile() === true;
  } catch {
    return false;
  }
}
