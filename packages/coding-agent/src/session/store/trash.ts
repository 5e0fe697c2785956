import { copyFileSync, existsSync, renameSync, rmSync } from "node:fs";
import { basename, join } from "node:path";
import type { Clock } from "@tiller/protocol/clock";
import { makePrivateFolder } from "../../lib/make-folder.ts";
import { factsOf } from "./session-folders.ts";
import { readHead } from "./session-head.ts";
import { ownerText, tryLock } from "./session-lock.ts";

export interface Deletion {
  path: string;
  trashDir: string;
  locksFolder: string;
  clock: Clock;
  /** In tests. */
  rename?: typeof renameSync;
}

/** Bytes that could not be read when the session was opened are kept in this file beside it. */
const DAMAGED_END = ".damaged";

/** Moves a session that nobody is using, with its damaged parts, into the trash, and tells where it is now. */
export function deleteSession(deletion: Deletion): { trashPath: string } | { error: string } {
  const { path, locksFolder, clock } = deletion;
  if (!factsOf(path)) return { error: `There is no session file ${path}` };
  if (!readHead(path)) return { error: `${path} is no session file: it has no session header. It was left alone` };
  const attempt = tryLock({ locksFolder, sessionPath: path, clock });
  if ("owner" in attempt) return { error: ownerText(attempt.owner) };
  try {
    return { trashPath: moveToTrash(deletion) };
  } catch (error) {
    return { error: `${path} cannot be moved to ${deletion.trashDir}: ${(error as Error).message}` };
  } finally {
    if ("lock" in attempt) attempt.lock.release();
  }
}

function moveToTrash({ path, trashDir, clock, rename = renameSync }: Deletion): string {
  makePrivateFolder(trashDir);
  const trashPath = freePath(trashDir, `${dateOf(clock)}-${basename(path)}`);
  // The session last: when something fails before, it is still where it was.
  if (existsSync(path + DAMAGED_END)) move(path + DAMAGED_END, trashPath + DAMAGED_END, rename);
  move(path, trashPath, rename);
  return trashPath;
}

/** `2026-11-15T18-41-02-460Z`, as in the names of session files. */
function dateOf(clock: Clock): string {
  return new Date(clock.now()).toISOString().replace(/[:.]/g, "-");
}

/** Nothing in the trash is ever overwritten. */
function freePath(folder: string, name: string): string {
  let path = join(folder, name);
  for (let n = 2; existsSync(path) || existsSync(path + DAMAGED_END); n++) {
    path = join(folder, name.replace(/(\.jsonl)?$/, `-${n}$1`));
  }
  return path;
}

/** To another disk it is copied; the original goes only when the copy is whole. */
function move(from: string, to: string, rename: typeof renameSync): void {
  try {
    rename(from, to);
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== "EXDEV") throw error;
    copyWhole(from, to);
    rmSync(from);
  }
}

function copyWhole(from: string, to: string): void {
  try {
    copyFileSync(from, to);
  } catch (error) {
    rmSync(to, { force: true });
    throw error;
  }
}
