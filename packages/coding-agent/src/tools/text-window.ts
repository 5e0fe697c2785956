import type { FileHandle } from "node:fs/promises";
import { throwIfAborted } from "../lib/abort.ts";

/** A stretch of lines out of a file of any size, read in one pass and bounded memory. */

export interface WindowRequest {
  /** Counts from 0. */
  startLine: number;
  /** How many lines are wanted; Infinity for the rest of the file. */
  lineCount: number;
  /** No more than a little over this is kept; enough to see that it is too much. */
  maxBytes: number;
}

export interface TextWindow {
  /** The wanted lines, or their beginning when they are more than maxBytes. */
  text: string;
  /** Of the whole file. */
  totalLines: number;
  /** Of the wanted lines. */
  wantedBytes: number;
  /** Of the first wanted line, newline not counted. */
  firstLineBytes: number;
}

const CHUNK_BYTES = 256 * 1024;
const NEWLINE = 10;
/** One byte shows that the limit is passed, a second that it was not only by the closing newline. */
const PROOF_BYTES = 2;

export async function readTextWindow(
  file: FileHandle,
  request: WindowRequest,
  signal: AbortSignal,
): Promise<TextWindow> {
  const { startLine, lineCount, maxBytes } = request;
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

  for (;;) {
    throwIfAborted(signal);
    const { bytesRead } = await file.read(chunk, 0, CHUNK_BYTES);
    if (bytesRead === 0) break;
    const bytes = chunk.subarray(0, bytesRead);
    for (let i = bytes.indexOf(NEWLINE); i !== -1; i = bytes.indexOf(NEWLINE, i + 1)) {
      newlines += 1;
      if (newlines === startLine) start = position + i + 1;
      if (newlines === startLine + 1) firstLineEnd = position + i;
      if (newlines === startLine + lineCount) end = position + i + 1;
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
  }

  const from = start ?? position;
  return {
    text: Buffer.concat(kept).toString("utf8"),
    totalLines: newlines + (lastByte === NEWLINE ? 0 : 1),
    wantedBytes: (end ?? position) - from,
    firstLineBytes: (firstLineEnd ?? position) - from,
  };
}
