import {
  constants,
  existsSync,
  fdatasync,
  fstatSync,
  fsyncSync,
  ftruncateSync,
  openSync,
  readSync,
  renameSync,
  statSync,
  writeSync,
} from "node:fs";
import { dirname } from "node:path";
import type { Clock } from "@tiller/protocol/clock";
import { makePrivateFolder } from "../../lib/make-folder.ts";
import { codeOf, notAFile, reasonOf } from "./file-errors.ts";
import { closeQuietly, followLinks, LINE_END, PRIVATE, readSessionBytes, writeWholeFile } from "./whole-file.ts";

/** The only one who adds to session files: one `write` for what belongs together, so that a crash can tear at most one line. */

export interface SessionFileOptions {
  path: string;
  /** Bytes that the file holds now, as it was read; undefined: it is created with its folder when the first line comes. */
  size?: number;
  /**
   * Every line that belongs into the file, in order, without line ends: to write it anew when it was deleted, replaced
   * or cut from outside. A line must be among them before it is given to `appendAll`.
   */
  whole(): Iterable<Buffer | string>;
  fsync: "turn" | "always" | "never";
  clock: Clock;
  /** One sentence that names file, reason and what happens now; told once until `onRecovered` follows. */
  onTrouble(message: string): void;
  /** Everything is on disk again. */
  onRecovered(message: string): void;
}

export interface SessionFile {
  readonly path: string;
  /** Lines wait in memory because they cannot be written now; after `close`: they were given up. */
  readonly isBehind: boolean;
  /** In one write. Never throws. They are on disk when it returns, unless there is trouble. */
  appendAll(lines: readonly string[]): void;
  /** Makes the turn safe from a loss of power, by policy, without waiting for it. */
  endTurn(): void;
  /**
   * Lets somebody put a whole new file in the place of this one; `make` gives back its size, or throws when all is as it
   * was. False, and nothing is done, while lines wait to be written or the file is not as we have left it.
   */
  exchange(make: () => number): boolean;
  /** Tries once more what waits, and tells if it is lost; waits for the sync under way, closes. Never rejects. */
  close(): Promise<void>;
}

const RETRY_MS = 2000;
const LINE_END_BYTES = Buffer.of(LINE_END);
/** File systems that know no sync answer with these, and a process that may not sync with the last: there is nothing to make safe. */
const NO_SYNC_HERE = new Set(["EINVAL", "ENOSYS", "ENOTSUP", "EOPNOTSUPP", "ERR_ACCESS_DENIED"]);

export function createSessionFile(options: SessionFileOptions): SessionFile {
  return new AppendedFile(options);
}

/** What somebody else did to the file, and whether it must be written anew. */
interface Change {
  text?: string;
  anew: boolean;
}

class AppendedFile implements SessionFile {
  readonly path: string;
  private readonly options: SessionFileOptions;
  private fd: number | undefined;
  /** The file is there, as far as we know. */
  private exists: boolean;
  /** Where its last whole line ends. */
  private size: number;
  /** Bytes after that of a write that failed half-way and could not be taken back yet. */
  private torn = 0;
  private lacksLineEnd = false;
  /** By which the file at the path is known to be the one that is open. */
  private identity: { dev: number; ino: number } | undefined;
  private waiting: Buffer[] = [];
  /** The file lacks lines that it once held: only a new one holds everything. */
  private needsAnew = false;
  private isTold = false;
  private isGrowthTold = false;
  private isClosed = false;
  private cancelRetry: (() => void) | undefined;
  private isUnsynced = false;
  private syncing: Promise<void> | undefined;

  constructor(options: SessionFileOptions) {
    this.path = options.path;
    this.options = options;
    this.exists = options.size !== undefined;
    this.size = options.size ?? 0;
  }

  get isBehind(): boolean {
    return this.waiting.length > 0 || this.needsAnew;
  }

  appendAll(lines: readonly string[]): void {
    if (lines.length === 0) return;
    this.waiting.push(Buffer.from(`${lines.join("\n")}\n`));
    this.flush();
  }

  endTurn(): void {
    if (this.isBehind) this.flush();
    if (this.options.fsync === "turn") this.sync();
  }

  exchange(make: () => number): boolean {
    if (this.isClosed || this.isBehind || !this.isAsLeft()) return false;
    const size = make();
    const isOpen = this.fd !== undefined;
    this.letGo();
    this.size = size;
    this.isUnsynced = true;
    // So that it is synced with the turn; who cannot open it now will be told with the next line.
    if (isOpen) tryTo(() => this.open());
    return true;
  }

