import {
  closeSync,
  linkSync,
  openSync,
  readFileSync,
  readlinkSync,
  realpathSync,
  renameSync,
  statSync,
  unlinkSync,
  writeSync,
} from "node:fs";
import { basename, dirname, join, resolve } from "node:path";
import type { Clock } from "@tiller/protocol/clock";
import { randomHex, sleep } from "../../lib/clock.ts";
import { makePrivateFolder } from "../../lib/make-folder.ts";
import { codeOf } from "./file-errors.ts";

/**
 * One process at a time writes a session. A lock is a small file that says who holds it. The lock of a process that is
 * gone is worth nothing, also when its number belongs to another process by now, and is taken over.
 */

export interface LockOwner {
  /** 0: it cannot be told yet. */
  pid: number;
  host: string;
  since: string;
  path: string;
  lockFile: string;
}

export interface SessionLock {
  /** Removes the lock file if it is still ours. Synchronous, so that it works while the process exits. Never throws. */
  release(): void;
}

/** `failed`: no lock can be made here, in a read-only folder for example. */
export type LockAttempt = { lock: SessionLock } | { owner: LockOwner } | { failed: string };

export interface LockOptions {
  locksFolder: string;
  sessionPath: string;
  clock: Clock;
}

const POLL_MS = 25;
/** Where a lock cannot be made in one step, it may be seen half-written for a moment. */
const HALF_WRITTEN_MS = 1000;
/** How often a lock may change under our eyes before we leave it to the others. */
const MAX_ROUNDS = 100;
/** A taker that died while it took over, and so on. */
const MAX_DEPTH = 4;
const READABLE_CHARACTERS = 60;

interface LockContent {
  path: string;
  pid: number;
  /** Tells a process from a later one with the same number. Undefined where the system does not say. */
  processStart?: string;
  host: string;
  since: string;
  /** No two locks have the same content. */
  token: string;
}

interface FoundLock {
  text: string;
  content: LockContent | undefined;
  changedAt: number;
}

/** The locks that this process holds now. */
const held = new Set<string>();

export function tryLock({ locksFolder, sessionPath, clock }: LockOptions): LockAttempt {
  let claim: Claim | undefined;
  try {
    const path = realPath(resolve(sessionPath));
    const lockFile = join(locksFolder, `${keyOf(path)}.lock`);
    claim = makeClaim(path, lockFile, clock);
    writeClaim(claim);
    const owner = acquire(lockFile, claim, 0);
    return owner ? { owner: ownerOf(owner, path, lockFile) } : { lock: createLock(lockFile, claim.text) };
  } catch (error) {
    return { failed: `No lock can be made in ${locksFolder}: ${error instanceof Error ? error.message : error}` };
  } finally {
    if (claim) removeQuietly(claim.file);
  }
}

/** Hosts start the next process before the last one has ended: a lock often becomes free at once. */
export async function waitForLock(options: LockOptions, patienceMs: number, signal: AbortSignal): Promise<LockAttempt> {
  const end = options.clock.now() + patienceMs;
  for (;;) {
    const attempt = tryLock(options);
    const left = end - options.clock.now();
    if (!("owner" in attempt) || left <= 0 || signal.aborted) return attempt;
    await sleep(options.clock, Math.min(POLL_MS, left), signal);
  }
}

export function ownerText({ pid, host, since, path, lockFile }: LockOwner): string {
  if (pid === 0)
    return `The session file ${path} is just being locked by another process; try again, or fork the session.`;
  if (host === hostName()) {
    return `The session file ${path} is in use by process ${pid} since ${since}; end that process, or fork the session.`;
  }
  return `The session file ${path} is in use by process ${pid} on the host "${host}" since ${since}; end that process, or fork the session, or remove ${lockFile} if it no longer runs, which cannot be told from here.`;
}

/** Asked for when there is a lock to take: a session that is kept nowhere need not load the module. */
const hostName = (): string => process.getBuiltinModule("node:os").hostname();

/** Our name tag, written before the lock is made, so that the lock is never seen without it. */
interface Claim {
  text: string;
  file: string;
  clock: Clock;
}

function makeClaim(path: string, lockFile: string, clock: Clock): Claim {
  const content: LockContent = {
    path,
    pid: process.pid,
    processStart: startOf("self")?.start,
    host: hostName(),
    since: new Date(clock.now()).toISOString(),
    token: randomHex(16),
  };
  return { text: `${JSON.stringify(content)}\n`, file: `${lockFile}.${content.token}.tmp`, clock };
}

function writeClaim({ file, text }: Claim): void {
  let fd: number;
  try {
    fd = openSync(file, "wx", 0o600);
  } catch (error) {
    if (codeOf(error) !== "ENOENT") throw error;
    makePrivateFolder(dirname(file));
    fd = openSync(file, "wx", 0o600);
  }
  try {
    writeSync(fd, text);
  } finally {
    closeSync(fd);
  }
}

/**
 * Undefined when the lock is ours now, else who holds it. A stale lock is taken over by its heir: that is who holds a
 * second lock, named after the content of the stale one. So there is one heir for each lock that was ever left behind,
 * and an heir who dies on the way has an heir in turn.
 */
function acquire(file: string, claim: Claim, depth: number): FoundLock | undefined {
  let found: FoundLock | undefined;
  for (let round = 0; round < MAX_ROUNDS; round++) {
    if (create(file, claim)) return undefined;
    found = readLock(file);
    if (!found) continue;
    if (depth === MAX_DEPTH || !isStale(found, file, claim.clock)) return found;
    const heir = `${file}.${fnv1a64(found.text)}`;
    const other = acquire(heir, claim, depth + 1);
    if (other) return other;
    // Another heir may have come and gone since we looked.
    if (readLock(file)?.text === found.text) {
      renameSync(heir, file);
      return undefined;
    }
    unlinkSync(heir);
  }
  if (!found) throw new Error(`${file} comes and goes`);
  return found;
}

