import { mkdirSync, statSync } from "node:fs";
import { dirname } from "node:path";

/**
 * Makes a folder and those above it. Node's own `recursive: true` never returns where the system answers ENOENT for a
 * folder whose parent exists, as it does below /proc.
 */
export function makeFolder(path: string, mode?: number): void {
  if (makeOne(path, mode) !== "ENOENT") return;
  const parent = dirname(path);
  if (parent !== path) makeFolder(parent, mode);
  mkdirSync(path, { mode });
}

/** For what is the user's own: the folders that have to be made are for their owner only. */
export function makePrivateFolder(path: string): void {
  makeFolder(path, 0o700);
}

function makeOne(path: string, mode: number | undefined): "done" | "ENOENT" {
  try {
    mkdirSync(path, { mode });
    return "done";
  } catch (error) {
    const { code } = error as NodeJS.ErrnoException;
    if (code === "ENOENT") return "ENOENT";
    if (code === "EEXIST" && statSync(path).isDirectory()) return "done";
    throw error;
  }
}
