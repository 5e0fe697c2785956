import { mkdirSync, statSync } from "node:fs";
import { dirname } from "node:path";

/**
 * Makes a folder and those above it. Node's own `recursive: true` never returns where the system answers ENOENT for a
 * folder whose parent exists, as it does below /proc.
 */
export function makeFolder(path: string): void {
  if (makeOne(path) !== "ENOENT") return;
  const parent = dirname(path);
  if (parent !== path) makeFolder(parent);
  mkdirSync(path);
}

function makeOne(path: string): "done" | "ENOENT" {
  try {
    mkdirSync(path);
    return "done";
  } catch (error) {
    const { code } = error as NodeJS.ErrnoException;
    if (code === "ENOENT") return "ENOENT";
    if (code === "EEXIST" && statSync(path).isDirectory()) return "done";
    throw error;
  }
}
