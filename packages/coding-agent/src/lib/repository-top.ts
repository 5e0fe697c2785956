import { existsSync, realpathSync } from "node:fs";
import { dirname } from "node:path";
import { below } from "./below.ts";

/** The nearest folder with a .git, the root included; undefined outside of any repository. */
export function repositoryTop(searched: string): string | undefined {
  for (let folder = withoutLinks(searched); ; folder = dirname(folder)) {
    if (existsSync(below(folder, ".git"))) return folder;
    if (folder === dirname(folder)) return undefined;
  }
}

/** What is above a folder is above the folder itself, not above a link to it. */
export function withoutLinks(folder: string): string {
  try {
    return realpathSync.native(folder);
  } catch {
    return folder;
  }
}
