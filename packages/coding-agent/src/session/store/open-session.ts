import { isUtf8 } from "node:buffer";
import type { SessionHeader } from "@tiller/protocol/session-entry";
import { beginSession, FILE_VERSION, newHeader, type SessionOrigin } from "./begin-session.ts";
import { type EntryIndex, indexEntries, type LineRange } from "./entry-index.ts";
import { createEntryLog, type EntryLog } from "./entry-log.ts";
import { SessionFileError } from "./file-errors.ts";
import { lookLater } from "./later-look.ts";
import { isBroken, loadEntries, type Soundness, soundnessOf } from "./loaded-entries.ts";
import { type Line, migrate, type ReadBlob, versionOf } from "./migrations.ts";
import { planRepair, repairSession, repairText } from "./salvage.ts";
import { createSessionDisk, type DiskSettings } from "./session-disk.ts";
import { parseHead, textOf } from "./session-head.ts";
import { type LockAttempt, type SessionLock, tryLock } from "./session-lock.ts";
import type { OpenSession } from "./session-store.ts";
import { readSessionBytes, writeWholeFile } from "./whole-file.ts";

export interface OpenOptions extends DiskSettings, SessionOrigin {
  /** The process has just been started with it. */
  isStart?: boolean;
  /** Somebody else had the file and has let go of it; `reopened` is what it holds now. */
  onReopened(reopened: OpenSession): void;
  /** Reads images that are kept in files of their own, beside these session files. Left out: they are lost. */
  blobsBeside?(sessionPaths: readonly string[]): ReadBlob;
}

/**
 * Opens a session file: repaired if it is damaged, in today's version, and ours from here on, unless another process is
 * using it. A path that does not exist begins a session there. Throws SessionFileError for what is no session.
 */
export function openSession(path: string, options: OpenOptions): OpenSession {
  const { locksFolder, clock } = options;
  // Before it is read: nothing may be missed of what its last owner writes while it lets go.
  const claim = tryLock({ locksFolder, sessionPath: path, clock });
  if ("failed" in claim) options.onNotice("warning", claim.failed);
  try {
    return load(path, claim, options);
  } catch (error) {
    if ("lock" in claim) claim.lock.release();
    throw error;
  }
}

/** The entries of a file as they are, for a copy: nothing is locked, repaired or written. */
export function readSession(path: string, options: OpenOptions): EntryLog {
  const found = asItIs(readSessionBytes(path) ?? Buffer.alloc(0));
  const { bytes, index, header } = current(path, found, options, false);
  return createEntryLog(
    header,
    loadEntries({ bytes, index, isWholeFile: false, readBlob: blobsOf(path, header, options) }),
  );
}

function load(path: string, claim: LockAttempt, options: OpenOptions): OpenSession {
  const isOurs = !("owner" in claim);
  const found = readSessionBytes(path) ?? Buffer.alloc(0);
  const whole = isOurs ? repaired(path, found, options) : asItIs(found);
  const onTakenOver = (lock: SessionLock): void => options.onReopened(load(path, { lock }, options));
  const place = { ...options, path, claim, onTakenOver };
  if (whole.bytes.length === 0) return { ...beginSession(options, { path }), disk: createSessionDisk(place) };
  const { bytes, index, header, sizeOnDisk, soundness, unseen } = current(path, whole, options, isOurs);
  const disk = createSessionDisk({ ...place, existing: { bytes: sizeOnDisk, entries: index.starts.length } });
  const readBlob = blobsOf(path, header, options);
  const loaded = loadEntries({ bytes, index, isWholeFile: true, readBlob, soundness });
  const rest = lookLater({ path, bytes, index, unseen, disk, readBlob, ...options });
  return { path, log: createEntryLog(header, loaded), disk, rest };
}

/** A copy has the same images as what it was copied from. */
function blobsOf(path: string, { parentSession }: SessionHeader, options: OpenOptions): ReadBlob | undefined {
  return options.blobsBeside?.(typeof parentSession === "string" ? [path, parentSession] : [path]);
}

function notASession(path: string): SessionFileError {
  return new SessionFileError(
    "not_a_file",
    `${path} is not a session file: it has neither a header nor an entry. It was left as it is.`,
  );
}

function headerOf(bytes: Buffer, line: LineRange | undefined, origin: SessionOrigin): SessionHeader | undefined {
  if (!line) return undefined;
  const header = JSON.parse(bytes.toString("utf8", line.start, line.end)) as SessionHeader;
  // omp has the name in a line before the header.
  const title = line.start === 0 ? undefined : parseHead(bytes.subarray(0, line.end))?.title;
  const id = textOf(header.id) ?? origin.ids.uuid();
  const cwd = textOf(header.cwd) ?? origin.cwd;
  return { ...header, id, cwd, ...(title === undefined ? {} : { title }) };
}

/**
 * So much of the end of a file is looked through when it is opened: there damage happens, and it is needed first. What
 * stands before is looked through later, in idle moments. At the start of a process it is less: nothing is compiled yet, and
 * somebody waits for the first answer.
 */
const LOOKED_THROUGH_BYTES = 16 * 1024 * 1024;
const LOOKED_THROUGH_AT_START = 2 * 1024 * 1024;

interface Indexed {
  bytes: Buffer;
  index: EntryIndex;
  sizeOnDisk: number;
  soundness?: Soundness;
  /** So many entries, the first ones, were not looked through. */
  unseen: number;
}

