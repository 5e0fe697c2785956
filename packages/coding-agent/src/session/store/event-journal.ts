import { closeSync, ftruncateSync, openSync, renameSync, writeSync } from "node:fs";
import type { AgentMessage } from "@tiller/protocol/message";
import { makePrivateFolder } from "../../lib/make-folder.ts";
import { toJson } from "../../lib/wire-json.ts";
import { reasonOf } from "./file-errors.ts";
import {
  framesAfter,
  headerLine,
  journalPath,
  type KeptEvents,
  olderPath,
  readJournal,
  removeJournal,
  reservedLine,
  untoldMessages,
} from "./journal-file.ts";
import { PRIVATE } from "./whole-file.ts";

/**
 * Keeps what a host was told of the session that is open, so that it can be told again: on disk as soon as the session has
 * a file, before that and without one in memory. It is written before it is told; whoever is killed has told nothing
 * that is not kept, but for events that others tell again.
 */
export interface EventJournal {
  /**
   * Looks which session is open; gives back the number after which to go on in it, never a lower one. `begins`: its first
   * message is about to be written, and with it its file; what was told until now has to be kept before.
   */
  follow(seq: number, begins?: boolean): number;
  /** Keeps a frame. */
  append(seq: number, json: string): void;
  /** Called before frames up to this number leave the process. */
  flush(seq: number): void;
  /** The frames behind a number. `base`: up to this number something is missing, or was never of this session. */
  after(seq: number): { base: number; frames: readonly string[] };
  /** The session is about to be given up. */
  close(): void;
}

/** The session that is open now. */
export interface JournalledSession {
  readonly sessionId: string;
  readonly sessionFile: string | undefined;
  /** It has messages, and with them its file. */
  readonly hasBegun: boolean;
  /** It had messages when it was opened: it comes from a file, or is a copy of another one. */
  readonly isContinued: boolean;
  /** Another process writes to it. */
  readonly isInUse: boolean;
  /** What was said in it, without what hosts are never told as messages. */
  newestFirst(): Iterable<AgentMessage>;
}

export interface EventJournalOptions {
  session: JournalledSession;
  folder: string;
  /** Of both files together; 0: nothing is kept. */
  maxBytes: number;
  /** One sentence that names the file and the reason. */
  onTrouble(message: string): void;
}

/** So many numbers are promised at a time: one short line for that many increments. */
const RESERVE = 1000;
/** Away from the numbers of a process that still writes to the session. */
const APART = 100_000;
/** What is kept while there is no file, at most. */
const MEMORY_BYTES = 2 * 1024 * 1024;
/** A share of the whole: a frame that is longer is not kept. */
const LONGEST_SHARE = 4;

interface OpenFile {
  path: string;
  fd: number;
  size: number;
  reserved: number;
  /** In its header. */
  before: number;
}

