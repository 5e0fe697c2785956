import {
  closeSync,
  fchmodSync,
  fchownSync,
  fstatSync,
  openSync,
  readdirSync,
  readlinkSync,
  readSync,
  realpathSync,
  renameSync,
  rmSync,
  statSync,
  writeSync,
} from "node:fs";
import { basename, dirname, join, resolve } from "node:path";
import { randomHex } from "../../lib/clock.ts";
import { makePrivateFolder } from "../../lib/make-folder.ts";
import { codeOf, notAFile, reasonOf, SessionFileError } from "./file-errors.ts";

/** Session files read and written as a whole. Lines are added to them by `session-file.ts`. */

/** For their owner only. */
export const PRIVATE = 0o600;
export const LINE_END = 0x0a;

/** Undefined when there is no such file. Reads what it holds at this moment. */
export function readSessionBytes(path: string): Buffer | undefined {
  try {
    const found = statSync(path, { throwIfNoEntry: false });
    if (!found) return undefined;
    // Asked before it is opened: a pipe would keep us waiting.
    if (!found.isFile()) throw notAFile(path, found);
    return readAll(path);
  } catch (error) {
    if (error instanceof SessionFileError) throw error;
    throw new SessionFileError("unreadable", `The session file ${path} cannot be read: ${reasonOf(error)}`, error);
  }
}

/** As far as it is used here; the types of Node leave it to those of browsers. */
declare const WebAssembly: { Memory: new (size: { initial: number }) => { readonly buffer: ArrayBuffer } };
const WASM_PAGE = 64 * 1024;

/**
 * A large file is held in the memory of WebAssembly, which V8 keeps out of forks: with 34 MB in an ordinary buffer
 * starting a child process took 4 to 8 ms instead of 1.4.
 */
export function roomFor(size: number): Buffer {
  if (size < 1024 * 1024) return Buffer.allocUnsafeSlow(size);
  try {
    return Buffer.from(new WebAssembly.Memory({ initial: Math.ceil(size / WASM_PAGE) }).buffer, 0, size);
  } catch {
    // It wants a lot of address space, which may be limited.
    return Buffer.allocUnsafeSlow(size);
  }
}

/** As much as one call of the system takes on every platform. */
const READ_AT_ONCE = 1 << 30;

function readAll(path: string): Buffer {
  const fd = openSync(path, "r");
  try {
    const { size } = fstatSync(fd);
    if (size > 2 * READ_AT_ONCE) {
      throw new SessionFileError(
        "too_large",
        `The session file ${path} has ${size} bytes; at most 2 GB can be opened.`,
      );
    }
    const bytes = roomFor(size);
    let length = 0;
    for (let got = -1; got !== 0 && length < size; length += got) {
      got = readSync(fd, bytes, length, Math.min(size - length, READ_AT_ONCE), length);
    }
    return bytes.subarray(0, length);
  } finally {
    closeSync(fd);
  }
}

/** A file under another name that takes the place of one when it is whole. */
export interface NewFile {
  write(bytes: Buffer): void;
  /** There is the old one or the whole new one, never half of it. */
  putInPlace(): void;
  /** It is not wanted any more. Nothing happens when it is in its place. */
  discard(): void;
}

/** Throws. A file that must not be written may lie in a folder where a new one can take its place. */
export function checkWritable(path: string): void {
  closeSync(openSync(path, "r+"));
}

/** What a new file has behind the name of the one whose place it takes. */
export const UNFINISHED_END = /^\.[0-9a-f]{8}\.tmp$/;

/** Takes away new files that a crash has kept from their place. Only for who has the lock of the session. */
export function removeLeftovers(path: string): void {
  const target = followLinks(path);
  const [folder, name] = [dirname(target), basename(target)];
  for (const other of readdirSync(folder)) {
    const isOurs = other.startsWith(name) && UNFINISHED_END.test(other.slice(name.length));
    if (isOurs) rmSync(join(folder, other), { force: true });
  }
}

/** Only `beginNewFile` and what it gives may throw; whoever cannot go on discards it. */
export function beginNewFile(path: string): NewFile {
  const target = followLinks(path);
  makePrivateFolder(dirname(target));
  const old = statSync(target, { throwIfNoEntry: false });
  const temporary = `${target}.${randomHex(8)}.tmp`;
  let fd: number | undefined = openSync(temporary, "wx", PRIVATE);
  let isThere = true;
  const close = (): void => {
    const open = fd;
    fd = undefined;
    if (open !== undefined) closeSync(open);
  };
  const file: NewFile = {
    write(bytes) {
      for (let written = 0; written < bytes.length; ) {
        written += writeSync(fd!, bytes, written, Math.min(bytes.length - written, WRITE_BYTES));
      }
    },
    putInPlace() {
      close();
      renameSync(temporary, target);
      isThere = false;
    },
    discard() {
      if (fd !== undefined) closeQuietly(fd);
      fd = undefined;
      if (isThere) rmSync(temporary, { force: true });
      isThere = false;
    },
  };
  try {
    if (old) fchmodSync(fd, old.mode & 0o7777);
    // Others may not give files away, and need not: theirs are their own.
    if (old && process.getuid?.() === 0) fchownSync(fd, old.uid, old.gid);
  } catch (error) {
    file.discard();
    throw error;
  }
  return file;
}

/**
 * Writes a file from lines (also several in one piece, with line ends between them), under another name first. Returns
 * how many bytes it has.
 */
export function writeWholeFile(path: string, lines: Iterable<Buffer | string>): number {
  let file: NewFile | undefined;
  try {
    file = beginNewFile(path);
    const bytes = writeLines(file, lines);
    file.putInPlace();
    return bytes;
  } catch (error) {
    file?.discard();
    throw new SessionFileError("unwritable", `${path} cannot be written: ${reasonOf(error)}`, error);
  }
}

const GATHER_BYTES = 1 << 20;
/** Out of the memory that large files are held in, larger writes are several times slower. */
const WRITE_BYTES = 1024 * 1024;
/** What is larger is not worth a copy. */
const LARGE_BYTES = GATHER_BYTES >> 3;

function writeLines(file: NewFile, lines: Iterable<Buffer | string>): number {
  const gathered = Buffer.allocUnsafeSlow(GATHER_BYTES);
  let used = 0;
  let total = 0;
  const put = (bytes: Buffer): void => {
    file.write(bytes);
    total += bytes.length;
  };
  const putGathered = (): void => {
    put(gathered.subarray(0, used));
    used = 0;
  };
  for (const line of lines) {
    // UTF-8 needs at most three bytes for each unit of a string.
    const most = typeof line === "string" ? line.length * 3 : line.length;
    if (used + most + 1 > GATHER_BYTES) putGathered();
    if (most > LARGE_BYTES) {
      putGathered();
      put(typeof line === "string" ? Buffer.from(line) : line);
    } else {
      used += typeof line === "string" ? gathered.write(line, used) : line.copy(gathered, used);
    }
    gathered[used++] = LINE_END;
  }
  putGathered();
  return total;
}

/** The file that a link stands for, also when it is not there yet: the link itself must stay. */
export function followLinks(path: string): string {
  try {
    return realpathSync(path);
  } catch (error) {
    if (codeOf(error) !== "ENOENT") throw error;
  }
  try {
    return followLinks(resolve(dirname(path), readlinkSync(path)));
  } catch (error) {
    if (!["EINVAL", "ENOENT"].includes(codeOf(error))) throw error;
    return path;
  }
}

export function closeQuietly(fd: number): void {
  try {
    closeSync(fd);
  } catch {
    // The descriptor is gone either way; what was lost on the way to the disk is the sync's to tell.
  }
}
