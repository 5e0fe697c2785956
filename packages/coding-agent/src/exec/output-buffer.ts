import { closeSync, openSync, rmSync, writeSync } from "node:fs";
import { tmpdir } from "node:os";
import { resolve } from "node:path";
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
  /** Takes a copy. */
  write(chunk: Uint8Array): void;
  tail(): OutputTail;
  /** What was written behind a place in the output, counted in bytes; less when that is no longer in memory. */
  since(place: number): { bytes: Buffer; place: number };
  /** The file with everything so far, if there is one. */
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
  const file = createSpillFile(options.spillFolder, options.maxSpillBytes ?? DEFAULT_MAX_SPILL);
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
      if (totalBytes === 0) return NOTHING;
      const complete = totalBytes <= options.keepBytes;
      const kept = ring.bytes();
      const text = cleanText(complete ? kept.toString("utf8") : decodeCutUtf8(kept));
      return { text, complete, totalBytes, totalLines: lines.total(), lastLineBytes: lines.lastLength() };
    },
    since(place) {
      const bytes = ring.bytes(totalBytes - place);
      return { bytes, place: totalBytes - bytes.length };
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

const NOTHING: OutputTail = { text: "", complete: true, totalBytes: 0, totalLines: 0, lastLineBytes: 0 };

const FIRST_ALLOCATION = 4096;

/** The last `capacity` bytes. Starts small, because most outputs are, or empty. */
function createRing(capacity: number) {
  let store = Buffer.alloc(0);
  let used = 0;
  let next = 0;

  /** A copy of the last ones. */
  const bytes = (most = used): Buffer => {
    const length = Math.min(most, used);
    const copy = Buffer.allocUnsafe(length);
    const fromEnd = Math.min(length, used === store.length ? next : used);
    store.copy(copy, length - fromEnd, (used === store.length ? next : used) - fromEnd);
    store.copy(copy, 0, store.length - (length - fromEnd));
    return copy;
  };
  const growFor = (length: number) => {
    if (store.length === capacity || used + length <= store.length) return;
    const larger = Buffer.alloc(Math.min(capacity, Math.max(FIRST_ALLOCATION, store.length * 2, used + length)));
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
  let count = countSparse;
  return {
    write(chunk: Uint8Array) {
      const found = count(chunk);
      // The next chunk is most likely like this one.
      count = found * DENSE_BYTES > chunk.length ? countDense : countSparse;
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

/** Lines shorter than this are counted faster by looking at every byte. Measured. */
const DENSE_BYTES = 32;

function countSparse(chunk: Uint8Array): number {
  let found = 0;
  for (let at = chunk.indexOf(NEWLINE); at !== -1; at = chunk.indexOf(NEWLINE, at + 1)) found += 1;
  return found;
}

/** Four bytes at a time: each lane of `lanes` counts for one of them, and holds up to 255. */
function countDense(chunk: Uint8Array): number {
  const { buffer, byteOffset, length } = chunk;
  let found = 0;
  let at = 0;
  if (byteOffset % 4 === 0) {
    const words = new Int32Array(buffer, byteOffset, length >> 2);
    for (let word = 0; word < words.length; ) {
      const end = Math.min(words.length, word + 255);
      let lanes = 0;
      for (; word < end; word++) {
        const other = words[word]! ^ 0x0a0a0a0a;
        lanes = (lanes + ((~(((other & 0x7f7f7f7f) + 0x7f7f7f7f) | 0 | other) >>> 7) & 0x01010101)) | 0;
      }
      found += (lanes & 255) + ((lanes >>> 8) & 255) + ((lanes >>> 16) & 255) + (lanes >>> 24);
    }
    at = words.length * 4;
  }
  for (; at < length; at++) if (chunk[at] === NEWLINE) found += 1;
  return found;
}

/** Small chunks are written together. */
const BATCH_BYTES = 256 * 1024;

/** Synchronous writes: they go to the page cache in microseconds, and a slow disk slows the program that prints, as it should. */
function createSpillFile(folder: string | undefined, maxBytes: number) {
  let path: string | undefined;
  let fd: number | undefined;
  let batch = Buffer.alloc(0);
  let batched = 0;
  let taken = 0;
  let refused = false;

  const close = () => {
    flush();
    if (fd !== undefined) closeSync(fd);
    fd = undefined;
    batch = Buffer.alloc(0);
  };
  const remove = () => {
    if (path !== undefined) rmSync(path, { force: true });
    path = undefined;
  };
  /** The copy on disk is a service: without room for it the command goes on, and a part of it would only take more room. */
  const giveUp = () => {
    refused = true;
    batched = 0;
    close();
    remove();
  };
  const write = (bytes: Uint8Array) => {
    if (fd === undefined) return;
    try {
      writeAll(fd, bytes);
    } catch (error) {
      if (!isDiskError(error)) throw error;
      giveUp();
    }
  };
  const flush = () => {
    const length = batched;
    batched = 0;
    if (length > 0) write(batch.subarray(0, length));
  };
  const add = (chunk: Uint8Array) => {
    if (batched + chunk.length > batch.length) flush();
    if (chunk.length > batch.length) return write(chunk);
    batch.set(chunk, batched);
    batched += chunk.length;
  };
  const append = (chunk: Uint8Array) => {
    if (fd === undefined) return;
    const room = maxBytes - taken;
    taken += chunk.length;
    add(room < chunk.length ? chunk.subarray(0, room) : chunk);
    if (room >= chunk.length) return;
    add(Buffer.from(`\n[Output beyond ${maxBytes} bytes is not kept]\n`));
    close();
  };

  return {
    isOpen: () => path !== undefined || refused,
    path() {
      flush();
      return path;
    },
    append,
    close,
    remove,
    open(begin: Uint8Array) {
      const name = resolve(folder ?? tmpdir(), `tiller-bash-${randomHex(16)}.log`);
      try {
        fd = openSync(name, "wx", 0o600);
        path = name;
        batch = Buffer.allocUnsafe(BATCH_BYTES);
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