export function createEventJournal({ session, folder, maxBytes, onTrouble }: EventJournalOptions): EventJournal {
  let sessionId: string | undefined;
  let sessionFile: string | undefined;
  let base = 0;
  /** Of the last frame that was to be kept. */
  let last = 0;
  let file: OpenFile | undefined;
  /** Lines that are not in the file yet. */
  let pending = "";
  /** While there is no file. */
  let memory: { seq: number; json: string }[] = [];
  let memorySize = 0;
  let isBroken = false;
  let isOver = false;
  const memoryBytes = Math.min(maxBytes, MEMORY_BYTES);

  const isWritable = (begins = false): boolean =>
    maxBytes > 0 &&
    sessionFile !== undefined &&
    (begins || session.hasBegun) &&
    !(session.isInUse || isBroken || isOver);

  /** Not at once: whoever calls has a frame in hand, and a notice in between would take its number or overtake it. */
  const tellTrouble = (message: string): void => queueMicrotask(() => onTrouble(message));

  const fail = (seq: number, error: unknown): void => {
    const path = file?.path ?? journalPath(folder, sessionFile ?? "");
    shut();
    isBroken = true;
    base = seq;
    try {
      // What is there would be continued with numbers that are taken.
      removeJournal(path);
    } catch (again) {
      tellTrouble(`The events of this session are not kept, and ${path} cannot be removed: ${reasonOf(again)}`);
      return;
    }
    tellTrouble(`The events of this session are not kept any more: ${path}: ${reasonOf(error)}`);
  };
  const shut = (): void => {
    pending = "";
    if (file) closeSync(file.fd);
    file = undefined;
  };

  const begin = (path: string, before: number, reserved: number): OpenFile => {
    makePrivateFolder(folder);
    const fd = openSync(path, "w", PRIVATE);
    const size = writeAll(fd, headerLine({ sessionId: sessionId ?? "", before }) + reservedLine(reserved));
    return { path, fd, size, reserved, before };
  };
  const goOn = (path: string, { current, base: kept, reserved }: KeptEvents): OpenFile => {
    if (!current) return begin(path, kept, reserved);
    const fd = openSync(path, "a", PRIVATE);
    // What a crash has torn was never told.
    ftruncateSync(fd, current.size);
    return { path, fd, size: current.size, reserved, before: current.header.before };
  };

  /** From now on it is kept in a file. */
  const attach = (seq: number): number => {
    const path = journalPath(folder, sessionFile ?? "");
    try {
      const kept = readJournal(path, sessionId ?? "");
      if (kept) {
        base = kept.base;
        last = Math.max(last, kept.current?.last ?? kept.base);
        file = goOn(path, kept);
      } else {
        // A session that had begun elsewhere has had events that nobody kept; what was told of it here is in memory.
        if (session.isContinued) base = Math.max(base, memory[0] ? memory[0].seq - 1 : Math.max(seq, 1));
        removeJournal(path);
        file = begin(path, base, Math.max(seq, base));
      }
      for (const { json } of memory) pending += `${json}\n`;
      forget();
      const next = kept ? catchUp(kept, Math.max(seq, file.reserved)) : Math.max(seq, file.reserved);
      // What was in memory was told when there was no file yet.
      flush(next);
      return next;
    } catch (error) {
      fail(seq, error);
      return seq;
    }
  };
  /** What was written and never told is told to whoever asks. */
  const catchUp = (kept: KeptEvents, seq: number): number => {
    const untold = untoldMessages(kept, session.newestFirst());
    if (!untold) base = seq;
    for (const message of untold ?? []) {
      for (const type of ["message_start", "message_end"]) {
        last = Math.max(last, seq) + 1;
        pending += `${toJson({ type, message, seq: last })}\n`;
        seq = last;
      }
    }
    return seq;
  };
  const forget = (): void => {
    memory = [];
    memorySize = 0;
  };
  /** Nothing is to be kept: what another process has kept would be continued later as if there had been nothing since. */
  const giveUp = (seq: number, of: string): number => {
    const path = journalPath(folder, of);
    const next = Math.max(seq, readJournal(path, sessionId ?? "")?.reserved ?? 0);
    base = next;
    try {
      removeJournal(path);
    } catch (error) {
      tellTrouble(`The events of this session are not kept, and ${path} cannot be removed: ${reasonOf(error)}`);
    }
    return next;
  };
  const enter = (seq: number, begins: boolean): number => {
    ({ sessionId, sessionFile } = session);
    isBroken = false;
    base = 0;
    last = 0;
    forget();
    if (isWritable(begins)) return attach(seq);
    if (maxBytes === 0 && sessionFile !== undefined && !session.isInUse) return giveUp(seq, sessionFile);
    if (!session.isInUse || sessionFile === undefined) return seq;
    return Math.max(seq, readJournal(journalPath(folder, sessionFile), sessionId)?.reserved ?? 0) + APART;
  };

  const remember = (seq: number, json: string): void => {
    memory.push({ seq, json });
    memorySize += json.length;
    while (memorySize > memoryBytes) {
      const dropped = memory.shift();
      memorySize -= dropped?.json.length ?? 0;
      base = dropped?.seq ?? seq;
    }
  };
  /** The file that has grown becomes the older one; what was the older one is gone. */
  const rotate = (): void => {
    if (!file) return;
    const { path, fd, before, reserved } = file;
    closeSync(fd);
    file = undefined;
    renameSync(path, olderPath(path));
    base = before;
    file = begin(path, last, reserved);
  };
  const leave = (): void => {
    flush(0);
    shut();
  };
  const flush = (seq: number): void => {
    if (!file) return;
    if (seq > file.reserved) {
      file.reserved = seq + RESERVE;
      pending += reservedLine(file.reserved);
    }
    if (pending === "") return;
    try {
      file.size += writeAll(file.fd, pending);
      pending = "";
      if (file.size > maxBytes / 2) rotate();
    } catch (error) {
      fail(Math.max(seq, last), error);
    }
  };
  /** Too long to be kept. Whoever asks is told that something is missing here. */
  const skip = (seq: number): void => {
    base = seq;
    forget();
    if (!file) return;
    const { path, reserved } = file;
    shut();
    try {
      removeJournal(path);
      file = begin(path, seq, reserved);
    } catch (error) {
      fail(seq, error);
    }
  };

  return {
    follow(seq, begins = false) {
      if (session.sessionId !== sessionId || session.sessionFile !== sessionFile) {
        leave();
        return enter(seq, begins);
      }
      return !file && isWritable(begins) ? attach(seq) : seq;
    },
    append(seq, json) {
      last = seq;
      if (json.length > (file ? maxBytes : memoryBytes) / LONGEST_SHARE) skip(seq);
      else if (file) pending += `${json}\n`;
      else remember(seq, json);
    },
    flush,
    after(seq) {
      if (!file) return { base, frames: memory.filter((kept) => kept.seq > seq).map(({ json }) => json) };
      const kept = readJournal(file.path, sessionId ?? "");
      // Somebody has removed it under our hands.
      if (!kept) return { base: last, frames: [] };
      const read = framesAfter(kept, seq);
      return { base: Math.max(base, read.base), frames: read.frames };
    },
    close() {
      leave();
      isOver = true;
    },
  };
}

/** Gives back how many bytes that were. */
function writeAll(fd: number, text: string): number {
  const size = Buffer.byteLength(text);
  const written = writeSync(fd, text);
  // The system may take less at once.
  const rest = written < size ? Buffer.from(text) : undefined;
  for (let at = written; rest && at < size; ) at += writeSync(fd, rest, at);
  return size;
}
