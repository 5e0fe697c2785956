import {
  appendFileSync,
  copyFileSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  writeFileSync,
} from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import fc from "fast-check";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { FakeClock } from "../../../../../test/support/fake-clock.ts";
import { tries } from "../../../../../test/support/part-of.ts";
import { type OpenOptions, openSession } from "./open-session.ts";
import { repairSession } from "./salvage.ts";
import { tryLock } from "./session-lock.ts";
import { createSessionStore, type SessionStore } from "./session-store.ts";
import {
  assistant,
  countingIds,
  entriesOf,
  fileOf,
  messageEntry,
  type PlainEntry,
  plain,
  user,
} from "./test-sessions.ts";
import { verifyLines } from "./verify.ts";

let dir = "";
let path = "";
let notices: string[] = [];
let clock = new FakeClock();
const stores: SessionStore[] = [];
beforeEach(() => {
  dir = mkdtempSync(join(tmpdir(), "tiller-later-"));
  path = join(dir, "s.jsonl");
  notices = [];
  clock = new FakeClock();
});
afterEach(async () => {
  for (const store of stores.splice(0)) await store.close();
  rmSync(dir, { recursive: true, force: true });
});

const options = (more: Partial<OpenOptions> = {}): OpenOptions => ({
  locksFolder: join(dir, "locks"),
  fsync: "never",
  clock,
  ids: countingIds(),
  cwd: "/here",
  onNotice: (level, message) => notices.push(`${level}: ${message}`),
  onReopened: () => undefined,
  // So that two megabytes are enough to hide something behind.
  isStart: true,
  ...more,
});

function opened(content?: Buffer): SessionStore {
  if (content) writeFileSync(path, content);
  const store = createSessionStore({ clock, ids: idsFrom(0xa0000000), first: openSession(path, options()) });
  stores.push(store);
  return store;
}

/** Ids that no file of these tests has. */
function idsFrom(first: number) {
  let next = first;
  return { ...countingIds(), short: () => (next++).toString(16) };
}

/** Lets the look-through come to its end. */
async function lookedThrough(store: SessionStore): Promise<void> {
  const done = store.lookedThrough;
  clock.advanceSync(60_000);
  await done;
}

const id = (n: number): string => n.toString(16).padStart(8, "0");
const said = (n: number, parent: number | null): PlainEntry =>
  messageEntry(id(n), parent === null ? null : id(parent), n % 2 ? assistant(`says ${n}`) : user(`asks ${n}`));
/** More than is looked through at the start. No model is shown it. */
const padding = (n: number, parent: number): PlainEntry =>
  plain(id(n), id(parent), { type: "custom", customType: "x", data: "x".repeat(2_200_000) });
const chain = (count: number): PlainEntry[] =>
  Array.from({ length: count }, (_, n) => (n === count - 1 ? padding(n, n - 1) : said(n, n === 0 ? null : n - 1)));
