import { constants, readlinkSync, realpathSync, type Stats } from "node:fs";
import { access, type FileHandle, open, readFile, rename, rm, stat, writeFile } from "node:fs/promises";
import { basename, dirname, join, resolve } from "node:path";
import { randomHex } from "../lib/clock.ts";

/**
 * Puts new content into a file so that nobody ever finds half of it, not after a full disk and not after a crash: the
 * content is written beside the file and then takes its place, with the mode and owner of the old one. Links stay: the
 * file behind a symbolic link is replaced, and a file with several names (hard links) is overwritten where it is, because
 * a new file would be new under one name only. There, and where the folder takes no new file, a failed write puts the
 * old content back. Other attributes (access lists) are those of a new file in the folder.
 */
export async function saveFile(path: string, content: string | Uint8Array): Promise<void> {
  const target = realPath(path);
  const old = await statIfThere(target);
  // A file that may not be written is not to be replaced either.
  if (old) await access(target, constants.W_OK);
  if (old && old.nlink > 1) return overwrite(target, content);
  const aside = join(dirname(target), `.tiller-${randomHex(12)}.tmp`);
  const file = await openAside(aside, old);
  if (!file) return overwrite(target, content);
  try {
    await writeAndClose(file, content);
    await rename(aside, target);
  } catch (error) {
    await rm(aside, { force: true });
    // A mount point cannot be replaced, and on Windows neither can a file that somebody has open.
    if (old && ["EBUSY", "EPERM", "EXDEV"].includes(codeOf(error))) return overwrite(target, content);
    throw error;
  }
}

/** The same file under all its symbolic names. Links and folders are followed as far as they lead, also to something new. */
export function realPath(path: string, linksLeft = 40): string {
  try {
    return realpathSync.native(path);
  } catch {
    const parent = dirname(path);
    if (parent === path || linksLeft === 0) return path;
    const target = linkTarget(path);
    if (target === undefined) return join(realPath(parent, linksLeft), basename(path));
    return realPath(resolve(realPath(parent, linksLeft), target), linksLeft - 1);
  }
}

function linkTarget(path: string): string | undefined {
  try {
    return readlinkSync(path);
  } catch {
    return undefined;
  }
}

/** An empty file with the mode and owner of the old one; undefined when that cannot be had. */
async function openAside(path: string, old: Stats | undefined): Promise<FileHandle | undefined> {
  let file: FileHandle;
  try {
    file = await open(path, "wx");
  } catch (error) {
    // With an old file there is another way; without, the folder's refusal is the answer.
    if (old) return undefined;
    throw error;
  }
  if (!old) return file;
  try {
    const mine = await file.stat();
    if (mine.uid !== old.uid || mine.gid !== old.gid) await file.chown(old.uid, old.gid);
    // After chown, which takes special bits away.
    await file.chmod(old.mode & 0o7777);
    return file;
  } catch {
    await file.close();
    await rm(path, { force: true });
    return undefined;
  }
}

async function writeAndClose(file: FileHandle, content: string | Uint8Array): Promise<void> {
  try {
    await file.writeFile(content);
  } finally {
    await file.close();
  }
}

async function overwrite(path: string, content: string | Uint8Array): Promise<void> {
  const old = await readFile(path).catch(() => undefined);
  try {
    await writeFile(path, content);
  } catch (error) {
    // The disk is full: the room of the old content has just become free.
    if (old && ["ENOSPC", "EDQUOT", "EFBIG", "EIO"].includes(codeOf(error))) await writeFile(path, old);
    throw error;
  }
}

/** By what a file is known to be the same as before. */
export type FileState = Pick<Stats, "ino" | "size" | "mtimeMs">;

export async function hasChanged(path: string, before: FileState): Promise<boolean> {
  const now = await stat(path);
  return now.ino !== before.ino || now.size !== before.size || now.mtimeMs !== before.mtimeMs;
}

async function statIfThere(path: string): Promise<Stats | undefined> {
  try {
    return await stat(path);
  } catch (error) {
    if (codeOf(error) === "ENOENT") return undefined;
    throw error;
  }
}

function codeOf(error: unknown): string {
  return (error as NodeJS.ErrnoException).code ?? "";
}
