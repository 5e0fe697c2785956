import { toJson } from "../../lib/wire-json.ts";

/**
 * Frames that wait to be written, as bytes: texts put together of small ones would be what the engine has to clean up most
 * of all, and would stand in memory several times when they are written at last.
 */
export interface Chunk {
  readonly bytes: Buffer;
  length: number;
}

/** What stands around the tokens of one block, and is the same for all of them. */
export interface TokenWrapping {
  readonly head: Buffer;
  readonly tail: Buffer;
}

/** A text of more characters than this is not a token. */
export const LONGEST_TOKEN = 512;

/** More than may wait before producers are held up: all of it goes out in one write. */
const CHUNK_BYTES = 128 * 1024;
/** So many wait to be used again: as many as are in use while a host that is behind reads its answers. */
const MOST_SPARE = 16;
/** A character has at most this many bytes, or, where it is escaped in JSON, the more. */
export const BYTES_PER_CHARACTER = 3;
const ESCAPED_BYTES = 6;
/** Around a token: its quotes, its number, the end of the frame and of the line. */
const MOST_AROUND = 24;

const [LF, QUOTE, DIGIT_ZERO, BACKSLASH, CLOSING, FIRST_PLAIN, LAST_PLAIN] = [10, 34, 48, 92, 125, 32, 126];

export interface Chunks {
  next(): Chunk;
  /** What was in it is with the system. */
  giveBack(chunk: Chunk): void;
}

export function createChunks(): Chunks {
  const spare: Chunk[] = [];
  return {
    next: () => spare.pop() ?? { bytes: Buffer.allocUnsafeSlow(CHUNK_BYTES), length: 0 },
    giveBack(chunk) {
      chunk.length = 0;
      if (spare.length < MOST_SPARE) spare.push(chunk);
    },
  };
}

/** Whether a line of so many characters fits into a chunk that is empty. */
export function fitsChunk(json: string): boolean {
  return json.length * BYTES_PER_CHARACTER < CHUNK_BYTES;
}

/** False when there is no room for it. */
export function putLine(chunk: Chunk, json: string): boolean {
  const { bytes, length } = chunk;
  if (length + json.length * BYTES_PER_CHARACTER >= CHUNK_BYTES) return false;
  const end = length + bytes.write(json, length);
  bytes[end] = LF;
  chunk.length = end + 1;
  return true;
}

/** The frame of a token, its number last of all. This runs once per token. False when there is no room for it. */
export function putToken(chunk: Chunk, { head, tail }: TokenWrapping, text: string, seq: number): boolean {
  const { bytes } = chunk;
  let at = chunk.length;
  if (at + head.length + tail.length + text.length * ESCAPED_BYTES + MOST_AROUND > CHUNK_BYTES) return false;
  bytes.set(head, at);
  at = putText(bytes, at + head.length, text);
  bytes.set(tail, at);
  at = putNumber(bytes, at + tail.length, seq);
  bytes[at] = CLOSING;
  bytes[at + 1] = LF;
  chunk.length = at + 2;
  return true;
}

/** As JSON. Returns where it ends. */
function putText(bytes: Buffer, start: number, text: string): number {
  bytes[start] = QUOTE;
  let at = start + 1;
  for (let i = 0; i < text.length; i++) {
    const unit = text.charCodeAt(i);
    const isPlain = unit >= FIRST_PLAIN && unit <= LAST_PLAIN && unit !== QUOTE && unit !== BACKSLASH;
    if (!isPlain) return start + bytes.write(toJson(text), start);
    bytes[at++] = unit;
  }
  bytes[at] = QUOTE;
  return at + 1;
}

/** Returns where it ends. The engine would keep the text of each number for a while: more memory than what they count. */
function putNumber(bytes: Buffer, start: number, number: number): number {
  let digits = 1;
  for (let power = 10; power <= number; power *= 10) digits++;
  let rest = number;
  for (let at = start + digits - 1; at >= start; at--) {
    const tenth = Math.floor(rest / 10);
    bytes[at] = DIGIT_ZERO + (rest - tenth * 10);
    rest = tenth;
  }
  return start + digits;
}
