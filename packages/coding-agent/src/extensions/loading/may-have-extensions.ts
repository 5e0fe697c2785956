import { readdirSync, statSync } from "node:fs";
import { join } from "node:path";

/**
 * Is it worth loading anything of the extensions? On the start path, so it looks and does not understand: a folder that
 * has something in it is enough. A folder that is not there costs one system call.
 */

/** The folders of a project that may hold extensions, in the order in which they count. */
export const PROJECT_EXTENSION_FOLDERS = [
  join(".tiller", "extensions"),
  join(".pi", "extensions"),
  join(".omp", "extensions"),
  join(".xcsh", "extensions"),
] as const;

export const USER_EXTENSION_FOLDER = "extensions";

export interface MaybePlace {
  cwd: string;
  agentDir: string;
  /** Of the settings; anything but a list counts as something somebody has to look at. */
  settings: { extensions?: unknown; packages?: unknown };
  /** What the command line names: `--extension`, `--hook`, `--plugin-dir`. */
  named: readonly string[];
  noExtensions?: boolean;
  /** Of a distrusted project (`none`) nothing is looked at. */
  projectTrust: "none" | "text" | "code";
}

export function mayHaveExtensions(place: MaybePlace): boolean {
  if (place.named.length > 0) return true;
  if (place.noExtensions) return false;
  if (isSomething(place.settings.extensions) || isSomething(place.settings.packages)) return true;
  const project = place.projectTrust === "none" ? [] : PROJECT_EXTENSION_FOLDERS;
  return (
    hasEntries(join(place.agentDir, USER_EXTENSION_FOLDER)) || project.some((name) => hasEntries(join(place.cwd, name)))
  );
}

function isSomething(value: unknown): boolean {
  return value !== undefined && value !== null && !(Array.isArray(value) && value.length === 0);
}

function hasEntries(folder: string): boolean {
  try {
    // Most folders are not there, and nothing is thrown for those.
    return statSync(folder, { throwIfNoEntry: false }) !== undefined && readdirSync(folder).length > 0;
  } catch (error) {
    // One that cannot be read is something to complain about, which is not done here.
    const { code } = error as NodeJS.ErrnoException;
    return code !== "ENOENT" && code !== "ENOTDIR";
  }
}
