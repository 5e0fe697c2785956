import { createWriteStream, fstatSync, writeSync } from "node:fs";
import { Socket } from "node:net";
import type { Writable } from "node:stream";

/**
 * The only user of stdout. Frames leave in the order they were given, one write for all that was given in one turn of
 * the event loop, one write under way at a time; whoever produces a lot asks for `room` and waits.
 */
export interface FrameWriter {
  frame(value: object): void;
  /** A frame that is already JSON, made by `toJson`. */
  raw(json: string): void;
  /** The host has not yet taken what was written before. */
  readonly busy: boolean;
  /** Characters that wait for the host. */
  readonly waiting: number;
  /** Undefined when there is room; else resolves when there is. */
  room(): undefined | Promise<void>;
  /** The same for answers: a host may send a lot of commands before it reads. */
  roomForAnswers(): undefined | Promise<void>;
  /** Resolves when everything has been taken by the system. */
  flushed(): Promise<void>;
}

/** More than this in wait and producers are held up. One pipe buffer: enough to keep the pipe full. */
const ROOM = 64 * 1024;
/** Far more, because a host that writes all its commands before it reads must not be locked out. */
const ROOM_FOR_ANSWERS = 64 * 1024 * 1024;

export function createFrameWriter(output: Writable, onGone: (error: Error) => void): FrameWriter {
  let pending = "";
  let busy = false;
  let scheduled = false;
  let gone = false;
  let waiters: (() => void)[] = [];

  const wake = (): void => {
    const waking = waiters;
    waiters = [];
    for (const resolve of waking) resolve();
  };
  const flush = (): void => {
    scheduled = false;
    if (busy || gone || pending === "") return;
    const text = pending;
    pending = "";
    busy = true;
    output.write(text, "utf8", (error) => {
      busy = false;
      if (error) return leave(error);
      if (pending === "") wake();
      else flush();
    });
  };
  const leave = (error: Error): void => {
    if (gone) return;
    gone = true;
    pending = "";
    wake();
    onGone(error);
  };
  output.on("error", leave);

  const raw = (json: string): void => {
    if (gone) return;
    pending += `${json}\n`;
    if (scheduled || busy) return;
    scheduled = true;
    queueMicrotask(flush);
  };
  const settled = (): Promise<void> => new Promise((resolve) => waiters.push(resolve));

  return {
    frame: (value) => raw(toJson(value)),
    raw,
    get busy() {
      return busy;
    },
    get waiting() {
      return pending.length;
    },
    room: () => (gone || pending.length < ROOM ? undefined : settled()),
    roomForAnswers: () => (gone || pending.length < ROOM_FOR_ANSWERS ? undefined : settled()),
    async flushed() {
      while (!gone && (busy || pending !== "")) await settled();
    },
  };
}

/**
 * JSON without raw U+2028 and U+2029, which are line breaks to careless readers. Looked for here and not in the whole
 * frame: in a fresh Latin-1 string it costs nothing, in one that is put together of pieces it costs a copy.
 */
export function toJson(value: unknown): string {
  const json = JSON.stringify(value);
  if (!json.includes("\u2028") && !json.includes("\u2029")) return json;
  return json.replaceAll("\u2028", "\\u2028").replaceAll("\u2029", "\\u2029");
}

/**
 * Standard output as a stream that never blocks the process, opened directly: `process.stdout` costs several
 * milliseconds at start, and by now it is a guard that leads to stderr.
 */
export function openStdout(): Writable {
  const kind = fstatSync(1);
  if (kind.isFIFO() || kind.isSocket()) return new Socket({ fd: 1, readable: false, writable: true });
  return createWriteStream("", { fd: 1, autoClose: false });
}

/** For --help and --version, before any frame: the one other thing that may stand on stdout. */
export function printToStdout(text: string): void {
  writeSync(1, `${text}\n`);
}
