import { renameSync, rmSync, writeFileSync } from "node:fs";
import { dirname } from "node:path";
import { randomHex } from "./clock.ts";
import { makePrivateFolder } from "./make-folder.ts";

/**
 * Puts a small file of the user's in its place, for its owner only. It is written aside under a name that nobody can guess, and
 * only if nothing stands there: a file or a link that somebody has left would keep its own mode, or lead elsewhere.
 */
export function writePrivateFile(path: string, text: string): void {
  makePrivateFolder(dirname(path));
  const aside = `${path}.${randomHex(16)}.tmp`;
  try {
    writeFileSync(aside, text, { mode: 0o600, flag: "wx" });
    renameSync(aside, path);
  } catch (error) {
    rmSync(aside, { force: true });
    throw error;
  }
}
