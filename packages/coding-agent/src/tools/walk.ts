import type { Dirent } from "node:fs";
import { readdir, readFile } from "node:fs/promises";
import { dirname, join, relative, sep } from "node:path";
import ignore, { type Ignore } from "ignore";
import { throwIfAborted } from "../lib/abort.ts";
import { exists } from "./path.ts";

/** Walks a folder the way git sees it: .gitignore rules hold, hidden files are included, links are not followed. */

/** Never wanted, ignored or not. */
export const ALWAYS_SKIPPED: ReadonlySet<string> = new Set([".git", "node_modules"]);

export interface WalkEntry {
  /** Relative to the root of the walk, with forward slashes. */
  path: string;
  isDirectory: boolean;
  isFile: boolean;
}

/** The rules of one .gitignore, which hold for paths below its folder. */
interface IgnoreLevel {
  folder: string;
  rules: Ignore;
}

/** Depth first, names in order, a folder before what is in it. */
export async function* walk(root: string, signal: AbortSignal): AsyncGenerator<WalkEntry> {
  yield* walkFolder(root, root, await levelsAbove(root), signal);
}

async function* walkFolder(
  root: string,
  folder: string,
  above: readonly IgnoreLevel[],
  signal: AbortSignal,
): AsyncGenerator<WalkEntry> {
  throwIfAborted(signal);
  const entries = await listQuietly(folder);
  const hasRules = entries.some((entry) => entry.name === ".gitignore");
  const levels = hasRules ? [...above, ...(await levelOf(folder))] : above;
  for (const entry of entries.sort((a, b) => (a.name < b.name ? -1 : 1))) {
    const path = join(folder, entry.name);
    const isDirectory = entry.isDirectory();
    if (ALWAYS_SKIPPED.has(entry.name) || isIgnored(levels, path, isDirectory)) continue;
    yield { path: toPosix(relative(root, path)), isDirectory, isFile: entry.isFile() };
    if (isDirectory) yield* walkFolder(root, path, levels, signal);
  }
}

/** A folder that vanished or may not be read is passed over, as a search does. */
async function listQuietly(folder: string): Promise<Dirent[]> {
  try {
    return await readdir(folder, { withFileTypes: true });
  } catch {
    return [];
  }
}

/** The deepest rule that says something decides. */
function isIgnored(levels: readonly IgnoreLevel[], path: string, isDirectory: boolean): boolean {
  for (let i = levels.length - 1; i >= 0; i--) {
    const { folder, rules } = levels[i]!;
    const verdict = rules.test(toPosix(relative(folder, path)) + (isDirectory ? "/" : ""));
    if (verdict.ignored) return true;
    if (verdict.unignored) return false;
  }
  return false;
}

async function levelOf(folder: string): Promise<IgnoreLevel[]> {
  try {
    return [{ folder, rules: ignore().add(await readFile(join(folder, ".gitignore"), "utf8")) }];
  } catch {
    return [];
  }
}

/**
 * Rules of the folders above, up to the top of the repository. Whoever names an ignored folder as the place to search
 * wants to see what is in it, so a level that hides the root itself does not count.
 */
async function levelsAbove(root: string): Promise<IgnoreLevel[]> {
  const top = await repositoryTop(root);
  if (top === undefined) return [];
  const levels: IgnoreLevel[] = [];
  for (let folder = root; folder !== top; ) {
    folder = dirname(folder);
    const level = await levelOf(folder);
    if (!isIgnored(level, root, true)) levels.unshift(...level);
  }
  return levels;
}

/** The nearest folder with a .git, the root included; undefined outside of any repository. */
export async function repositoryTop(root: string): Promise<string | undefined> {
  for (let folder = root; ; folder = dirname(folder)) {
    if (await exists(join(folder, ".git"))) return folder;
    if (folder === dirname(folder)) return undefined;
  }
}

function toPosix(path: string): string {
  return sep === "/" ? path : path.split(sep).join("/");
}