function asItIs(bytes: Buffer): Indexed {
  const index = indexEntries(bytes);
  return { bytes, index, sizeOnDisk: bytes.length, unseen: index.starts.length };
}

function repaired(path: string, bytes: Buffer, { clock, onNotice, isStart }: OpenOptions): Indexed {
  const found = asItIs(bytes);
  const usual = isStart ? LOOKED_THROUGH_AT_START : LOOKED_THROUGH_BYTES;
  // What is of an older version is parsed and written anew as a whole.
  const { broken, soundness, unseen } = lookThrough(found, isOfToday(found) ? usual : bytes.length);
  const damage = [...found.index.damage, ...broken].sort((one, other) => one.start - other.start);
  if (damage.length === 0) return { ...found, soundness, unseen };
  // Before anything is changed: it may be a file of somebody else's.
  if (!isSession(found, damage)) throw notASession(path);
  const repair = repairSession({ path, bytes, damage, clock });
  onNotice("warning", repairText(path, repair));
  const sizeOnDisk = repair.written ? repair.bytes.length : bytes.length;
  // What is not on disk cannot be repaired there.
  const rest = repair.written && unseen > 0 ? {} : { unseen: 0 };
  return { ...asItIs(repair.bytes), sizeOnDisk, ...rest };
}

function isOfToday({ bytes, index: { header } }: Indexed): boolean {
  if (!header) return false;
  return versionOf(JSON.parse(bytes.toString("utf8", header.start, header.end)) as Line) >= FILE_VERSION;
}

/** Is there an entry to be had, or were we just about to write the first line? */
function isSession({ bytes, index }: Indexed, damage: readonly LineRange[]): boolean {
  if (index.header || index.starts.length > 0) return true;
  const left = Buffer.concat(planRepair(bytes, index, damage).parts);
  const { header, starts } = indexEntries(left);
  if (header || starts.length > 0 || isOfFirstVersion(left)) return true;
  const begun = bytes.toString("latin1").replaceAll("\0", "");
  return left.length === 0 && FIRST_LINES.some((line) => line.startsWith(begun.slice(0, line.length)));
}

/** Entries of the first version have no id: without a header they are known by what they say. */
function isOfFirstVersion(bytes: Buffer): boolean {
  return linesOf(bytes).some(({ type, timestamp, message }) => {
    const role = (message as Line | undefined)?.role;
    return type === "message" && typeof timestamp === "string" && typeof role === "string";
  });
}

const FIRST_LINES = ['{"type":"session"', '{"type":"title"'];

/** Lines whose beginning is fine and whose rest is not. A file with NUL bytes is suspicious at any size. */
function lookThrough({ bytes, index }: Indexed, limit: number) {
  const from = bytes.includes(0) ? 0 : bytes.length - limit;
  const isText = isUtf8(bytes);
  const broken: LineRange[] = [];
  const soundness: Soundness = new Uint8Array(index.starts.length);
  let unseen = index.starts.length;
  for (; unseen > 0 && index.starts[unseen - 1]! >= from; unseen--) {
    const at = unseen - 1;
    const found = soundnessOf(bytes, index, at);
    if (found === 0 && isBroken(bytes, index, at)) broken.push({ start: index.starts[at]!, end: index.ends[at]! });
    // In a file that is not all UTF-8 each line is looked at again before it is shown.
    soundness[at] = isText ? found : 0;
  }
  return { broken, soundness, unseen };
}

/** In today's version and with a header. */
function current(
  path: string,
  found: Indexed,
  options: OpenOptions,
  mayWrite: boolean,
): Indexed & { header: SessionHeader } {
  const header = headerOf(found.bytes, found.index.header, options);
  const isOld = !header && found.index.starts.length === 0;
  if (isOld && !isOfFirstVersion(found.bytes)) throw notASession(path);
  if (header && versionOf({ ...header }) >= FILE_VERSION) return { ...found, header };
  const entries = linesOf(found.bytes).filter(({ type }) => type !== "session" && type !== "title");
  const head = header ?? { ...newHeader(options), ...(isOld && { version: 1 }) };
  const migrated = migrate({ ...head }, entries, options.ids.short);
  const lines = [migrated.header, ...migrated.entries].map((line) => JSON.stringify(line));
  const bytes = Buffer.from(`${lines.join("\n")}\n`);
  const sizeOnDisk = mayWrite ? rewritten(path, lines, options) : undefined;
  return {
    bytes,
    index: indexEntries(bytes),
    sizeOnDisk: sizeOnDisk ?? found.sizeOnDisk,
    unseen: 0,
    header: migrated.header as unknown as SessionHeader,
  };
}

/** Undefined when it is not possible; who cannot write now will be told when there is something to write. */
function rewritten(path: string, lines: readonly string[], { onNotice }: OpenOptions): number | undefined {
  try {
    return writeWholeFile(path, lines);
  } catch (error) {
    const why = error instanceof Error ? error.message : String(error);
    onNotice("warning", `${path} is of an older version and cannot be written anew: ${why}`);
    return undefined;
  }
}

function linesOf(bytes: Buffer): Line[] {
  const lines: Line[] = [];
  for (const text of bytes.toString("utf8").split("\n")) {
    const line = text === "" ? undefined : parsed(text);
    if (line) lines.push(line);
  }
  return lines;
}

function parsed(text: string): Line | undefined {
  try {
    return JSON.parse(text) as Line;
  } catch {
    // Damage that could not be repaired because somebody else has the file.
    return undefined;
  }
}
