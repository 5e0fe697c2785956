import { type Dirent, readdirSync } from "node:fs";
import { throwIfAborted } from "../lib/abort.ts";
import { type IgnoreLevels, isIgnored, levelsAbove, levelsInside } from "./ignore-rules.ts";

/** Walks a folder the way git sees it: ignore files hold, hidden files are included, links are not followed. */

/** Never wanted, ignored or not. */
export const ALWAYS_SKIPPED: ReadonlySet<string> = new Set([".git", "node_modules"]);

export interface WalkEntry {
  /** Relative to the root of the walk, with forward slashes. */
  path: string;
  isDirectory: boolean;
  isFile: boolean;
}

/** Entries are handed over so many at a time, and others have their turn in between. */
const BATCH_SIZE = 256;

/** What is left of a folder. */
interface Place {
  /** With a closing slash; empty for the root. */
  path: string;
  levels: IgnoreLevels;
  /** In order. */
  entries: Dirent[];
  next: number;
}

/**
 * Depth first, names in the order of their bytes, a folder before what is in it. Folders are read without waiting, a few
 * microseconds each: measured, that is twice as quick as any number of them side by side.
 */
export async function* walk(root: string, signal: AbortSignal): AsyncGenerator<WalkEntry[]> {
  let batch: WalkEntry[] = [];
  /** The way down to where we are. */
  const way = [openPlace(root, "", levelsAbove(root))];
  for (let seen = 1; way.length > 0; seen++) {
    const here = way.at(-1)!;
    const entry = here.entries[here.next++];
    if (entry) {
      const found = toWalkEntry(here, entry);
      if (found) batch.push(found);
      if (found?.isDirectory) way.push(openPlace(root, `${found.path}/`, here.levels));
    } else {
      way.pop();
    }
    if (seen % BATCH_SIZE !== 0) continue;
    await new Promise((resolve) => setImmediate(resolve));
    throwIfAborted(signal);
    yield batch;
    batch = [];
  }
  throwIfAborted(signal);
  yield batch;
}

function openPlace(root: string, path: string, around: IgnoreLevels): Place {
  const entries = listQuietly(`${root}/${path}`);
  const levels = levelsInside(around, root, path, (name) => entries.some((entry) => entry.name === name));
  return { path, levels, entries: entries.sort((a, b) => compareNames(a.name, b.name)), next: 0 };
}

/** Undefined for what is ignored. */
function toWalkEntry({ path, levels }: Place, entry: Dirent): WalkEntry | undefined {
  const { name } = entry;
  const whole = path + name;
  const isDirectory = entry.isDirectory();
  if (ALWAYS_SKIPPED.has(name) || isIgnored(levels, whole, name, isDirectory)) return undefined;
  return { path: whole, isDirectory, isFile: entry.isFile() };
}

/** A folder that vanished or may not be read is passed over, as a search does. */
function listQuietly(folder: string): Dirent[] {
  try {
    return readdirSync(folder, { withFileTypes: true });
  } catch {
    return [];
  }
}

/** By code point, which is also the order of the bytes; the order of UTF-16 differs beyond the first plane. */
function compareNames(a: string, b: string): number {
  if (a === b) return 0;
  for (let i = 0; i < a.length && i < b.length; i++) {
    const [x, y] = [a.charCodeAt(i), b.charCodeAt(i)];
    if (x === y) continue;
    const [xHigh, yHigh] = [x >= 0xd800 && x <= 0xdfff, y >= 0xd800 && y <= 0xdfff];
    return xHigh === yHigh ? x - y : xHigh ? 1 : -1;
  }
  return a.length - b.length;
}

/** The order of the walk, for paths that came from elsewhere. */
export function comparePaths(a: string, b: string): number {
  return compareNames(a.replaceAll("/", "\0"), b.replaceAll("/", "\0"));
}
