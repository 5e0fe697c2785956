import { existsSync, lstatSync, realpathSync } from "node:fs";
import { dirname } from "node:path";
import { below } from "./below.ts";

/** The nearest folder with a .git, the root included; undefined outside of any repository. */
export function repositoryTop(searched: string, counts = (_git: string): boolean => true): string | undefined {
  for (let folder = withoutLinks(searched); ; folder = dirname(folder)) {
    const git = below(folder, ".git");
    if (existsSync(git) && counts(git)) return folder;
    if (folder === dirname(folder)) return undefined;
  }
}

/**
 * The same for who takes texts from there. In a folder that many can write to, such as /tmp, anybody can make a .git and
 * instructions beside it: it counts if it belongs to the user, to root, or to whom the folder itself belongs.
 */
export function ownRepositoryTop(searched: string, user = process.getuid?.(), ownerOf = owner): string | undefined {
  return repositoryTop(searched, (git) => [user, 0, ownerOf(dirname(git))].includes(ownerOf(git)));
}

/** Of the entry itself, not of what it may link to. Where nobody has owners, it is 0. */
function owner(path: string): number | undefined {
  return lstatSync(path, { throwIfNoEntry: false })?.uid;
}

/** What is above a folder is above the folder itself, not above a link to it. */
export function withoutLinks(folder: string): string {
  try {
    return realpathSync.native(folder);
  } catch {
    return folder;
  }
}