  async close(): Promise<void> {
    if (this.isBehind) this.flush();
    this.isClosed = true;
    this.stopRetrying();
    if (this.isBehind) this.tellLost();
    while (this.syncing) await this.syncing;
    this.letGo();
  }

  private flush(): void {
    let change: Change = { anew: false };
    try {
      change = this.look();
      if (change.anew) this.writeAnew();
      else this.writeWaiting();
      if (this.options.fsync === "always") this.syncNow();
    } catch (error) {
      this.tellTrouble(change, reasonOf(error));
      return;
    } finally {
      if (this.isClosed) this.letGo();
    }
    this.tellDone(change);
  }

  /** Finds out what happened to the file since the last write. By its path: a file that was moved away counts as gone. */
  private look(): Change {
    this.removeTorn();
    const found = statSync(this.path, { throwIfNoEntry: false });
    if (found && !found.isFile()) throw notAFile(this.path, found);
    if (this.needsAnew) return { anew: true };
    if (!found) return this.exists ? { text: "was deleted or moved from outside", anew: true } : { anew: false };
    if (this.identity && (found.ino !== this.identity.ino || found.dev !== this.identity.dev)) {
      return { text: "was replaced from outside", anew: true };
    }
    if (found.size < this.size) return { text: `was cut to ${found.size} bytes from outside`, anew: true };
    return found.size > this.size ? this.goOnBehind(found.size) : { anew: false };
  }

  private isAsLeft(): boolean {
    const found = statSync(this.path, { throwIfNoEntry: false });
    if (!found?.isFile() || found.size !== this.size || this.torn > 0) return false;
    return !this.identity || (found.ino === this.identity.ino && found.dev === this.identity.dev);
  }

  /** Another program writes into the file too: nothing of it is lost, our lines follow. */
  private goOnBehind(size: number): Change {
    this.size = size;
    if (this.fd !== undefined) this.lacksLineEnd = !endsLine(this.fd, size);
    if (this.isGrowthTold) return { anew: false };
    this.isGrowthTold = true;
    return { text: "is written by another program too", anew: false };
  }

  private writeWaiting(): void {
    const fd = this.fd ?? this.open();
    let done = 0;
    try {
      for (const bytes of this.waiting) {
        this.writeOne(fd, this.lacksLineEnd ? Buffer.concat([LINE_END_BYTES, bytes]) : bytes);
        done++;
      }
    } finally {
      this.waiting.splice(0, done);
    }
  }

  private writeOne(fd: number, bytes: Buffer): void {
    let written = 0;
    try {
      while (written < bytes.length) written += writeSync(fd, bytes, written);
    } catch (error) {
      this.torn = written;
      this.takeBack();
      throw error;
    }
    this.size += bytes.length;
    this.lacksLineEnd = false;
    this.isUnsynced = true;
  }

  private takeBack(): void {
    try {
      this.removeTorn();
    } catch {
      // `torn` stays: it is tried again before anything else is written.
    }
  }

  /** Leaves it where somebody else has written behind it: that would be cut off too. */
  private removeTorn(): void {
    if (this.fd !== undefined && this.torn > 0) {
      if (fstatSync(this.fd).size === this.size + this.torn) ftruncateSync(this.fd, this.size);
    }
    this.torn = 0;
  }

  private open(): number {
    if (!this.exists) makePrivateFolder(dirname(this.path));
    const create = this.exists ? 0 : constants.O_CREAT;
    const fd = openSync(this.path, constants.O_RDWR | constants.O_APPEND | create, PRIVATE);
    try {
      const { dev, ino } = fstatSync(fd);
      // A file whose last line is whole but for its end is a good file.
      this.lacksLineEnd = !endsLine(fd, this.size);
      this.identity = { dev, ino };
    } catch (error) {
      closeQuietly(fd);
      throw error;
    }
    this.exists = true;
    this.fd = fd;
    return fd;
  }

  private writeAnew(): void {
    // Remembered: when this fails, what is at the path then may look as if it were ours.
    this.needsAnew = true;
    this.letGo();
    makePrivateFolder(dirname(this.path));
    keepIfForeign(this.path, this.options.whole());
    this.size = writeWholeFile(this.path, this.options.whole());
    this.waiting = [];
    this.needsAnew = false;
    this.exists = true;
    this.isUnsynced = true;
    this.open();
  }

