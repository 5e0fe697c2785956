import { readFileSync, rmSync } from "node:fs";
import { join } from "node:path";
import type { AgentMessage } from "@tiller/protocol/message";
import { fileKey } from "./session-lock.ts";
import { LINE_END } from "./whole-file.ts";

/**
 * The events of a session on disk: two files at most, the one that grows and the one before it. Their lines are a header,
 * frames as they were told, and promises up to which number frames may have been told.
 */

/** Lines of one file that can be relied on. */
export interface Segment {
  header: JournalHeader;
  /** Every frame behind this number that was written is among the lines. */
  base: number;
  /** No number above it was told. */
  reserved: number;
  /** Of the last frame; `base` when there is none. */
  last: number;
  /** Bytes up to the end of the last whole line; what follows was never told. */
  size: number;
  lines: readonly JournalLine[];
  bytes: Buffer;
}

export interface JournalLine {
  seq: number;
  start: number;
  end: number;
}

interface JournalHeader {
  sessionId: string;
  /** The number of the last frame before this file; 0 in the first file of a session. */
  before: number;
}

const VERSION = 1;
/** Added to the name of the file before the one that grows. */
const OLDER_END = ".1";
/** A frame ends with its number, and a number has no more digits than that. */
const TAIL_LENGTH = 30;

export function journalPath(folder: string, sessionFile: string): string {
  return join(folder, `${fileKey(sessionFile)}.events`);
}

export function olderPath(path: string): string {
  return path + OLDER_END;
}

export function removeJournal(path: string): void {
  for (const file of [path, olderPath(path)]) rmSync(file, { force: true });
}

export function headerLine({ sessionId, before }: JournalHeader): string {
  return `${JSON.stringify({ type: "journal", version: VERSION, sessionId, before })}\n`;
}

export function reservedLine(seq: number): string {
  return `{"reserved":${seq}}\n`;
}

/** What is kept of a session. Undefined when there is nothing, or it is somebody else's, or nobody can read it. */
export interface KeptEvents {
  base: number;
  reserved: number;
  /** The file that grows, and the one before it. */
  current: Segment | undefined;
  older: Segment | undefined;
}

export function readJournal(path: string, sessionId: string): KeptEvents | undefined {
  const current = ofSession(readSegment(path), sessionId);
  const older = ofSession(readSegment(olderPath(path)), sessionId);
  if (!current) return older && { base: older.base, reserved: older.reserved, current, older };
  // A damaged place in the later file, or a hole between the two: what stands before it is of no use.
  const isWhole = older !== undefined && current.base === current.header.before && older.last === current.base;
  return {
    base: isWhole ? older.base : current.base,
    reserved: Math.max(current.reserved, older?.reserved ?? 0),
    current,
    older: isWhole ? older : undefined,
  };
}

function ofSession(segment: Segment | undefined, sessionId: string): Segment | undefined {
  return segment?.header.sessionId === sessionId ? segment : undefined;
}

function readSegment(path: string): Segment | undefined {
  try {
    return parseSegment(readFileSync(path));
  } catch {
    // It is not there, or cannot be read: then nothing is kept. Whoever writes to it will say why that fails.
    return undefined;
  }
}

/** Of a file that is damaged only what follows the last damaged line counts. */
export function parseSegment(bytes: Buffer): Segment | undefined {
  let start = bytes.indexOf(LINE_END) + 1;
  const header = start === 0 ? undefined : parseHeader(bytes.toString("utf8", 0, start));
  if (!header) return undefined;
  let { before: base } = header;
  let reserved = base;
  let last = base;
  let lines: JournalLine[] = [];
  let isDamaged = false;
  for (let end = bytes.indexOf(LINE_END, start); end >= 0; end = bytes.indexOf(LINE_END, start)) {
    const line = readLine(bytes, start, end);
    if (line && "seq" in line && line.seq > last) {
      // What was lost had a number below this one.
      if (isDamaged) base = line.seq - 1;
      isDamaged = false;
      last = line.seq;
      lines.push({ seq: last, start, end });
    } else if (line && "reserved" in line) {
      reserved = Math.max(reserved, line.reserved);
    } else {
      isDamaged = true;
      lines = [];
    }
    start = end + 1;
  }
  if (isDamaged) base = Math.max(last, reserved);
  return { header, base, reserved: Math.max(reserved, last), last: Math.max(last, base), size: start, lines, bytes };
}

