import { isUtf8 } from "node:buffer";
import { throwIfAborted } from "../lib/abort.ts";

/** A stretch of lines out of a text of any size, read in one pass and bounded memory. */

/** Where bytes come from: a file, or something that was made of one. */
export interface ByteSource {
  /** Fills the beginning of `into`; 0 at the end. */
  read(into: Buffer): Promise<number>;
}

export interface WindowRequest {
  /** Counts from 0. */
  startLine: number;
  /** How many lines are wanted; Infinity for the rest of the file. */
  lineCount: number;
  /** No more than a little over this is kept; enough to see that it is too much. */
  maxBytes: number;
  /** How far behind what is kept lines are still counted. */
  maxCountedBytes: number;
}

export interface TextWindow {
  /** The wanted lines, or their beginning when they are more than maxBytes. */
  text: string;
  /** Of the whole file, or what was counted of it. */
  totalLines: number;
  /** False when the counting stopped before the end: the numbers here are then too low. */
  complete: boolean;
  /** Of the wanted lines. */
  wantedBytes: number;
  /** Of the first wanted line, newline not counted. */
  firstLineBytes: number;
  /** Some bytes were no UTF-8 and stand as U+FFFD. */
  damaged: boolean;
}

const CHUNK_BYTES = 256 * 1024;
const NEWLINE = 10;
/** One byte shows that the limit is passed, a second that it was not only by the closing newline. */
const PROOF_BYTES = 2;

export async function readTextWindow(
  source: ByteSource,
  request: WindowRequest,
  signal: AbortSignal,
): Promise<TextWindow> {
  const { startLine, lineCount, maxBytes, maxCountedBytes } = request;
  const chunk = Buffer.allocUnsafe(CHUNK_BYTES);
  const kept: Buffer[] = [];
  let room = maxBytes + PROOF_BYTES;
  let position = 0;
  let newlines = 0;
  let lastByte = NEWLINE;
  // Offsets in the file, known once they are passed.
  let start = startLine === 0 ? 0 : undefined;
  let firstLineEnd: number | undefined;
  let end: number | undefined;
  let fullAt: number | undefined;
  let complete = true;

  for (;;) {
    throwIfAborted(signal);
    const bytesRead = await source.read(chunk);
    if (bytesRead === 0) break;
    const bytes = chunk.subarray(0, bytesRead);
    if (firstLineEnd === undefined || (Number.isFinite(lineCount) && end === undefined)) {
      for (let i = bytes.indexOf(NEWLINE); i !== -1; i = bytes.indexOf(NEWLINE, i + 1)) {
        newlines += 1;
        if (newlines === startLine) start = position + i + 1;
        if (newlines === startLine + 1) firstLineEnd = position + i;
        if (newlines === startLine + lineCount) end = position + i + 1;
      }
    } else {
      newlines += countNewlines(bytes);
    }
    if (start !== undefined && room > 0) {
      const from = Math.max(0, start - position);
      const part = bytes.subarray(from, Math.min(from + room, (end ?? Infinity) - position));
      kept.push(Buffer.from(part));
      room -= part.length;
      if (end !== undefined) room = 0;
    }
    position += bytesRead;
    lastByte = bytes[bytesRead - 1]!;
    if (room === 0) fullAt ??= position;
    if (fullAt !== undefined && position - fullAt >= maxCountedBytes) {
      complete = false;
      break;
    }
  }

  const from = start ?? position;
  const keptBytes = Buffer.concat(kept);
  return {
    text: keptBytes.toString("utf8"),
    totalLines: newlines + (lastByte === NEWLINE ? 0 : 1),
    complete,
    wantedBytes: (end ?? position) - from,
    firstLineBytes: (firstLineEnd ?? position) - from,
    damaged: !isUtf8(wholeCharacters(keptBytes)),
  };
}

/** A plain loop: measured, it is quicker than a call of indexOf per line. */
function countNewlines(bytes: Buffer): number {
  const { length } = bytes;
  let count = 0;
  for (let i = 0; i < length; i++) if (bytes[i] === NEWLINE) count += 1;
  return count;
}

/** Without a character at the end that may only have been cut off. */
export function wholeCharacters(bytes: Buffer): Buffer {
  for (let back = 1; back <= Math.min(3, bytes.length); back++) {
    const byte = bytes[bytes.length - back]!;
    if ((byte & 0xc0) === 0x80) continue;
    const length = byte >= 0xf0 ? 4 : byte >= 0xe0 ? 3 : byte >= 0xc0 ? 2 : 1;
    return length > back ? bytes.subarray(0, bytes.length - back) : bytes;
  }
  return bytes;
}
