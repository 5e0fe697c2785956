import { closeSync, openSync, rmSync, writeSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { randomHex } from "../lib/clock.ts";
import { cleanText, decodeCutUtf8 } from "./clean-text.ts";

/** Keeps the end of an output of any size in bounded memory; the whole of a large one goes to a file. Bytes are cleaned only when read. */

export interface OutputBufferOptions {
  /** How much of the end stays in memory. */
  keepBytes: number;
  /** From which size on everything is also written to a file. At most keepBytes, so that the file has the beginning too. */
  spillAfterBytes: number;
  spillFolder?: string;
  /** A program that never stops printing must not fill the disk. */
  maxSpillBytes?: number;
}

export interface OutputTail {
  /** Clean text of what is kept. */
  text: string;
  /** False when the beginning is no longer in memory; the first line of `text` is then most likely a part of one. */
  complete: boolean;
  /** Of everything written, before cleaning. */
  totalBytes: number;
  totalLines: number;
  /** Size of the last line, before cleaning. */
  lastLineBytes: number;
}

export interface OutputBuffer {
  write(chunk: Uint8Array): void;
  tail(): OutputTail;
  /** The file with everything, if there is one. */
  spillPath(): string | undefined;
  /** Makes sure there is a file and names it; undefined when the disk refuses. Only for an output that is complete in memory or spilled. */
  spill(): string | undefined;
  /** Ends the writing. The file stays only when somebody was told of it. */
  close(fate: "keep-file" | "remove-file"): void;
}

const DEFAULT_MAX_SPILL = 1024 ** 3;

export function createOutputBuffer(options: OutputBufferOptions): OutputBuffer {
  const ring = createRing(options.keepBytes);
  const lines = createLineCounter();
  const file = createSpillFile(options.spillFolder ?? tmpdir(), options.maxSpillBytes ?? DEFAULT_MAX_SPILL);
  const spillAfter = Math.min(options.spillAfterBytes, options.keepBytes);
  let totalBytes = 0;

  return {
    write(chunk) {
      totalBytes += chunk.length;
      lines.write(chunk);
      // Before the ring takes the chunk it still holds everything so far.
      if (totalBytes > spillAfter && !file.isOpen()) file.open(ring.bytes());
      file.append(chunk);
      ring.write(chunk);
    },
    tail() {
      const complete = totalBytes <= options.keepBytes;
      const kept = ring.bytes();
      const text = cleanText(complete ? kept.toString("utf8") : decodeCutUtf8(kept));
      return { text, complete, totalBytes, totalLines: lines.total(), lastLineBytes: lines.lastLength() };
    },
    spillPath: file.path,
    spill() {
      if (!file.isOpen()) file.open(ring.bytes());
      return file.path();
    },
    close(fate) {
      file.close();
      if (fate === "remove-file") file.remove();
    },
  };
}

const FIRST_ALLOCATION = 4096;

/** The last `capacity` bytes. Starts small, because most outputs are. */
function createRing(capacity: number) {
  let store = Buffer.alloc(Math.min(FIRST_ALLOCATION, capacity));
  let used = 0;
  let next = 0;

  const bytes = (): Buffer => {
    if (used < store.length) return Buffer.from(store.subarray(0, used));
    return Buffer.concat([store.subarray(next), store.subarray(0, next)]);
  };
  const growFor = (length: number) => {
    if (store.length === capacity || used + length <= store.length) return;
    const larger = Buffer.alloc(Math.min(capacity, Math.max(store.length * 2, used + length)));
    bytes().copy(larger);
    store = larger;
    next = used % store.length;
  };

  return {
    bytes,
    write(chunk: Uint8Array) {
      growFor(chunk.length);
      const kept = chunk.length > store.length ? chunk.subarray(chunk.length - store.length) : chunk;
      const untilEnd = Math.min(kept.length, store.length - next);
      store.set(kept.subarray(0, untilEnd), next);
      store.set(kept.subarray(untilEnd), 0);
      next = (next + kept.length) % store.length;
      used = Math.min(store.length, used + kept.length);
    },
  };
}

const NEWLINE = 10;

function createLineCounter() {
  let newlines = 0;
  /** Of the line being written, and of the finished one before it. */
  let open = 0;
  let finished = 0;
  return {
    write(chunk: Uint8Array) {
      // A plain loop with its length outside: measured, calls of indexOf and a length in the condition are slower.
      const { length } = chunk;
      let found = 0;
      for (let i = 0; i < length; i++) if (chunk[i] === NEWLINE) found += 1;
      newlines += found;
      if (found === 0) {
        open += chunk.length;
        return;
      }
      const last = chunk.lastIndexOf(NEWLINE);
      finished = found === 1 ? open + last : last - chunk.lastIndexOf(NEWLINE, last - 1) - 1;
      open = chunk.length - 1 - last;
    },
    total: () => newlines + (open > 0 ? 1 : 0),
    lastLength: () => (open > 0 ? open : finished),
  };
}

/** Synchronous writes: they go to the page cache in microseconds, and a slow disk slows the program that prints, as it should. */
function createSpillFile(folder: string, maxBytes: number) {
  let path: string | undefined;
  let fd: number | undefined;
  let written = 0;
  let refused = false;

  const close = () => {
    if (fd !== undefined) closeSync(fd);
    fd = undefined;
  };
  /** The copy on disk is a service: without room for it the command goes on. */
  const giveUp = () => {
    refused = true;
    path = undefined;
    close();
  };
  const append = (chunk: Uint8Array) => {
    if (fd === undefined) return;
    const room = maxBytes - written;
    try {
      if (room > 0) writeAll(fd, room < chunk.length ? chunk.subarray(0, room) : chunk);
      if (room < chunk.length) {
        writeAll(fd, Buffer.from(`\n[Output beyond ${maxBytes} bytes is not kept]\n`));
        close();
      }
      written += chunk.length;
    } catch (error) {
      if (!isDiskError(error)) throw error;
      giveUp();
    }
  };

  return {
    isOpen: () => path !== undefined || refused,
    path: () => path,
    append,
    close,
    remove() {
      if (path !== undefined) rmSync(path, { force: true });
      path = undefined;
    },
    open(begin: Uint8Array) {
      const name = join(folder, `tiller-bash-${randomHex(16)}.log`);
      try {
        fd = openSync(name, "wx", 0o600);
        path = name;
        append(begin);
      } catch (error) {
        if (!isDiskError(error)) throw error;
        giveUp();
      }
    },
  };
}

function writeAll(fd: number, bytes: Uint8Array): void {
  for (let done = 0; done < bytes.length; ) done += writeSync(fd, bytes, done);
}

function isDiskError(error: unknown): boolean {
  return error instanceof Error && "code" in error;
}
