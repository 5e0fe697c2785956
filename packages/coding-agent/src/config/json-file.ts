import { readFileSync, statSync } from "node:fs";
import type { Place } from "./json-place.ts";
import { parseJsonText } from "./json-text.ts";
import { isPlainObject } from "./setting-value.ts";

/** What came of reading one configuration file. A file that does not exist is neither an object nor a problem. */
export interface ReadFile {
  object?: Record<string, unknown>;
  /** Where in the file the thing at a path stands. */
  locate?(path: readonly (string | number)[]): Place | undefined;
  /** One sentence that names the file, the place in it and the reason. */
  problem?: string;
  /** Of the problem, where it has one. */
  place?: Place;
  /** What stands in a file that is no JSON object. */
  text?: string;
}

/** No person writes more. A larger one comes from nobody who wants to set something, and each complaint looks through all of it. */
export const LARGEST_FILE = 1024 * 1024;

/**
 * Reads a JSON object from a file, comments and trailing commas allowed. Synchronous, because the start needs it before
 * anything else; a missing file costs one `stat`.
 */
export function readJsonFile(path: string, largest = LARGEST_FILE): ReadFile {
  const read = readTextFile(path, largest);
  if (read.text === undefined) return { problem: read.problem };
  const parsed = parseJsonText(read.text);
  if (!parsed.ok) {
    const { line, column } = parsed;
    // The other half of each letter is a zero there.
    const reason = read.text.includes("\0") ? "this is UTF-16, and must be UTF-8" : parsed.reason;
    const problem = `${path}:${line}:${column}: ${reason}; the file is ignored until it is valid JSON`;
    return { problem, place: { line, column }, text: read.text };
  }
  if (parsed.value === undefined) return {};
  if (!isPlainObject(parsed.value))
    return {
      problem: `${path}:1:1: expected an object in braces; the file is ignored`,
      place: { line: 1, column: 1 },
      text: read.text,
    };
  return { object: parsed.value, locate: parsed.locate };
}

/** Neither text nor problem when there is no such file. */
export function readTextFile(path: string, largest = LARGEST_FILE): { text?: string; problem?: string } {
  try {
    const stats = statSync(path, { throwIfNoEntry: false });
    if (stats === undefined) return {};
    // A pipe would block the start for ever.
    if (!stats.isFile()) return { problem: `${path}: not a regular file, so it is not read` };
    if (stats.size > largest)
      return { problem: `${path}: has ${stats.size} bytes, so it is not read; at most ${largest}` };
    return { text: readFileSync(path, "utf8") };
  } catch (error) {
    const code = (error as NodeJS.ErrnoException).code;
    return code === "ENOENT" || code === "ENOTDIR"
      ? {}
      : { problem: `${path}: cannot be read (${code ?? String(error)})` };
  }
}

export function fileExists(path: string): boolean {
  try {
    return statSync(path, { throwIfNoEntry: false })?.isFile() === true;
  } catch {
    return false;
  }
}
