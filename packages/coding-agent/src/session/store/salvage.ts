import {
  closeSync,
  constants,
  fstatSync,
  fsyncSync,
  ftruncateSync,
  lstatSync,
  openSync,
  type Stats,
  writeFileSync,
} from "node:fs";
import { basename } from "node:path";
import type { Clock } from "@tiller/protocol/clock";
import { randomHex } from "../../lib/clock.ts";
import { type EntryIndex, indexEntries } from "./entry-index.ts";
import { type StandIns, standInsFor } from "./stand-ins.ts";
import { writeWholeFile } from "./whole-file.ts";

/** What to do with lines that a crash, a full disk or another program has damaged: keep what can be read, set aside the rest. */

/** A range of the file whose bytes are not a whole entry. `end` excludes the line end. */
export interface Damage {
  start: number;
  end: number;
}

export interface Salvaged {
  good: Buffer[];
  bad: Buffer[];
}

export interface RepairOptions {
  path: string;
  /** The whole file, as it was read. */
  bytes: Buffer;
  damage: readonly Damage[];
  clock: Clock;
}

export interface Repair {
  /** The whole file as it should be; the same memory when only its tail was cut. */
  bytes: Buffer;
  /** False: the file could not be changed, or has changed since it was read; only `bytes` are repaired. */
  written: boolean;
  /** How many bytes are left out, those that are zero included. */
  badBytes: number;
  /** How many entries were read out of damaged lines. */
  salvaged: number;
  /** The file with the bad bytes. Undefined when there was nothing in them, or nothing could be written. */
  setAside: string | undefined;
}

const LINE_END = 0x0a;
const LINE_END_BYTES = Buffer.of(LINE_END);
const QUOTE = 0x22;
const BACKSLASH = 0x5c;
const OPEN = 0x7b;
const CLOSE = 0x7d;

/**
 * Reads whole entries out of damaged bytes: blocks of zeros (space that was promised to the file but never written) are
 * left out, lines that a torn write has joined are taken apart. Both lists hold parts of `bytes`, in order.
 */
export function salvage(bytes: Buffer): Salvaged {
  const found: Salvaged = { good: [], bad: [] };
  let start = 0;
  for (let at = 0; at <= bytes.length; at++) {
    // Neither occurs inside an entry: JSON writes both as escapes.
    const isBorder = at === bytes.length || bytes[at] === 0 || bytes[at] === LINE_END;
    if (!isBorder) continue;
    if (at > start) takeApart(bytes.subarray(start, at), found);
    start = at + 1;
  }
  return found;
}

/** Garbage may look like many objects that never end; looking for each of their ends must not take minutes. */
const LOOKS_PER_BYTE = 32;

function takeApart(piece: Buffer, { good, bad }: Salvaged): void {
  let looks = piece.length * LOOKS_PER_BYTE;
  let rest = 0;
  for (let at = piece.indexOf('{"'); at >= 0 && looks > 0; ) {
    const end = objectEnd(piece, at);
    looks -= (end ?? piece.length) - at;
    const isWhole = end !== undefined && isEntry(piece.subarray(at, end));
    if (isWhole) {
      keepUnlessBlank(piece.subarray(rest, at), bad);
      good.push(piece.subarray(at, end));
      rest = end;
    }
    at = piece.indexOf('{"', isWhole ? end : at + 1);
  }
  keepUnlessBlank(piece.subarray(rest), bad);
}

/** Behind the brace that closes the one at `start`. */
function objectEnd(bytes: Buffer, start: number): number | undefined {
  let depth = 0;
  let isText = false;
  for (let at = start; at < bytes.length; at++) {
    const byte = bytes[at];
    if (byte === QUOTE) isText = !isText;
    else if (isText) at += byte === BACKSLASH ? 1 : 0;
    else if (byte === OPEN) depth++;
    else if (byte === CLOSE && --depth === 0) return at + 1;
  }
  return undefined;
}

/** The parts of a message are objects with a type as well; only entries have a time in words, and the header an id. */
function isEntry(bytes: Buffer): boolean {
  const { type, timestamp, id } = parsed(bytes) ?? {};
  if (typeof type !== "string") return false;
  return typeof timestamp === "string" || (type === "session" && typeof id === "string");
}

function parsed(bytes: Buffer): Record<string, unknown> | undefined {
  try {
    return JSON.parse(bytes.toString()) ?? undefined;
  } catch {
    return undefined;
  }
}

function keepUnlessBlank(bytes: Buffer, list: Buffer[]): void {
  if (bytes.some((byte) => byte > 0x20)) list.push(bytes);
}

/** What a file becomes. */
export interface RepairPlan {
  /** All of it, in order; the last part ends with a line end. Most are parts of the bytes as they were. */
  parts: Buffer[];
  bad: Buffer[];
  badBytes: number;
  salvaged: number;
  standIns: StandIns;
}