function readLine(bytes: Buffer, start: number, end: number): { seq: number } | { reserved: number } | undefined {
  const tail = bytes.toString("latin1", Math.max(start, end - TAIL_LENGTH), end);
  const seq = bytes.toString("latin1", start, start + 9) === '{"type":"' && /"seq":(\d{1,15})\}$/.exec(tail)?.[1];
  if (seq) return { seq: Number(seq) };
  const reserved = /^\{"reserved":(\d{1,15})\}$/.exec(tail)?.[1];
  return reserved ? { reserved: Number(reserved) } : undefined;
}

function parseHeader(line: string): JournalHeader | undefined {
  const { type, version, sessionId, before } = (parsed(line) ?? {}) as Partial<JournalHeader> & {
    type?: unknown;
    version?: unknown;
  };
  const isOurs = type === "journal" && version === VERSION && typeof sessionId === "string";
  return isOurs && Number.isInteger(before) ? { sessionId, before: before as number } : undefined;
}

/** The frames behind a number, and up to which number they are not all there. */
export function framesAfter({ base, older, current }: KeptEvents, after: number): { base: number; frames: string[] } {
  let frames: string[] = [];
  let from = base;
  for (const segment of [older, current]) {
    for (const { seq, start, end } of segment?.lines ?? []) {
      if (seq <= after) continue;
      const json = segment?.bytes.toString("utf8", start, end) ?? "";
      if (parsed(json)) frames.push(json);
      else {
        // It looked like a frame from outside. Nothing before it can be told as if nothing was missing.
        frames = [];
        from = seq;
      }
    }
  }
  return { base: from, frames };
}

const MESSAGE_END = '{"type":"message_end"';
/** So far back it is looked for what was told, in lines and in bytes. */
const MOST_LOOKED_AT = 64;
const MOST_BYTES = 1024 * 1024;
/** So many messages may have been written without being told, until it is too much to catch up on. */
const MOST_UNTOLD = 100;

/** What tells a message from others. */
type Dated = Pick<AgentMessage, "role" | "timestamp">;

/**
 * Messages of the session that no host was told: a process may be killed between writing one and telling it, and others may
 * have gone on with the session. Oldest first; undefined when nobody can say.
 */
export function untoldMessages<M extends Dated>(kept: KeptEvents, newestFirst: Iterable<M>): M[] | undefined {
  const told = toldMessages(kept);
  const untold: M[] = [];
  for (const message of newestFirst) {
    if (told.has(keyOf(message))) return untold.reverse();
    untold.push(message);
    if (untold.length > MOST_UNTOLD) return undefined;
  }
  return kept.base === 0 || untold.length === 0 ? untold.reverse() : undefined;
}

/** The last ones. */
function toldMessages({ older, current }: KeptEvents): Set<string> {
  const told = new Set<string>();
  let bytes = 0;
  for (const segment of [current, older]) {
    for (const { start, end } of segment?.lines.toReversed() ?? []) {
      if (told.size >= MOST_LOOKED_AT || bytes > MOST_BYTES) return told;
      if (segment?.bytes.toString("latin1", start, start + MESSAGE_END.length) !== MESSAGE_END) continue;
      bytes += end - start;
      const { message } = (parsed(segment.bytes.toString("utf8", start, end)) ?? {}) as { message?: Dated };
      if (message) told.add(keyOf(message));
    }
  }
  return told;
}

function keyOf({ role, timestamp }: Dated): string {
  return `${role} ${timestamp}`;
}

function parsed(json: string): object | undefined {
  try {
    const value: unknown = JSON.parse(json);
    return typeof value === "object" && value !== null ? value : undefined;
  } catch {
    return undefined;
  }
}
