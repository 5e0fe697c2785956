import { copyFileSync, existsSync, lstatSync, readdirSync, renameSync, rmdirSync, rmSync } from "node:fs";
import { basename, join } from "node:path";
import type { Clock } from "@tiller/protocol/clock";
import { makePrivateFolder } from "../../lib/make-folder.ts";
import { companionEnds } from "./companions.ts";
import { factsOf } from "./session-folders.ts";
import { readHead } from "./session-head.ts";
import { ownerText, tryLock } from "./session-lock.ts";
import { subAgentFiles } from "./sub-agent-files.ts";

export interface Deletion {
  path: string;
  trashDir: string;
  locksFolder: string;
  /** Where the sub-agents of a session with this id have their files. */
  subAgentsFolder(sessionId: string): string;
  clock: Clock;
  /** In tests. */
  rename?: typeof renameSync;
}

/** In the trash. */
const SUB_AGENTS_END = ".subagents";

export interface Deleted {
  /** Where it is now. */
  trashPath: string;
  /** The files that its sub-agents had. */
  subAgents: string[];
  /** What could not be moved, and why. The session itself was. */
  problems: string[];
}

/** Moves a session that nobody is using, with what lies beside it and the files of its sub-agents, into the trash. */
export function deleteSession(deletion: Deletion): Deleted | { error: string } {
  const { path, locksFolder, clock } = deletion;
  if (!factsOf(path)) return { error: `There is no session file ${path}` };
  const head = readHead(path);
  if (!head) return { error: `${path} is no session file: it has no session header. It was left alone` };
  const attempt = tryLock({ locksFolder, sessionPath: path, clock });
  if ("owner" in attempt) return { error: ownerText(attempt.owner) };
  try {
    const folder = deletion.subAgentsFolder(head.id);
    const subAgents = subAgentFiles(folder, path);
    const trashPath = moveToTrash(deletion);
    return { trashPath, ...moveSubAgents(folder, subAgents, trashPath, deletion) };
  } catch (error) {
    return { error: `${path} cannot be moved to ${deletion.trashDir}: ${(error as Error).message}` };
  } finally {
    if ("lock" in attempt) attempt.lock.release();
  }
}

function moveToTrash({ path, trashDir, clock, rename = renameSync }: Deletion): string {
  makePrivateFolder(trashDir);
  const trashPath = freePath(trashDir, `${dateOf(clock)}-${basename(path)}`);
  moveWhole(path, trashPath, rename);
  return trashPath;
}

/** The session last: when something fails before, it is still where it was. */
function moveWhole(from: string, to: string, rename: typeof renameSync): void {
  for (const end of companionEnds(from)) if (isFile(from + end)) move(from + end, to + end, rename);
  move(from, to, rename);
}

/** A link or a pipe under the name is not what we have put there: a copy to another disk would follow it, or wait. */
function isFile(path: string): boolean {
  return lstatSync(path, { throwIfNoEntry: false })?.isFile() === true;
}

/** Into a folder beside the session in the trash. One that somebody has opened as a session of its own stays. */
function moveSubAgents(
  folder: string,
  files: readonly string[],
  trashPath: string,
  { locksFolder, clock, rename = renameSync }: Deletion,
): Pick<Deleted, "subAgents" | "problems"> {
  const moved: string[] = [];
  const problems: string[] = [];
  const target = trashPath + SUB_AGENTS_END;
  for (const path of files) {
    const attempt = tryLock({ locksFolder, sessionPath: path, clock });
    try {
      if ("owner" in attempt) throw new Error(ownerText(attempt.owner));
      makePrivateFolder(target);
      moveWhole(path, join(target, basename(path)), rename);
      moved.push(path);
    } catch (error) {
      problems.push(`${path} cannot be moved to ${target}: ${(error as Error).message}`);
    } finally {
      if ("lock" in attempt) attempt.lock.release();
    }
  }
  if (moved.length > 0) problems.push(...removeEmpty(folder));
  return { subAgents: moved, problems };
}

/** Another process may be at the same folder. The session is gone by now, and that is what has to be told. */
function removeEmpty(folder: string): string[] {
  try {
    if (readdirSync(folder).length === 0) rmdirSync(folder);
    return [];
  } catch (error) {
    return existsSync(folder) ? [`${folder} cannot be removed: ${(error as Error).message}`] : [];
  }
}

/** `2026-11-15T18-41-02-460Z`, as in the names of session files. */
function dateOf(clock: Clock): string {
  return new Date(clock.now()).toISOString().replace(/[:.]/g, "-");
}

/** Nothing in the trash is ever overwritten. */
function freePath(folder: string, name: string): string {
  let path = join(folder, name);
  for (let n = 2; [path, path + SUB_AGENTS_END].some(existsSync) || companionEnds(path).length > 0; n++) {
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