/** False when there is one already. */
function create(file: string, claim: Claim): boolean {
  try {
    linkSync(claim.file, file);
    return true;
  } catch (error) {
    if (codeOf(error) === "EEXIST") return false;
    if (!NO_LINKS.has(codeOf(error))) throw error;
  }
  try {
    writeClaim({ ...claim, file });
    return true;
  } catch (error) {
    if (codeOf(error) === "EEXIST") return false;
    throw error;
  }
}

/** What file systems without hard links answer. */
const NO_LINKS = new Set(["EPERM", "ENOSYS", "ENOTSUP", "EOPNOTSUPP"]);

function createLock(file: string, text: string): SessionLock {
  let isHeld = true;
  held.add(file);
  return {
    release() {
      if (!isHeld) return;
      isHeld = false;
      held.delete(file);
      try {
        if (readLock(file)?.text === text) unlinkSync(file);
      } catch {
        // It stays behind, and is stale as soon as this process has ended.
      }
    },
  };
}

function readLock(file: string): FoundLock | undefined {
  try {
    const text = readFileSync(file, "utf8");
    return { text, content: parseLock(text), changedAt: statSync(file).mtimeMs };
  } catch (error) {
    if (codeOf(error) === "ENOENT") return undefined;
    throw error;
  }
}

function parseLock(text: string): LockContent | undefined {
  try {
    const value: Partial<LockContent> | null = JSON.parse(text);
    if (!value || !Number.isInteger(value.pid) || (value.pid as number) <= 0) return undefined;
    const isWhole = [value.path, value.host, value.since].every((field) => typeof field === "string");
    return isWhole ? (value as LockContent) : undefined;
  } catch {
    return undefined;
  }
}

function isStale({ content, changedAt }: FoundLock, file: string, clock: Clock): boolean {
  // Either way: a clock may have been set back.
  if (!content) return Math.abs(clock.now() - changedAt) > HALF_WRITTEN_MS;
  if (content.host !== hostName()) return false;
  if (!exists(content.pid)) return true;
  const running = startOf(content.pid);
  if (running?.isDead) return true;
  if (running && content.processStart !== undefined) return running.start !== content.processStart;
  return content.pid === process.pid && !held.has(file);
}

function exists(pid: number): boolean {
  try {
    process.kill(pid, 0);
    return true;
  } catch (error) {
    // Whoever may not be asked is there.
    return codeOf(error) !== "ESRCH";
  }
}

interface ProcessStart {
  start: string;
  /** Ended, but its parent has not looked yet. */
  isDead: boolean;
}

const STATE_FIELD = 3;
const START_FIELD = 22;

/** When the system started and how long after that the process. Undefined where there is no /proc or it hides others. */
function startOf(pid: number | "self"): ProcessStart | undefined {
  try {
    const stat = readFileSync(`/proc/${pid}/stat`, "utf8");
    // The second field is the name in parentheses and may hold anything, also parentheses.
    const fields = stat.slice(stat.lastIndexOf(")") + 2).split(" ");
    const field = (number: number): string => fields[number - STATE_FIELD] ?? "";
    const boot = readFileSync("/proc/sys/kernel/random/boot_id", "utf8").trim();
    return { start: `${boot}/${field(START_FIELD)}`, isDead: /[ZXx]/.test(field(STATE_FIELD)) };
  } catch {
    return undefined;
  }
}

function ownerOf({ content, changedAt }: FoundLock, path: string, lockFile: string): LockOwner {
  const { pid, host, since } = content ?? { pid: 0, host: "", since: new Date(changedAt).toISOString() };
  return { pid, host, since, path, lockFile };
}

/** The same name for all ways to the same file, whether it is there already or not. */
function realPath(path: string): string {
  try {
    return realpathSync.native(path);
  } catch (error) {
    // Links in a circle have no end; what cannot be reached has a name all the same.
    if (codeOf(error) === "ELOOP") throw error;
  }
  const folder = dirname(path);
  const real = folder === path ? path : join(realPath(folder), basename(path));
  const target = linkTarget(real);
  return target === undefined ? real : realPath(resolve(dirname(real), target));
}

/** Of a link to what is not there yet. */
function linkTarget(path: string): string | undefined {
  try {
    return readlinkSync(path);
  } catch {
    // Nothing is there, or no link: the name is as good as it gets.
    return undefined;
  }
}

/** A name for what is kept of a session in another folder: the same for all ways to the same file. */
export function fileKey(sessionPath: string): string {
  return keyOf(realPath(resolve(sessionPath)));
}

function keyOf(path: string): string {
  const readable = basename(path, ".jsonl").replace(/[^\w.-]/g, "_");
  return `${readable.slice(-READABLE_CHARACTERS)}-${fnv1a64(path)}`;
}

/** Distinct, not secret: node:crypto takes longer to load than all of this. */
function fnv1a64(text: string): string {
  let hash = 0xcbf29ce484222325n;
  for (const byte of Buffer.from(text)) hash = BigInt.asUintN(64, (hash ^ BigInt(byte)) * 0x100000001b3n);
  return hash.toString(16).padStart(16, "0");
}

function removeQuietly(file: string): void {
  try {
    unlinkSync(file);
  } catch {
    // It was never made, or it stays: a claim without a lock says nothing to anybody.
  }
}
