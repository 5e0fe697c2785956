import { readdirSync, realpathSync, type Stats, statSync } from "node:fs";

/** Looking at the file system without exceptions for what is simply not there. */

export type Kind = "file" | "folder" | undefined;

/** Links are followed; pipes and devices are nothing that can be loaded. */
export function kindOf(path: string): Kind {
  let stats: Stats | undefined;
  try {
    stats = statSync(path, { throwIfNoEntry: false });
  } catch {
    return undefined;
  }
  if (stats?.isFile()) return "file";
  return stats?.isDirectory() ? "folder" : undefined;
}

/** Most folders are not there, and an exception for each would take its time. What cannot be looked at may be there. */
export function isMissing(path: string): boolean {
  try {
    return statSync(path, { throwIfNoEntry: false }) === undefined;
  } catch {
    return false;
  }
}

export function realPath(path: string): string {
  try {
    // The other one asks for every folder on the way.
    return realpathSync.native(path);
  } catch {
    return path;
  }
}

/** In the order of their names; hidden ones are left out. */
export function namesIn(folder: string, problems: string[]): string[] {
  try {
    if (isMissing(folder)) return [];
    return readdirSync(folder)
      .filter((name) => !name.startsWith("."))
      .sort();
  } catch (error) {
    const { code } = error as NodeJS.ErrnoException;
    if (code !== "ENOENT" && code !== "ENOTDIR") problems.push(`${folder}: cannot be read (${code})`);
    return [];
  }
}
