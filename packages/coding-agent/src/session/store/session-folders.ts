import { type Dirent, readdirSync, statSync } from "node:fs";
import { join } from "node:path";

/** The files that may be sessions. Nothing here throws for what it meets on the disk. */
export interface SessionFileFacts {
  path: string;
  /** With its fractions: files are put in order by it. */
  mtimeMs: number;
  size: number;
}

/** A place in the order of a list, whether or not the file is still there. */
export type FilePosition = Pick<SessionFileFacts, "mtimeMs" | "path">;

/** Either the folder of one project or, below `root`, those of all. */
export type SessionPlace = { folder: string } | { root: string };

export const SESSION_FILE_END = ".jsonl";

/** Newest first; the path decides between equals. */
export function byNewest(a: FilePosition, b: FilePosition): number {
  if (a.mtimeMs !== b.mtimeMs) return b.mtimeMs - a.mtimeMs;
  return a.path < b.path ? -1 : a.path > b.path ? 1 : 0;
}

/** Files that have the right name and something in them, in no order. Links are followed. */
export function* sessionFiles(place: SessionPlace): Generator<SessionFileFacts> {
  for (const folder of "folder" in place ? [place.folder] : foldersIn(place.root)) {
    for (const { name } of entriesIn(folder)) {
      if (!name.endsWith(SESSION_FILE_END)) continue;
      const facts = factsOf(join(folder, name));
      if (facts && facts.size > 0) yield facts;
    }
  }
}

/** Undefined for what is not a regular file, links to one included; a pipe would never end. */
export function factsOf(path: string): SessionFileFacts | undefined {
  try {
    const facts = statSync(path);
    return facts.isFile() ? { path, mtimeMs: facts.mtimeMs, size: facts.size } : undefined;
  } catch {
    return undefined;
  }
}

function foldersIn(root: string): string[] {
  const isFolder = (entry: Dirent): boolean => entry.isDirectory() || entry.isSymbolicLink();
  return entriesIn(root)
    .filter(isFolder)
    .map(({ name }) => join(root, name));
}

function entriesIn(folder: string): Dirent[] {
  try {
    return readdirSync(folder, { withFileTypes: true });
  } catch {
    return [];
  }
}
