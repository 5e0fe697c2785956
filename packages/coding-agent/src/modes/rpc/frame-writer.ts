import { close, createWriteStream, fstatSync, open, write, writeSync, writev } from "node:fs";
import { Socket } from "node:net";
import type { Writable } from "node:stream";
import { MAX_FRAME_BYTES } from "@tiller/protocol/frame-limits";
import { toJson } from "../../lib/wire-json.ts";
import {
  BYTES_PER_CHARACTER,
  type Chunk,
  createChunks,
  fitsChunk,
  putLine,
  putToken,
  type TokenWrapping,
} from "./frame-bytes.ts";

/**
 * The only user of stdout. Frames leave in the order they were given, one write for all that was given in one turn of
 * the event loop, one write under way at a time; whoever produces a lot asks for `room` and waits.
 */
export interface FrameWriter {
  frame(value: object): void;
  /** A frame that is already JSON, made by `toJson`. */
  raw(json: string): void;
  /** The frame of a token, no longer than `LONGEST_TOKEN`, with its number. */
  token(wrapping: TokenWrapping, text: string, seq: number): void;
  /** Set once the host has negotiated that long frames come in chunks. */
  cutter: FrameCutter | undefined;
  /** Somebody is waiting for what was given: it is not kept until the end of the turn. */
  hurry(): void;
  /**
   * One frame whose JSON is made while it is written: a long answer never stands in memory as a whole. The next piece is
   * asked for when the one before is with the system, so that its maker may use its buffer again.
   */
  pieces(json: Iterable<Buffer | string>): void;
  /** Frames that are already JSON, one after the other, with nothing in between. */
  lines(json: Iterable<string>): void;
  /** Called before anything leaves the process. */
  beforeWrite: (() => void) | undefined;
  /** The host has not yet taken what was written before. */
  readonly busy: boolean;
  /** Bytes that wait for the host. */
  readonly waiting: number;
  /** Undefined when there is room; else resolves when there is. */
  room(): undefined | Promise<void>;
  /** The same for answers: a host may send a lot of commands before it reads. */
  roomForAnswers(): undefined | Promise<void>;
  /** Resolves when no more than so many bytes wait. */
  drainedTo(bytes: number): Promise<void>;
  /** Resolves when everything has been taken by the system. */
  flushed(): Promise<void>;
}

/** A frame as lines, line ends included: itself when it is short enough. */
export type FrameCutter = (pieces: Iterable<Buffer | string>) => Generator<Buffer | string>;

/** More than this in wait and producers are held up. One pipe buffer: enough to keep the pipe full. */
const ROOM = 64 * 1024;
/** As much as is worth a write of its own. */
const MUCH = 16 * 1024;
/** Far more, because a host that writes all its commands before it reads must not be locked out. */
const ROOM_FOR_ANSWERS = 32 * 1024 * 1024;

/** As they were at the start: where extensions are loaded others cannot reach stdout through them any more. */
const OWN = { open, close, write, writev };
const ownWriteSync = writeSync;

/** So many characters of a long answer are put together at a time. */
const PIECE_LENGTH = 64 * 1024;

/** Until a full pipe is tried again, by who has nothing else to do. */
const FULL_PIPE_MS = 5;

/** What waits: frames, one long frame, or an answer that is made while it is written. */
type Waiting = Chunk | Buffer | Iterator<Buffer | string>;

