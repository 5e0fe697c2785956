import { constants } from "node:fs";
import { access, type FileHandle, open, readdir, stat } from "node:fs/promises";
import { basename, dirname, join } from "node:path";
import { looseName, mayLookLikeAnother, parsePath, tidyPath } from "./path-syntax.ts";

/** Turns what a model writes as a path into a real one. */

export interface PathContext {
  cwd: string;
  env: Readonly<Record<string, string | undefined>>;
}

/** Absolute path: a leading `@` (a mention) is dropped, odd spaces become plain ones, `~` is the home folder. */
export function resolvePath(context: PathContext, path: string): string {
  return literalPath(context, tidyPath(path));
}

function literalPath({ cwd, env }: PathContext, path: string): string {
  const home =
    env.HOME || (process.platform === "win32" && env.USERPROFILE) || process.getBuiltinModule("node:os").homedir();
  return parsePath(path, { cwd, home, platform: process.platform });
}

/**
 * As resolvePath, but a file that is really called that way (with the `@` or the odd space) is found first, and one that
 * only looks the same (a composed letter, the narrow space in the name of a screenshot) at last.
 */
export async function resolveExistingPath(context: PathContext, path: string): Promise<string> {
  const tidy = resolvePath(context, path);
  for (const candidate of new Set([literalPath(context, path), tidy])) if (await exists(candidate)) return candidate;
  return (mayLookLikeAnother(path) && (await findLookalike(tidy))) || tidy;
}

/** Where a file is written: over the one that is there, else in the folder that is there, else as resolvePath says. */
export async function resolveWritePath(context: PathContext, path: string): Promise<string> {
  const tidy = resolvePath(context, path);
  const literal = literalPath(context, path);
  const found = await resolveExistingPath(context, path);
  if (found !== tidy || literal === tidy) return found;
  const besideLiteral = (await exists(dirname(literal))) && !(await exists(dirname(tidy)));
  return besideLiteral ? literal : tidy;
}

/** The one path whose names look the same; undefined when there is none, or more than one. */
async function findLookalike(path: string): Promise<string | undefined> {
  if (await exists(path)) return path;
  const parent = dirname(path);
  const folder = parent === path ? undefined : await findLookalike(parent);
  if (folder === undefined) return undefined;
  const wanted = looseName(basename(path));
  const names = await readdir(folder).catch(() => []);
  const alike = names.filter((name) => looseName(name) === wanted);
  return alike.length === 1 ? join(folder, alike[0]!) : undefined;
}

export async function exists(path: string): Promise<boolean> {
  return access(path).then(
    () => true,
    () => false,
  );
}

/**
 * Throws for pipes and devices. Opening a pipe waits for its other end, in a thread that nobody can call back, so that the
 * process could not even exit; and `/dev/stdout` is the protocol. Folders and what is missing get the system's own error.
 */
export async function requireRegularFile(path: string, shownPath: string): Promise<void> {
  const found = await stat(path).catch(() => undefined);
  if (!found || found.isFile() || found.isDirectory()) return;
  throw new Error(notRegularText(shownPath));
}

/**
 * Opens a regular file for reading, and nothing else, also when something else takes its place in between. Some regular
 * files below /proc and /sys wait for news when they are read; without blocking they answer EAGAIN.
 */
export async function openRegularFile(path: string, shownPath: string): Promise<FileHandle> {
  await requireRegularFile(path, shownPath);
  // Windows has no such flag.
  const file = await open(path, constants.O_RDONLY | (constants.O_NONBLOCK ?? 0));
  try {
    const found = await file.stat();
    if (!found.isFile() && !found.isDirectory()) throw new Error(notRegularText(shownPath));
    return file;
  } catch (error) {
    await file.close();
    throw error;
  }
}

function notRegularText(shownPath: string): string {
  return `Not a regular file: ${shownPath}. Use bash to read from or write to pipes and devices.`;
}

/** What stands at a path; undefined when there is nothing. Pipes and devices are `other`. */
export async function kindOf(path: string): Promise<"folder" | "file" | "other" | undefined> {
  return stat(path).then(
    (found) => (found.isDirectory() ? "folder" : found.isFile() ? "file" : "other"),
    () => undefined,
  );
}