export function planRepair(bytes: Buffer, index: EntryIndex, damage: readonly Damage[]): RepairPlan {
  const ranges = [...damage].sort((a, b) => a.start - b.start);
  const spots = ranges.map(({ start, end }) => ({ start, end, ...salvage(bytes.subarray(start, end)) }));
  const standIns = standInsFor(bytes, index, spots, parsed);
  const places = [...standIns.lines.keys()];
  const parts: Buffer[] = [];
  let from = 0;
  const keepUntil = (end: number): void => {
    for (; places.length > 0 && places[0]! < end; from = places.shift()!) {
      parts.push(bytes.subarray(from, places[0]!), standIns.lines.get(places[0]!)!);
    }
    parts.push(bytes.subarray(from, end));
  };
  for (const { start, end, good } of spots) {
    keepUntil(start);
    for (const entry of good) {
      const at = entry.byteOffset - bytes.byteOffset;
      if (places[0] === at) parts.push(standIns.lines.get(places.shift()!)!);
      parts.push(entry, LINE_END_BYTES);
    }
    from = bytes[end] === LINE_END ? end + 1 : end;
  }
  keepUntil(bytes.length);
  const kept = parts.filter(({ length }) => length > 0);
  // The last line may lack its end.
  if (kept.length > 0 && kept.at(-1)?.at(-1) !== LINE_END) kept.push(LINE_END_BYTES);
  const saved = spots.flatMap(({ good }) => good);
  const badBytes = spots.reduce((sum, { start, end }) => sum + end - start, 0) - total(saved);
  return { parts: kept, bad: spots.flatMap(({ bad }) => bad), badBytes, salvaged: saved.length, standIns };
}

/**
 * Makes a file whole: the bad bytes go to `<path>.damaged` (see `openAside`), then a torn tail is cut off, or, for anything else, the file
 * is written anew. Where nothing can be written, the repaired bytes are returned all the same.
 */
export function repairSession({ path, bytes, damage, clock }: RepairOptions): Repair {
  const { parts, bad, badBytes, salvaged } = planRepair(bytes, indexEntries(bytes), damage);
  const before = damage.reduce((first, { start }) => Math.min(first, start), bytes.length);
  const isTornTail = total(parts) === before;
  const repaired = isTornTail ? bytes.subarray(0, before) : Buffer.concat(parts);
  let setAside: string | undefined;
  const written = canDo(() => {
    const cut = isTornTail ? repaired.length : undefined;
    changeFile(path, bytes.length, cut, () => {
      setAside = keepAside(bad, { path, bytes, clock });
    });
    if (!isTornTail) writeWholeFile(path, [repaired.subarray(0, -1)]);
  });
  return { bytes: repaired, written, badBytes, salvaged, setAside };
}

/** What people are told of it. */
export function repairText(path: string, { written, badBytes, salvaged, setAside }: Omit<Repair, "bytes">): string {
  const saved = salvaged === 0 ? "" : ` ${salvaged} entries could be saved out of them.`;
  const what = !written
    ? "The file cannot be written, so they are still in it."
    : setAside === undefined
      ? "They were zeros or blanks and are gone."
      : `They are in ${setAside} now, unless they were zeros.`;
  return `${path} was damaged: ${badBytes} bytes cannot be read. ${what}${saved} Everything else is there.`;
}

/** Nothing is changed before the bad bytes are safe, nor in a file that somebody else has written to meanwhile. */
function changeFile(path: string, size: number, cut: number | undefined, makeSafe: () => void): void {
  const fd = openSync(path, "r+");
  try {
    if (fstatSync(fd).size !== size) throw new Error(`${path} is being written by another program`);
    makeSafe();
    if (cut !== undefined) ftruncateSync(fd, cut);
  } finally {
    closeSync(fd);
  }
}

/** Each piece behind a line that says when and where it was found. Gives back the file they are in, if there are any. */
export function keepAside(
  bad: readonly Buffer[],
  { path, bytes, clock }: Omit<RepairOptions, "damage">,
): string | undefined {
  if (bad.length === 0) return undefined;
  const time = new Date(clock.now()).toISOString();
  const pieces = bad.flatMap((piece) => {
    const offset = piece.byteOffset - bytes.byteOffset;
    const note = { time, file: basename(path), offset, bytes: piece.length };
    return [Buffer.from(`${JSON.stringify(note)}\n`), piece, LINE_END_BYTES];
  });
  const { fd, aside } = openAside(path);
  try {
    writeFileSync(fd, Buffer.concat(pieces));
    fsyncSync(fd);
  } finally {
    closeSync(fd);
  }
  return aside;
}

const { O_WRONLY, O_APPEND, O_CREAT, O_EXCL, O_NOFOLLOW = 0, O_NONBLOCK = 0 } = constants;
const NEW = O_CREAT | O_EXCL;

/**
 * `<path>.damaged`. Whoever gave us the session may have put something there as well: a link leads what they wrote into a
 * file of ours, a pipe keeps us waiting. Then it is a new file under a name that nobody can guess.
 */
function openAside(path: string): { fd: number; aside: string } {
  const usual = `${path}.damaged`;
  const found = lstatSync(usual, { throwIfNoEntry: false });
  // A folder is harmless: it cannot be opened, and the session stays as it is.
  if (!found || isOnlyOurs(found) || found.isDirectory()) {
    const fd = openSync(usual, O_WRONLY | O_APPEND | O_NOFOLLOW | O_NONBLOCK | (found ? 0 : NEW), 0o600);
    if (isOnlyOurs(fstatSync(fd)) || !found) return { fd, aside: usual };
    closeSync(fd);
  }
  const aside = `${usual}-${randomHex(16)}`;
  return { fd: openSync(aside, O_WRONLY | NEW, 0o600), aside };
}

/** A second name of a file may be that of another one of ours. */
function isOnlyOurs(found: Stats): boolean {
  return found.isFile() && found.nlink === 1 && (process.getuid === undefined || found.uid === process.getuid());
}

function canDo(work: () => void): boolean {
  try {
    work();
    return true;
  } catch {
    // A read-only folder, a full disk: the file stays as it is and the next who opens it tries again.
    return false;
  }
}

function total(parts: readonly Buffer[]): number {
  return parts.reduce((sum, part) => sum + part.length, 0);
}