export function createFrameWriter(output: Writable, onGone: (error: Error) => void): FrameWriter {
  /** What stands before the open chunk, in the order of writing. */
  let queue: Waiting[] = [];
  const chunks = createChunks();
  /** Frames are added to it. */
  let open = chunks.next();
  /** Bytes of all but the answers that are made while they are written. */
  let waiting = 0;
  /** How many of those are in the queue. */
  let answers = 0;
  let busy = false;
  let scheduled = false;
  let gone = false;
  let waiters: (() => void)[] = [];
  /** Those who wait until only so many bytes do. */
  let levels: { bytes: number; resolve(): void }[] = [];
  let cutter: FrameCutter | undefined;
  let beforeWrite: (() => void) | undefined;

  const wake = (): void => {
    const waking = waiters;
    waiters = [];
    for (const resolve of waking) resolve();
  };
  const wakeLevels = (): void => {
    const isReached = ({ bytes }: { bytes: number }): boolean => gone || waiting <= bytes;
    const reached = levels.filter(isReached);
    if (reached.length === 0) return;
    levels = levels.filter((level) => !isReached(level));
    for (const { resolve } of reached) resolve();
  };
  const close = (): void => {
    if (open.length === 0) return;
    queue.push(open);
    open = chunks.next();
  };
  /** What is written next; an answer stays at the head of the queue until it is over. */
  const take = (): Chunk | Buffer | string | undefined => {
    for (;;) {
      if (queue.length === 0) close();
      const first = queue[0];
      if (first !== undefined && isAnswer(first)) {
        const piece = nextPiece(first);
        if (piece !== undefined) return piece;
        answers -= 1;
      } else waiting -= first?.length ?? 0;
      queue.shift();
      if (first === undefined || !isAnswer(first)) return first;
    }
  };
  const flush = (): void => {
    scheduled = false;
    if (busy || gone) return;
    const taken = take();
    if (taken === undefined) {
      wake();
      return;
    }
    // First of all: a frame that is given meanwhile must not overtake this one.
    busy = true;
    beforeWrite?.();
    const chunk = isChunk(taken) ? taken : undefined;
    output.write(chunk ? chunk.bytes.subarray(0, chunk.length) : taken, (error) => {
      busy = false;
      if (chunk) chunks.giveBack(chunk);
      if (error) leave(error);
      else flush();
      wakeLevels();
    });
  };
  const leave = (error: Error): void => {
    if (gone) return;
    gone = true;
    queue = [];
    open.length = 0;
    waiting = 0;
    answers = 0;
    wake();
    wakeLevels();
    onGone(error);
  };
  output.on("error", leave);

  /** Behind all that follows from what was said: a request to a model, say, which need not wait for the host to read. */
  const flushSoon = (): void => {
    if (scheduled || busy) return;
    scheduled = true;
    setImmediate(flush);
  };
  /** Behind all that was given; what is given later waits behind it. */
  const enqueue = (pieces: Iterator<Buffer | string>): void => {
    if (gone) return;
    close();
    queue.push(pieces);
    answers += 1;
    flushSoon();
  };
  /** A lot need not gather until the end of the turn. */
  const added = (bytes: number): void => {
    waiting += bytes;
    if (waiting > MUCH) flush();
    else flushSoon();
  };
  const addBytes = (bytes: Buffer): void => {
    close();
    queue.push(bytes);
    added(bytes.length);
  };
  const raw = (json: string): void => {
    if (gone) return;
    if (!fitsChunk(json)) {
      if (cutter && isLong(json)) for (const line of cutter([json])) addBytes(Buffer.from(line as string));
      else addBytes(Buffer.from(`${json}\n`));
      return;
    }
    let before = open.length;
    if (!putLine(open, json)) {
      close();
      before = 0;
      putLine(open, json);
    }
    added(open.length - before);
  };
  const token = (wrapping: TokenWrapping, text: string, seq: number): void => {
    if (gone) return;
    let before = open.length;
    if (!putToken(open, wrapping, text, seq)) {
      close();
      before = 0;
      putToken(open, wrapping, text, seq);
    }
    added(open.length - before);
  };
  const settled = (): Promise<void> => new Promise((resolve) => waiters.push(resolve));
  const lineOf = (json: string): string => (cutter && isLong(json) ? inChunks(json, cutter) : `${json}\n`);

  return {
    frame: (value) => raw(toJson(value)),
    raw,
    token,
    get cutter() {
      return cutter;
    },
    set cutter(given) {
      cutter = given;
    },
    hurry: flush,
    pieces: (pieces) => enqueue(cutter ? cutter(pieces) : withLineEnd(pieces)),
    lines: (lines) => enqueue(eachAs(lineOf, lines)),
    get beforeWrite() {
      return beforeWrite;
    },
    set beforeWrite(given) {
      beforeWrite = given;
    },
    get busy() {
      return busy;
    },
    get waiting() {
      return waiting;
    },
    room: () => (gone || waiting < ROOM ? undefined : settled()),
    roomForAnswers: () => (gone || (waiting < ROOM_FOR_ANSWERS && answers === 0) ? undefined : settled()),
    drainedTo: (bytes) =>
      new Promise((resolve) => {
        levels.push({ bytes, resolve });
        wakeLevels();
      }),
    async flushed() {
      while (!gone && (busy || queue.length > 0 || open.length > 0)) await settled();
    },
  };
}

function isAnswer(waiting: Waiting): waiting is Iterator<Buffer | string> {
  return "next" in waiting;
}

function isChunk(piece: Chunk | Buffer | string): piece is Chunk {
  return typeof piece === "object" && "bytes" in piece;
}

function isLong(json: string): boolean {
  return json.length * BYTES_PER_CHARACTER >= MAX_FRAME_BYTES && Buffer.byteLength(json) >= MAX_FRAME_BYTES;
}

function inChunks(json: string, cutter: FrameCutter): string {
  let lines = "";
  for (const line of cutter([json])) lines += line;
  return lines;
}

function* eachAs(lineOf: (json: string) => string, lines: Iterable<string>): Generator<string> {
  for (const json of lines) yield lineOf(json);
}

function* withLineEnd(pieces: Iterable<Buffer | string>): Generator<Buffer | string> {
  yield* pieces;
  yield "\n";
}

/** The next part of a long answer; texts that stand side by side go out together. */
function nextPiece(pieces: Iterator<Buffer | string>): Buffer | string | undefined {
  let text = "";
  while (text.length < PIECE_LENGTH) {
    const next = pieces.next();
    if (next.done) break;
    if (typeof next.value !== "string") {
      return text === "" ? next.value : Buffer.concat([Buffer.from(text), next.value]);
    }
    text += next.value;
  }
  return text === "" ? undefined : text;
}

/**
 * Standard output as a stream that never blocks the process, opened directly: `process.stdout` costs several
 * milliseconds at start, and by now it is a guard that leads to stderr.
 */
export function openStdout(): Writable {
  const kind = fstatSync(1);
  // Bun does not take a descriptor over: what is written to such a socket goes the way of `process.stdout`.
  const isTakenOver = process.versions.bun === undefined && (kind.isFIFO() || kind.isSocket());
  if (isTakenOver) return new Socket({ fd: 1, readable: false, writable: true });
  return createWriteStream("", { fd: 1, autoClose: false, fs: OWN });
}

/** For --help and --version, before any frame: the one other thing that may stand on stdout. */
export function printToStdout(text: string): void {
  writeWhole(Buffer.from(`${text}\n`), (bytes) => ownWriteSync(1, bytes));
}

/** A pipe takes what fits in; one that does not block, as some parents give us, takes nothing when it is full. */
export function writeWhole(bytes: Buffer, write: (bytes: Buffer) => number): void {
  let rest = bytes;
  while (rest.length > 0) {
    try {
      rest = rest.subarray(write(rest));
    } catch (error) {
      if ((error as NodeJS.ErrnoException).code !== "EAGAIN") throw error;
      Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, FULL_PIPE_MS);
    }
  }
}
