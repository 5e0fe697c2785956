import {
  closeSync,
  fchmodSync,
  fchownSync,
  fstatSync,
  openSync,
  readlinkSync,
  readSync,
  realpathSync,
  renameSync,
  rmSync,
  statSync,
  writeSync,
} from "node:fs";
import { dirname, resolve } from "node:path";
import { randomHex } from "../../lib/clock.ts";
import { makeFolder } from "../../lib/make-folder.ts";
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
function roomFor(size: number): Buffer {
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

/**
 * Writes a file from lines (also several in one piece, with line ends between them), under another name first: there is
 * the old one or the whole new one, never half of it. Returns how many bytes it has.
 */
export function writeWholeFile(path: string, lines: Iterable<Buffer | string>): number {
  let fd: number | undefined;
  let temporary: string | undefined;
  try {
    const target = followLinks(path);
    makeFolder(dirname(target));
    const old = statSync(target, { throwIfNoEntry: false });
    const name = `${target}.${randomHex(8)}.tmp`;
    fd = openSync(name, "wx", PRIVATE);
    temporary = name;
    if (old) fchmodSync(fd, old.mode & 0o7777);
    // Others may not give files away, and need not: theirs are their own.
    if (old && process.getuid?.() === 0) fchownSync(fd, old.uid, old.gid);
    const bytes = writeLines(fd, lines);
    const written = fd;
    fd = undefined;
    closeSync(written);
    renameSync(temporary, target);
    return bytes;
  } catch (error) {
    if (fd !== undefined) closeQuietly(fd);
    if (temporary) rmSync(temporary, { force: true });
    throw new SessionFileError("unwritable", `${path} cannot be written: ${reasonOf(error)}`, error);
  }
}

const GATHER_BYTES = 1 << 20;
/** Out of the memory that large files are held in, larger writes are several times slower. */
const WRITE_BYTES = 1024 * 1024;
/** What is larger is not worth a copy. */
const LARGE_BYTES = GATHER_BYTES >> 3;

function writeLines(fd: number, lines: Iterable<Buffer | string>): number {
  const gathered = Buffer.allocUnsafeSlow(GATHER_BYTES);
  let used = 0;
  let total = 0;
  const put = (bytes: Buffer): void => {
    for (let written = 0; written < bytes.length; ) {
      written += writeSync(fd, bytes, written, Math.min(bytes.length - written, WRITE_BYTES));
    }
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