const broken = (entry: PlainEntry): string => JSON.stringify(entry).replace(/"(says|asks) /, '"\u0001{" ');
const linesOf = (file: string): string[] => readFileSync(file, "utf8").trimEnd().split("\n");
/** Two megabytes are too many for a comparison that explains the difference. */
const expectFile = (bytes: Buffer): void => expect(readFileSync(path).equals(bytes)).toBe(true);
const aside = (file: string): string[] =>
  existsSync(`${file}.damaged`) ? readFileSync(`${file}.damaged`, "utf8").split("\n") : [];

describe("damage far before the end of a file", () => {
  const entries = chain(8);
  const damaged = (): Buffer => fileOf(entries.map((entry, n) => (n === 2 ? broken(entry) : entry)));

  it("is repaired after the file was opened, set aside and told, and nothing else is lost", async () => {
    const store = opened(damaged());
    expect(notices).toEqual([]);
    expectFile(damaged());
    await lookedThrough(store);
    expect(notices).toEqual([expect.stringMatching(/^warning: .* was damaged: \d+ bytes.*Everything else is there/)]);
    const lost = { ...plain(id(2), id(1), { type: "custom", customType: "tiller.lost", data: {} }) };
    const whole = entries.map((entry, n) => (n === 2 ? lost : entry));
    expectFile(fileOf(whole));
    expect(entriesOf(store.log)).toEqual(whole);
    expect(aside(path)[1]).toBe(broken(entries[2]!));
    expect(JSON.parse(aside(path)[0]!)).toMatchObject({ bytes: Buffer.byteLength(broken(entries[2]!)) });
    expect(readdirSync(dir).sort()).toEqual(["locks", "s.jsonl", "s.jsonl.damaged"]);
  });

  it("leaves nothing behind of a repair that a crash has ended, and nothing else is taken for that", async () => {
    for (const name of ["s.jsonl.0123abcd.tmp", "s.jsonl.notes.tmp", "other.jsonl.0123abcd.tmp"]) {
      writeFileSync(join(dir, name), "half");
    }
    await lookedThrough(opened(damaged()));
    const left = readdirSync(dir).filter((name) => name.endsWith(".tmp"));
    expect(left.sort()).toEqual(["other.jsonl.0123abcd.tmp", "s.jsonl.notes.tmp"]);
  });

  it("is told once: who opens the file again finds nothing", async () => {
    const store = opened(damaged());
    await lookedThrough(store);
    await store.close();
    const again = opened();
    await lookedThrough(again);
    expect(notices).toHaveLength(1);
    expect(entriesOf(again.log)).toEqual(entriesOf(store.log));
  });

  it("changes nothing for those who hold parts of the conversation", async () => {
    const store = opened(damaged());
    const before = store.messages.slice();
    store.appendMessage(user("and on"));
    const appended = store.messages.at(-1);
    await lookedThrough(store);
    expect(store.messages).toHaveLength(before.length + 1);
    for (const [at, message] of before.entries()) expect(store.messages[at]).toBe(message);
    expect(store.messages.at(-1)).toBe(appended);
    store.leaveOut([appended!]);
    expect(store.messages).toEqual(before);
  });

  it("gives back what was saved out of it to the conversation that is open", async () => {
    const [first, second, third, ...rest] = entries.map((entry) => JSON.stringify(entry));
    // The line end behind the second one is gone: the third is nowhere, and the fourth has no parent.
    const store = opened(fileOf([first!, `${second}${third}`, ...rest]));
    expect(store.branch()).not.toContainEqual(entries[0]);
    const { leafId } = store;
    await lookedThrough(store);
    expect(store.branch()).toEqual(entries);
    expect(store.leafId).toBe(leafId);
    expectFile(fileOf(entries));
    expect(notices).toEqual([expect.stringContaining("2 entries could be saved")]);
  });

  it("that was the place of the conversation leaves it where it still is", async () => {
    const [first, second, ...rest] = entries;
    const side = said(0x77, 1);
    const store = opened(fileOf([first!, second!, broken(side), ...rest]));
    store.moveTo(2);
    await lookedThrough(store);
    expect(store.leafId).toBe(second!.id);
    store.appendMessage(user("from here"));
    expect(JSON.parse(linesOf(path).at(-1)!)).toMatchObject({ parentId: second!.id });
  });

  it("that was added to meanwhile keeps its place", async () => {
    const [first, second, ...rest] = entries;
    const side = said(0x77, 1);
    const store = opened(fileOf([first!, second!, broken(side), ...rest]));
    store.moveTo(2);
    store.appendMessage(user("from here"));
    await lookedThrough(store);
    const [lost, added] = linesOf(path)
      .slice(-2)
      .map((line) => JSON.parse(line));
    expect(lost).toMatchObject({ id: side.id, parentId: second!.id, customType: "tiller.lost" });
    expect(added).toMatchObject({ parentId: side.id });
    expect(store.branch().map((entry) => entry.id)).toEqual([first!.id, second!.id, side.id, added.id]);
  });

  it("stays when the session is left before it was found, or in the middle of the repair", async () => {
    let slices = 0;
    for (; ; slices++) {
      const store = opened(damaged());
      const done = store.lookedThrough;
      for (let n = 0; n < slices; n++) clock.advanceSync(clock.waits[0] ?? 0);
      if (notices.length > 0) break;
      await store.close();
      await done;
      clock.advanceSync(60_000);
      expect(notices).toEqual([]);
      expect(clock.pending).toBe(0);
      expectFile(damaged());
      expect(readdirSync(dir).sort()).toEqual(["locks", "s.jsonl"]);
      clock = new FakeClock();
    }
    expect(slices).toBeGreaterThan(3);
  });

  it("is only told while another process is using the file", async () => {
    writeFileSync(path, damaged());
    const held = tryLock({ locksFolder: join(dir, "locks"), sessionPath: path, clock });
    const store = opened();
    await lookedThrough(store);
    expect(notices).toEqual([expect.stringMatching(/is damaged: .* They stay in it, as another process is using it/)]);
    expectFile(damaged());
    expect(existsSync(`${path}.damaged`)).toBe(false);
    if ("lock" in held) held.lock.release();
  });

  const obstacles: [what: string, make: () => void][] = [
    ["another program writes to the file", () => appendFileSync(path, `${JSON.stringify(said(0x99, 1))}\n`)],
    ["the bad bytes cannot be set aside", () => mkdirSync(`${path}.damaged`)],
    ["the file is gone", () => rmSync(path)],
  ];
  it.each(obstacles)("is only told when %s, and the session goes on", async (_what, make) => {
    const store = opened(damaged());
    make();
    const found = existsSync(path) ? readFileSync(path) : undefined;
    await lookedThrough(store);
    expect(notices).toEqual([expect.stringMatching(/is damaged: .* They stay in it/)]);
    if (found) expectFile(found);
    expect(readdirSync(dir).filter((name) => name.endsWith(".tmp"))).toEqual([]);
    store.appendMessage(user("and on"));
    expect(linesOf(path).at(-1)).toContain("and on");
  });

  it("is found at once in a file of an older version, which is written anew as a whole", () => {
    const old = { type: "session", version: 2, id: "s1", timestamp: "", cwd: "/w" };
    opened(
      fileOf(
        entries.map((entry, n) => (n === 2 ? broken(entry) : entry)),
        old,
      ),
    );
    expect(notices).toEqual([expect.stringMatching(/was damaged/)]);
    expect(aside(path)[1]).toBe(broken(entries[2]!));
  });

  it("is not looked for again in a file that was looked through when it was opened", () => {
    expect(opened(fileOf([said(0, null), said(1, 0)]))).toBeDefined();
    expect(clock.pending).toBe(0);
  });
});

/** What can happen to a line that still begins as it should. */
const HARM: Record<string, (line: string, next: string) => string> = {
  inside: (line) => `${line.slice(0, -30)}\u0001{"${line.slice(-25)}`,
  behind: (line) => `${line} garbage}`,
  joined: (line, next) => `${line}${next}`,
  "torn and joined": (line, next) => `${line.slice(0, -12)}${next}`,
  twice: (line) => `${line}${line}`,
};

/** A tree, some of whose lines are harmed, and what is done with it meanwhile. */
const story = fc.record({
  parents: fc.array(fc.nat(), { minLength: 3, maxLength: 14 }),
  harm: fc.array(fc.tuple(fc.nat(), fc.constantFrom(...Object.keys(HARM))), { minLength: 1, maxLength: 4 }),
  /** Slices that are worked off, or a place to which somebody goes and adds something. */
  steps: fc.array(fc.oneof(fc.constant("work" as const), fc.nat(200)), { maxLength: 12 }),
});

it("is repaired as `tiller sessions repair` does it, whatever is added meanwhile", async () => {
  const check = async ({ parents, harm, steps }: typeof story extends fc.Arbitrary<infer T> ? T : never) => {
    const tree = parents.map((parent, n) => said(n, n === 0 ? null : n - 1 - (parent % Math.min(n, 3))));
    const lines = [...tree, padding(tree.length, tree.length - 1)].map((entry) => JSON.stringify(entry));
    for (const [place, how] of harm) {
      const at = place % tree.length;
      const next = lines[at + 1];
      if (!lines[at] || !next || next.length > 2_000_000) continue;
      lines[at] = HARM[how]!(lines[at], next);
      if (how.includes("joined")) lines[at + 1] = "";
    }
    const content = fileOf(lines.filter((line) => line !== ""));
    clock = new FakeClock();
    notices = [];
    const copy = join(dir, "copy.jsonl");
    for (const file of [path, copy]) rmSync(`${file}.damaged`, { force: true });
    const store = opened(content);
    expect(notices).toEqual([]);

    /** One slice; the first comes later. */
    const work = (): void => {
      const wasRepaired = notices.length > 0;
      if (!wasRepaired) copyFileSync(path, copy);
      clock.advanceSync(clock.waits[0] ?? 0);
      if (notices.length === 0 || wasRepaired) return;
      const bytes = readFileSync(copy);
      repairSession({ path: copy, bytes, damage: verifyLines(bytes).damage, clock });
      expectFile(readFileSync(copy));
      const pieces = (file: string) => aside(file).filter((_, n) => n % 2 === 1);
      expect(pieces(path)).toEqual(pieces(copy));
    };
    for (const [n, step] of steps.entries()) {
      if (step === "work") work();
      else {
        store.moveTo(step % store.log.length);
        store.appendMessage(user(`added ${n}`));
      }
    }
    while (clock.pending > 0) work();
    await store.lookedThrough;
    store.appendMessage(user("the end"));

    // What is in memory is what the next one reads.
    await store.close();
    const again = opened();
    await lookedThrough(again);
    expect(notices.length).toBeLessThanOrEqual(1);
    expect(entriesOf(again.log)).toEqual(entriesOf(store.log));
    expect(again.branch()).toEqual(store.branch());
    await again.close();
  };
  // The first entry is lost, and somebody goes back to it before that is found: what stands for it comes behind its children.
  const early = {
    parents: [1730814957, 1119091207, 746667386, 1598286370, 1740412344],
    harm: [
      [112949097, "twice"],
      [1265911560, "torn and joined"],
    ] as [number, string][],
    steps: ["work", 3, "work", 4, 21, "work", "work", 76, "work"] as ("work" | number)[],
  };
  const numRuns = Number(process.env.TILLER_RUNS ?? tries(24));
  await fc.assert(fc.asyncProperty(story, check), { numRuns, examples: [[early]] });
}, 60_000);
