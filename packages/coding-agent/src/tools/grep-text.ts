import { isUtf8 } from "node:buffer";
import { closeSync, constants, fstatSync, openSync, readSync } from "node:fs";
import { utf16Encoding } from "./binary-file.ts";

/** The text of a file, in blocks of whole lines, up to the first zero byte: what has one is no text. */

/** A longer line is no text; it is counted, but not searched. */
export const MAX_LINE_BYTES = 16 * 1024 * 1024;
/** So much of it is kept, to be shown beside others. */
const KEPT_BYTES = 4096;
const BLOCK_BYTES = 1024 * 1024;
const NEWLINE = 10;

/** For readBlocks. Undefined for what is gone, forbidden, no regular file, or would be waited for. */
export function openQuietly(path: string | Buffer): { file: number; size: number } | undefined {
  let file: number | undefined;
  try {
    // Should a pipe have taken the place of the file, it is opened without anybody at its other end.
    file = openSync(path, constants.O_RDONLY | (constants.O_NONBLOCK ?? 0));
    const found = fstatSync(file);
    if (found.isFile()) return { file, size: found.size };
  } catch {
    return undefined;
  }
  closeSync(file);
  return undefined;
}

/** Whether there is no zero byte in a file, or none in its first so many bytes of text. */
export function isText(path: string | Buffer, bytes = Number.POSITIVE_INFINITY): boolean {
  const opened = openQuietly(path);
  if (!opened) return true;
  try {
    let left = bytes;
    for (const block of readBlocks(opened.file)) {
      if (block.kind === "binary") return false;
      left -= block.bytes;
      if (left <= 0) return true;
    }
    return true;
  } finally {
    closeSync(opened.file);
  }
}

export type TextBlock =
  /** `bytes` is their size as UTF-8, without the mark in front. */
  | { kind: "lines" | "long line"; text: string; bytes: number }
  /** A zero byte; nothing comes after it. */
  | { kind: "binary" };

/** From an open file. Reads without waiting: who has others to think of does so between two blocks. */
export function* readBlocks(file: number): Generator<TextBlock> {
  const line = createPendingLine();
  for (const { bytes, isLast } of utf8Chunks(file)) {
    const zero = bytes.indexOf(0);
    let known = zero < 0 ? bytes : bytes.subarray(0, zero);
    if (line.isTooLong()) {
      const end = known.indexOf(NEWLINE) + 1;
      if (end > 0 || (isLast && zero < 0)) yield line.finish(known.subarray(0, end));
      known = known.subarray(end);
    }
    const cut = isLast ? known.length : known.lastIndexOf(NEWLINE) + 1;
    if (!line.isTooLong() && cut > 0) yield line.finish(known.subarray(0, cut));
    if (zero >= 0) {
      yield { kind: "binary" };
      return;
    }
    line.add(known.subarray(cut));
    if (isLast && line.size() > 0) yield line.finish(known.subarray(0, 0));
  }
}

/** The beginning of a line, or what is worth keeping of it. */
function createPendingLine() {
  let parts: Buffer[] = [];
  let bytes = 0;
  return {
    size: () => bytes,
    isTooLong: () => bytes > MAX_LINE_BYTES,
    add(part: Buffer): void {
      if (part.length === 0) return;
      // The next chunk is read over this one.
      if (bytes <= MAX_LINE_BYTES) parts.push(Buffer.from(part));
      bytes += part.length;
      if (bytes > MAX_LINE_BYTES) parts = [Buffer.concat(parts).subarray(0, KEPT_BYTES)];
    },
    finish(rest: Buffer): TextBlock {
      const isTooLong = bytes > MAX_LINE_BYTES;
      const text = decodeUtf8(Buffer.concat(isTooLong ? parts : [...parts, rest]));
      const block: TextBlock = { kind: isTooLong ? "long line" : "lines", text, bytes: bytes + rest.length };
      parts = [];
      bytes = 0;
      return block;
    },
  };
}

/** What is in the file, as UTF-8 and without the mark in front; the last chunk may be empty. */
function* utf8Chunks(file: number): Generator<{ bytes: Buffer; isLast: boolean }> {
  const chunk = Buffer.allocUnsafe(BLOCK_BYTES);
  let decoder: InstanceType<typeof TextDecoder> | undefined;
  for (let at = 0; ; ) {
    const bytes = chunk.subarray(0, readQuietly(file, chunk, at));
    const isFirst = at === 0;
    const isLast = bytes.length === 0;
    at += bytes.length;
    if (isFirst) {
      const encoding = utf16Encoding(bytes);
      decoder = encoding && new TextDecoder(encoding);
    }
    if (decoder) yield { bytes: Buffer.from(decoder.decode(bytes, { stream: !isLast })), isLast };
    else yield { bytes: isFirst ? withoutMark(bytes) : bytes, isLast };
    if (isLast) return;
  }
}

/** Where a file cannot be read on, it ends. */
function readQuietly(file: number, chunk: Buffer, position: number): number {
  try {
    return readSync(file, chunk, { position });
  } catch {
    return 0;
  }
}

export function withoutMark(bytes: Buffer): Buffer {
  return bytes[0] === 0xef && bytes[1] === 0xbb && bytes[2] === 0xbf ? bytes.subarray(3) : bytes;
}

const REPLACEMENT = Buffer.from("\ufffd");
/** Half of a character, which no set of a pattern holds. */
const NO_CHARACTER = "\udc80";

/** Bytes that are no character become halves of one, to be told from a real replacement character. */
export function decodeUtf8(bytes: Buffer): string {
  const text = bytes.toString("utf8");
  if (!text.includes("\ufffd") || isUtf8(bytes)) return text;
  const parts: string[] = [];
  for (let at = 0; ; ) {
    const next = bytes.indexOf(REPLACEMENT, at);
    const part = next < 0 ? bytes.subarray(at) : bytes.subarray(at, next);
    parts.push(part.toString("utf8").replaceAll("\ufffd", NO_CHARACTER));
    if (next < 0) return parts.join("\ufffd");
    at = next + REPLACEMENT.length;
  }
}
