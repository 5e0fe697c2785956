import { closeSync, fstatSync, openSync, readSync } from "node:fs";
import type { SessionEntry } from "@tiller/protocol/session-entry";

/** Reads a session file from a place on, while somebody else may still be adding to it. */

export interface EntriesFrom {
  fromByte: number;
  /** Behind the last whole line that was read. */
  nextByte: number;
  /** The place was behind the end: it begins at 0. */
  reset: boolean;
  /** Without the header. What cannot be read is left out. */
  entries: SessionEntry[];
}

/** Bytes that can be looked at; a file, or what is kept in memory. */
export interface ByteSource {
  readonly size: number;
  read(from: number, to: number): Buffer;
}

/** One answer holds so much of a long file, and at least one line. */
const MOST_BYTES = 4 * 1024 * 1024;
const LF = 0x0a;

export function entriesFrom(source: ByteSource, wanted: number, most = MOST_BYTES): EntriesFrom {
  const { size } = source;
  const reset = wanted > size;
  const fromByte = reset ? 0 : Math.max(0, Math.floor(wanted));
  let length = most;
  let bytes = source.read(fromByte, Math.min(fromByte + length, size));
  while (bytes.lastIndexOf(LF) < 0 && fromByte + length < size) {
    length *= 2;
    bytes = source.read(fromByte, Math.min(fromByte + length, size));
  }
  const end = bytes.lastIndexOf(LF) + 1;
  const lines = bytes.toString("utf8", 0, end).split("\n");
  return { fromByte, nextByte: fromByte + end, reset, entries: lines.flatMap((line) => entryIn(line) ?? []) };
}

function entryIn(line: string): SessionEntry | undefined {
  if (line === "") return undefined;
  try {
    const value: unknown = JSON.parse(line);
    const isEntry = typeof value === "object" && value !== null && (value as { type?: unknown }).type !== "session";
    return isEntry ? (value as SessionEntry) : undefined;
  } catch {
    return undefined;
  }
}

/** A file that is not there yet has no bytes. */
export function entriesInFile(path: string, wanted: number): EntriesFrom {
  let fd: number;
  try {
    fd = openSync(path, "r");
  } catch {
    return entriesFrom(bytesIn(Buffer.alloc(0)), wanted);
  }
  try {
    const { size } = fstatSync(fd);
    const read = (from: number, to: number): Buffer => {
      const bytes = Buffer.alloc(Math.max(0, to - from));
      return bytes.subarray(0, readSync(fd, bytes, 0, bytes.length, from));
    };
    return entriesFrom({ size, read }, wanted);
  } finally {
    closeSync(fd);
  }
}

export function bytesIn(bytes: Buffer): ByteSource {
  return { size: bytes.length, read: (from, to) => bytes.subarray(from, to) };
}
