import type { Clock } from "@tiller/protocol/clock";
import type { EntryLog } from "./entry-log.ts";
import { createSessionFile, type SessionFile } from "./session-file.ts";
import { type LockAttempt, ownerText, type SessionLock, tryLock, waitForLock } from "./session-lock.ts";

/** What all sessions of this process have in common on disk. */
export interface DiskSettings {
  locksFolder: string;
  fsync: "turn" | "always" | "never";
  clock: Clock;
  /** Something a person should know, e.g. that the disk is full, or no longer. */
  onNotice(level: "info" | "warning" | "error", message: string): void;
}

/** How a session is kept in its file: what is written when, and by whom. */
export interface SessionDisk {
  readonly path: string;
  /** By another process. */
  readonly isInUse: boolean;
  /**
   * Writes the entries that are not in the file yet. The file appears when a conversation begins; until then entries
   * wait for it.
   */
  write(log: EntryLog, begins: boolean): void;
  /** Why nothing may be written, after another process has had some time to let go of the file. */
  problem(): undefined | Promise<string | undefined>;
  endTurn(): void;
  close(): Promise<void>;
}

/** For those who find damage while it is in use. */
export interface RepairableDisk extends SessionDisk {
  /** Nobody else may write to the file. */
  readonly isLocked: boolean;
  /**
   * `make` puts a new file in the place of the old one and gives back its size. False, and nothing is done, when that is
   * not possible now: without the lock, while lines wait to be written, or when others have changed the file.
   */
  exchange(make: () => number): boolean;
  /** From now on this is what the file holds, and nothing of it has to be written. */
  holds(log: EntryLog): void;
}

export interface SessionDiskOptions extends DiskSettings {
  path: string;
  /** What is in the file; undefined while there is none. */
  existing?: {
    bytes: number;
    /** How many entries of the log it holds. */
    entries: number;
  };
  /** What came of taking the lock; undefined: it is taken when there is something in the file. */
  claim?: LockAttempt;
  /** Another process had the file and has let go of it: what is in it now has to be read again. */
  onTakenOver?(lock: SessionLock): void;
}

/** Hosts start us again faster than we exit. */
const PATIENCE_MS = 2000;

export function createSessionDisk(options: SessionDiskOptions): RepairableDisk {
  const { path, existing, claim, clock, locksFolder, onNotice } = options;
  let lock = claim && "lock" in claim ? claim.lock : undefined;
  let owner = claim && "owner" in claim ? claim.owner : undefined;
  const leaving = new AbortController();
  /** Whoever asks while another one waits gets the same answer. */
  let asked: Promise<string | undefined> | undefined;
  let kept: EntryLog | undefined;
  let written = existing?.entries ?? 0;
  let hasBegun = existing !== undefined;
  let isClosed = false;

  const file: SessionFile = createSessionFile({
    path,
    size: existing?.bytes,
    whole: () => kept?.lines() ?? [],
    fsync: options.fsync,
    clock,
    onTrouble: (message) => onNotice("error", message),
    onRecovered: (message) => onNotice("info", message),
  });

  const takeLock = (): void => {
    const attempt = tryLock({ locksFolder, sessionPath: path, clock });
    if ("lock" in attempt) lock = attempt.lock;
    else onNotice("warning", "owner" in attempt ? ownerText(attempt.owner) : attempt.failed);
  };
  const begin = (log: EntryLog): string[] => {
    hasBegun = true;
    if (!claim) takeLock();
    return [JSON.stringify(log.header)];
  };
  const takeOver = async (): Promise<string | undefined> => {
    const attempt = await waitForLock({ locksFolder, sessionPath: path, clock }, PATIENCE_MS, leaving.signal);
    if ("owner" in attempt) return ownerText(attempt.owner);
    if ("failed" in attempt) return attempt.failed;
    if (isClosed) {
      attempt.lock.release();
      return `The session of ${path} was left while somebody else was using it.`;
    }
    try {
      options.onTakenOver?.(attempt.lock);
      owner = undefined;
      return undefined;
    } catch (error) {
      attempt.lock.release();
      return error instanceof Error ? error.message : String(error);
    }
  };

  if (existing && !claim) takeLock();

  return {
    path,
    get isInUse() {
      return owner !== undefined;
    },
    write(log, begins) {
      kept = log;
      if (isClosed || owner || !(hasBegun || begins)) return;
      const lines = hasBegun ? [] : begin(log);
      for (; written < log.length; written++) lines.push(String(log.line(written)));
      file.appendAll(lines);
    },
    problem() {
      if (!owner) return undefined;
      asked ??= takeOver().finally(() => {
        asked = undefined;
      });
      return asked;
    },
    get isLocked() {
      return lock !== undefined;
    },
    exchange: (make) => !isClosed && lock !== undefined && file.exchange(make),
    holds(log) {
      kept = log;
      written = log.length;
    },
    endTurn: () => file.endTurn(),
    async close() {
      isClosed = true;
      leaving.abort();
      await file.close();
      lock?.release();
      lock = undefined;
    },
  };
}
