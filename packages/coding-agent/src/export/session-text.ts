import { isAscii } from "node:buffer";
import { closeSync, openSync, readSync } from "node:fs";
import type { EntryLog } from "../session/store/entry-log.ts";

/** The lines of a session as text, in pieces of whole lines: a long session is never in memory as a whole. */
export type LinePieces = Iterable<string>;

const PIECE_BYTES = 256 * 1024;
const LF = 0x0a;

/** Throws when the file cannot be read. */
export function* linesOfFile(path: string): Generator<string> {
  const fd = openSync(path, "r");
  try {
    let room = Buffer.allocUnsafeSlow(2 * PIECE_BYTES);
    // So much of it is the beginning of a line that goes on in what is read next.
    let begun = 0;
    for (;;) {
      // A line may be longer than any piece.
      if (room.length - begun < PIECE_BYTES) room = Buffer.concat([room.subarray(0, begun)], 2 * room.length);
      const read = readSync(fd, room, begun, PIECE_BYTES, null);
      if (read === 0) break;
      const filled = begun + read;
      const newest = room.subarray(begun, filled).lastIndexOf(LF);
      const end = newest < 0 ? 0 : begun + newest + 1;
      if (end > 0) yield textOf(room.subarray(0, end));
      room.copy(room, 0, end, filled);
      begun = filled - end;
    }
    if (begun > 0) yield textOf(room.subarray(0, begun));
  } finally {
    closeSync(fd);
  }
}

/** Most are plain ASCII, which need not be decoded. */
function textOf(bytes: Buffer): string {
  return bytes.toString(isAscii(bytes) ? "latin1" : "utf8");
}

/** The entries that there are now; what is added meanwhile is left out. */
export function linesOfLog(log: EntryLog): LinePieces {
  return piecesOf(log, log.length);
}

function* piecesOf(log: EntryLog, length: number): Generator<string> {
  for (let at = 0; at < length; ) {
    const first = log.line(at);
    at += 1;
    if (typeof first === "string") {
      yield `${first}\n`;
      continue;
    }
    // Lines of a file lie side by side: many of them are one text.
    let end = first.length;
    for (; at < length && end < PIECE_BYTES; at++) {
      const next = log.line(at);
      const isNext = typeof next !== "string" && next.buffer === first.buffer;
      if (!isNext || next.byteOffset !== first.byteOffset + end + 1) break;
      end += 1 + next.length;
    }
    yield `${textOf(Buffer.from(first.buffer, first.byteOffset, end))}\n`;
  }
}
