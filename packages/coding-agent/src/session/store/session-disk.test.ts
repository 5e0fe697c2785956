import {
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  unlinkSync,
  writeFileSync,
} from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import type { SessionEntry } from "@tiller/protocol/session-entry";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { FakeClock } from "../../../../../test/support/fake-clock.ts";
import { createEntryLog, type EntryLog } from "./entry-log.ts";
import { createSessionDisk, type SessionDiskOptions } from "./session-disk.ts";
import { type SessionLock, tryLock } from "./session-lock.ts";
import { messageEntry, testHeader, user } from "./test-sessions.ts";

let dir = "";
let path = "";
let notices: string[] = [];
let clock = new FakeClock();
beforeEach(() => {
  dir = mkdtempSync(join(tmpdir(), "tiller-disk-"));
  path = join(dir, "deep", "s.jsonl");
  notices = [];
  clock = new FakeClock();
});
afterEach(() => rmSync(dir, { recursive: true, force: true }));

const disk = (more: Partial<SessionDiskOptions> = {}) =>
  createSessionDisk({
    path,
    locksFolder: join(dir, "locks"),
    fsync: "turn",
    clock,
    onNotice: (level, message) => notices.push(`${level}: ${message}`),
    ...more,
  });

function logOf(...ids: string[]): EntryLog {
  const log = createEntryLog(testHeader);
  for (const id of ids) add(log, id);
  return log;
}
function add(log: EntryLog, id: string): void {
  const parentId = log.length === 0 ? null : log.id(log.length - 1);
  log.append(messageEntry(id, parentId, user(id)) as unknown as SessionEntry);
}
const ids = (): string[] =>
  readFileSync(path, "utf8")
    .trimEnd()
    .split("\n")
    .map((line) => JSON.parse(line).id);
const locks = (): string[] => (existsSync(join(dir, "locks")) ? readdirSync(join(dir, "locks")) : []);
const lockOf = (): SessionLock => {
  const attempt = tryLock({ locksFolder: join(dir, "locks"), sessionPath: path, clock });
  if (!("lock" in attempt)) throw new Error("no lock");
  return attempt.lock;
};

describe("a session on disk", () => {
  it("has no file and no lock until a conversation begins; then all that waited is written", async () => {
    const log = logOf("a", "b");
    const subject = disk();
    subject.write(log, false);
    expect([existsSync(path), locks()]).toEqual([false, []]);
    add(log, "c");
    subject.write(log, true);
    expect(ids()).toEqual(["s1", "a", "b", "c"]);
    expect(locks()).toHaveLength(1);
    add(log, "d");
    subject.write(log, false);
    expect(ids()).toEqual(["s1", "a", "b", "c", "d"]);
    await subject.close();
    expect(locks()).toEqual([]);
    expect(notices).toEqual([]);
  });

  it("goes on behind what the file holds already", async () => {
    const log = logOf("a", "b");
    mkdirSync(join(dir, "deep"));
    const content = [...log.lines()].map((line) => `${line}\n`).join("");
    writeFileSync(path, content);
    const subject = disk({ existing: { bytes: content.length, entries: 2 } });
    expect(locks()).toHaveLength(1);
    add(log, "c");
    subject.write(log, false);
    expect(ids()).toEqual(["s1", "a", "b", "c"]);
    await subject.close();
  });

  it("writes nothing once it is closed", async () => {
    const log = logOf("a");
    const subject = disk();
    subject.write(log, true);
    await subject.close();
    add(log, "b");
    subject.write(log, true);
    expect(ids()).toEqual(["s1", "a"]);
  });

  it("writes everything anew when the file is gone, and says so", async () => {
    const log = logOf("a");
    const subject = disk();
    subject.write(log, true);
    unlinkSync(path);
    add(log, "b");
    subject.write(log, false);
    expect(ids()).toEqual(["s1", "a", "b"]);
    expect(notices).toEqual([
      expect.stringMatching(/^error: .* was deleted or moved from outside/),
      expect.stringMatching(/^info: The whole conversation is in the session file/),
    ]);
    await subject.close();
  });

  it("goes on without a lock where none can be made, and says so", async () => {
    writeFileSync(join(dir, "locks"), "a file in the way");
    const subject = disk();
    subject.write(logOf("a"), true);
    expect(ids()).toEqual(["s1", "a"]);
    expect(notices).toEqual([expect.stringMatching(/^warning: No lock can be made/)]);
    await subject.close();
  });
});

describe("a session that another process is using", () => {
  it("is not written, and cannot be until the other lets go", async () => {
    const other = lockOf();
    const claim = tryLock({ locksFolder: join(dir, "locks"), sessionPath: path, clock });
    const taken: SessionLock[] = [];
    const subject = disk({ claim, onTakenOver: (lock) => taken.push(lock) });
    expect(subject.isInUse).toBe(true);
    subject.write(logOf("a"), true);
    expect(existsSync(path)).toBe(false);

    const refused = subject.problem();
    await clock.advance(2100);
    expect(await refused).toMatch(/is in use by process \d+ since .*; end that process, or fork the session/);

    const [one, two] = [subject.problem(), subject.problem()];
    other.release();
    await clock.advance(100);
    expect([await one, await two, taken.length]).toEqual([undefined, undefined, 1]);
    expect(subject.isInUse).toBe(false);
    expect(subject.problem()).toBeUndefined();
    taken[0]?.release();
    await subject.close();
  });

  it("is let go when it is left while somebody waits for it", async () => {
    const other = lockOf();
    const claim = tryLock({ locksFolder: join(dir, "locks"), sessionPath: path, clock });
    const taken: SessionLock[] = [];
    const subject = disk({ claim, onTakenOver: (lock) => taken.push(lock) });
    const problem = subject.problem();
    await subject.close();
    // At once, not when the patience is over.
    expect(await problem).toEqual(expect.any(String));
    other.release();
    await clock.advance(3000);
    expect([taken, locks()]).toEqual([[], []]);
  });

  it("that cannot be read when it is ours stays as it was, with a reason, and the lock is given back", async () => {
    const other = lockOf();
    const claim = tryLock({ locksFolder: join(dir, "locks"), sessionPath: path, clock });
    const subject = disk({
      claim,
      onTakenOver() {
        throw new Error("it is a folder now");
      },
    });
    const problem = subject.problem();
    other.release();
    await clock.advance(100);
    expect(await problem).toBe("it is a folder now");
    expect([subject.isInUse, locks()]).toEqual([true, []]);
    await subject.close();
  });
});