  /** A sync under way still needs the descriptor. */
  private letGo(): void {
    const { fd, syncing } = this;
    this.fd = undefined;
    this.identity = undefined;
    this.torn = 0;
    if (fd === undefined) return;
    if (syncing) void syncing.then(() => closeQuietly(fd));
    else closeQuietly(fd);
  }

  private syncNow(): void {
    if (this.fd === undefined || !this.isUnsynced) return;
    try {
      fsyncSync(this.fd);
    } catch (error) {
      if (!NO_SYNC_HERE.has(codeOf(error))) {
        this.needsAnew = true;
        throw error;
      }
    }
    this.isUnsynced = false;
  }

  /** In the thread pool, at most one at a time; what is written meanwhile gets one more. */
  private sync(): void {
    const { fd } = this;
    if (fd === undefined || !this.isUnsynced || this.syncing) return;
    this.isUnsynced = false;
    let isOver = false;
    const syncing = new Promise<void>((done) => {
      fdatasync(fd, (error) => {
        isOver = true;
        this.syncing = undefined;
        if (fd === this.fd) this.synced(error);
        done();
      });
    });
    // Who is refused, by a permission model for example, hears so before the call is back.
    if (!isOver) this.syncing = syncing;
  }

  private synced(error: NodeJS.ErrnoException | null): void {
    if (!error || NO_SYNC_HERE.has(codeOf(error))) {
      this.sync();
      return;
    }
    this.needsAnew = true;
    this.tellTrouble({ anew: true }, reasonOf(error));
  }

  private tellTrouble({ text, anew }: Change, reason: string): void {
    this.retryLater();
    if (this.isTold) return;
    this.isTold = true;
    const what = `${text ? `${text} and ` : ""}cannot be written${anew ? " anew" : ""} (${reason})`;
    this.options.onTrouble(
      `The session file ${this.path} ${what}; the conversation goes on in memory and is written as soon as that is possible.`,
    );
  }

  private tellLost(): void {
    this.options.onTrouble(
      `The session file ${this.path} was closed before all of the conversation could be written; what it lacks is lost.`,
    );
  }

  private tellDone({ text, anew }: Change): void {
    this.stopRetrying();
    const wasTold = this.isTold;
    this.isTold = false;
    const done = anew ? "it was written anew from memory" : "new lines follow at its end";
    if (text && !wasTold) this.options.onTrouble(`The session file ${this.path} ${text}; ${done}.`);
    if (text || wasTold) this.options.onRecovered(`The whole conversation is in the session file ${this.path} again.`);
  }

  private retryLater(): void {
    if (this.isClosed || this.cancelRetry) return;
    this.cancelRetry = this.options.clock.after(RETRY_MS, () => {
      this.cancelRetry = undefined;
      this.flush();
    });
  }

  private stopRetrying(): void {
    this.cancelRetry?.();
    this.cancelRetry = undefined;
  }
}

function tryTo(work: () => void): void {
  try {
    work();
  } catch {
    // It is tried again when there is something to write.
  }
}

/** Somebody put a file with other content in our place. Ours is written again, but theirs must not be lost for it. */
function keepIfForeign(path: string, lines: Iterable<Buffer | string>): void {
  const found = readSessionBytes(path);
  if (!found || isBeginning(found, lines)) return;
  const aside = (n: number): string => `${path}.replaced${n > 1 ? `-${n}` : ""}`;
  let n = 1;
  while (existsSync(aside(n))) n++;
  renameSync(followLinks(path), aside(n));
}

function isBeginning(bytes: Buffer, lines: Iterable<Buffer | string>): boolean {
  let at = 0;
  for (const line of lines) {
    if (at >= bytes.length) return true;
    const expected = typeof line === "string" ? Buffer.from(line) : line;
    const found = bytes.subarray(at, at + expected.length);
    if (!found.equals(expected.subarray(0, found.length))) return false;
    at += expected.length;
    if (at < bytes.length && bytes[at] !== LINE_END) return false;
    at++;
  }
  return at >= bytes.length;
}

/** An empty file counts as one that ends its line. */
function endsLine(fd: number, size: number): boolean {
  if (size === 0) return true;
  const last = Buffer.alloc(1);
  readSync(fd, last, 0, 1, size - 1);
  return last[0] === LINE_END;
}
