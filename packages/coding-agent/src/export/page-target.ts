import { lstatSync, readlinkSync, statSync } from "node:fs";
import { dirname, resolve } from "node:path";
import { codeOf, reasonOf } from "../session/store/file-errors.ts";
import { readHead } from "../session/store/session-head.ts";

/** Why no page can be written to this path, or undefined when it seems possible. */
export function targetProblem(path: string): string | undefined {
  try {
    const found = statSync(path, { throwIfNoEntry: false });
    if (!found) {
      // The page goes where a link leads, also when nothing is there yet.
      const isLink = lstatSync(path, { throwIfNoEntry: false })?.isSymbolicLink() ?? false;
      if (isLink) return targetProblem(resolve(dirname(path), readlinkSync(path)));
      const folder = dirname(path);
      const isThere = statSync(folder, { throwIfNoEntry: false })?.isDirectory() ?? false;
      return isThere ? undefined : `Cannot export to ${path}: the folder ${folder} does not exist`;
    }
    if (found.isDirectory()) return `Cannot export to ${path}: it is a folder; name a file in it`;
    if (!found.isFile()) return `Cannot export to ${path}: it is neither a file nor free; name another path`;
    if (readHead(path)) return `Cannot export to ${path}: it is a session file, which the page would replace`;
    return undefined;
  } catch (error) {
    return writeProblem(path, error);
  }
}

/**
 * Why no page can be written under the usual name. Anybody can tell that name beforehand: a link that came with the
 * repository would lead the page over a file of the user's. Who names a path means what lies there, links included.
 */
export function usualNameProblem(path: string): string | undefined {
  try {
    const isLink = lstatSync(path, { throwIfNoEntry: false })?.isSymbolicLink() ?? false;
    return isLink
      ? `Cannot export to ${path}: a link lies there; remove it, or name the path you want`
      : targetProblem(path);
  } catch (error) {
    return writeProblem(path, error);
  }
}

/** What people are told when writing fails. */
export function writeProblem(path: string, error: unknown): string {
  const hint = HINTS[codeOf(error)];
  return `Cannot export to ${path}: ${reasonOf(error)}${hint === undefined ? "" : `; ${hint}`}`;
}

const HINTS: Readonly<Record<string, string>> = {
  ENOSPC: "make room, or name a path on another disk",
  EDQUOT: "make room, or name a path on another disk",
  EACCES: "name a path that may be written",
  EPERM: "name a path that may be written",
  EROFS: "name a path that may be written",
  ENAMETOOLONG: "name a shorter path",
};
