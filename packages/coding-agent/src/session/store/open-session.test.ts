import { existsSync, mkdtempSync, readdirSync, readFileSync, rmSync, statSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { FakeClock } from "../../../../../test/support/fake-clock.ts";
import { type OpenOptions, openSession, readSession } from "./open-session.ts";
import { tryLock } from "./session-lock.ts";
import { createSessionStore, type OpenSession } from "./session-store.ts";
import { assistant, countingIds, entriesOf, fileOf, messageEntry, STARTED, testHeader, user } from "./test-sessions.ts";

let dir = "";
let notices: string[] = [];
let path = "";
beforeEach(() => {
  dir = mkdtempSync(join(tmpdir(), "tiller-open-"));
  path = join(dir, "s.jsonl");
  notices = [];
});
afterEach(() => rmSync(dir, { recursive: true, force: true }));

const clock = new FakeClock();

function options(more: Partial<OpenOptions> = {}): OpenOptions {
  return {
    locksFolder: join(dir, "locks"),
    fsync: "never",
    clock,
    ids: countingIds(),
    cwd: "/here",
    onNotice: (level, message) => notices.push(`${level}: ${message}`),
    onReopened: () => undefined,
    ...more,
  };
}

function open(content: Buffer | string | undefined, more: Partial<OpenOptions> = {}): OpenSession {
  if (content !== undefined) writeFileSync(path, content);
  return openSession(path, options(more));
}
const close = (session: OpenSession) => session.disk?.close();

const hi = messageEntry("aaaaaaaa", null, user("hi"));
const ho = messageEntry("bbbbbbbb", "aaaaaaaa", assistant("ho"));

describe("opening a session", () => {
  it("that is not there begins one at its path", () => {
    const session = open(undefined);
    expect(session.log.header).toMatchObject({ version: 3, cwd: "/here" });
    expect([session.path, session.log.length, existsSync(path)]).toEqual([path, 0, false]);
    expect(open("").log.length).toBe(0);
  });

  it("gives its header and its entries, and leaves the file as it is", async () => {
    const bytes = fileOf([hi, ho]);
    const session = open(bytes);
    expect(session.log.header).toEqual(testHeader);
    expect(entriesOf(session.log)).toEqual([hi, ho]);
    expect(readFileSync(path)).toEqual(bytes);
    expect([...session.log.lines()].join("\n")).toBe(String(bytes).trimEnd());
    expect(notices).toEqual([]);
    await close(session);
    expect(readdirSync(join(dir, "locks"))).toEqual([]);
  });

  it("whose header says what cannot be has an id and a folder all the same", () => {
    const { header } = open(fileOf([hi], { ...testHeader, id: {}, cwd: 5 })).log;
    expect(header).toMatchObject({ id: expect.stringMatching(/./), cwd: "/here" });
  });

  it.each([[{ toString: "x" }], [["4"]], ["4"], [null]])("whose version is %j opens as one of the first", (version) => {
    const { log } = open(fileOf([hi], { ...testHeader, version }));
    expect([log.header.version, entriesOf(log)[0]]).toMatchObject([3, { message: user("hi") }]);
  });

  const older: [story: string, lines: object[], ids: (string | null)[][]][] = [
    [
      "of version 1: entries get ids and form a chain",
      [
        { type: "session", id: "old", timestamp: "", cwd: "/w" },
        { type: "message", timestamp: "", message: user("one") },
        { type: "message", timestamp: "", message: user("two") },
      ],
      [
        ["00000001", null],
        ["00000002", "00000001"],
      ],
    ],
    [
      "of version 2: entries stay",
      [
        { type: "session", version: 2, id: "old", timestamp: "", cwd: "/w" },
        { type: "message", id: "x", parentId: null, timestamp: "", message: { role: "hookMessage", content: "" } },
      ],
      [["x", null]],
    ],
  ];
  for (const [story, lines, ids] of older) {
    it(`${story}; the file is written anew, once`, async () => {
      const session = open(lines.map((line) => `${JSON.stringify(line)}\n`).join(""));
      expect(entriesOf(session.log).map(({ id, parentId }) => [id, parentId])).toEqual(ids);
      expect(session.log.header).toMatchObject({ version: 3, id: "old" });
      const written = readFileSync(path, "utf8");
      expect(JSON.parse(written.split("\n")[0]!).version).toBe(3);
      await close(session);
      const again = open(undefined);
      expect(entriesOf(again.log)).toEqual(entriesOf(session.log));
      expect(readFileSync(path, "utf8")).toBe(written);
      await close(again);
    });
  }

  it("without a header gives it one", async () => {
    const session = open(`${JSON.stringify(hi)}\n${JSON.stringify(ho)}\n`);
    expect(entriesOf(session.log)).toEqual([hi, ho]);
    expect(readFileSync(path, "utf8").split("\n")[0]).toBe(JSON.stringify(session.log.header));
    await close(session);
  });
});

describe("a damaged session", () => {
  const broken = JSON.stringify(ho).replace("ho", "\u0001");
  const cases: [story: string, content: () => string, entries: object[]][] = [
    ["is torn at its end", () => `${fileOf([hi])}${JSON.stringify(ho).slice(0, -20)}`, [hi]],
    ["is torn where a line could have ended", () => `${fileOf([hi])}${JSON.stringify(ho).slice(0, -1)}`, [hi]],
    ["has zeros at its end", () => `${fileOf([hi, ho])}${"\0".repeat(5000)}`, [hi, ho]],
    ["has zeros in the middle", () => String(fileOf([hi, "\0".repeat(4096), ho])), [hi, ho]],
    ["has garbage in the middle", () => String(fileOf([hi, "garbage {", ho])), [hi, ho]],
    ["has a line that is broken inside", () => String(fileOf([hi, broken])), [hi]],
    ["has two lines in one", () => String(fileOf([`${JSON.stringify(hi)}${JSON.stringify(ho)}`])), [hi, ho]],
    ["has lost its header", () => `{"type":"sess\n${JSON.stringify(hi)}\n`, [hi]],
    ["has zeros before its first line", () => `\0\0\0${fileOf([hi])}`, [hi]],
  ];
  for (const [story, content, entries] of cases) {
    it(`that ${story} is repaired, and tells it`, async () => {
      const session = open(content());
      expect(entriesOf(session.log)).toEqual(entries);
      expect(notices).toEqual([expect.stringMatching(/^warning: .* was damaged/)]);
      const store = createSessionStore({ clock, ids: countingIds(), first: session });
      store.appendMessage(user("and on"));
      await store.close();
      const again = open(undefined);
      expect(entriesOf(again.log)).toEqual([...entries, expect.objectContaining({ message: user("and on") })]);
      expect(notices).toHaveLength(1);
      await close(again);
    });
  }

  it("may be one whose last line only lacks its end", async () => {
    const session = open(String(fileOf([hi, ho])).trimEnd());
    expect(entriesOf(session.log)).toEqual([hi, ho]);
    expect(notices).toEqual([]);
    const store = createSessionStore({ clock, ids: countingIds(), first: session });
    store.appendMessage(user("and on"));
    await store.close();
    expect(readFileSync(path, "utf8").trimEnd().split("\n")).toHaveLength(4);
  });

  it("of which only a part of the first line was written begins anew", async () => {
    const line = JSON.stringify(testHeader);
    for (const length of [1, 10, 17, 30, line.length - 1]) {
      const session = open(line.slice(0, length));
      expect(session.log.length).toBe(0);
      expect(statSync(path).size).toBe(0);
      await close(session);
    }
    expect(readFileSync(`${path}.damaged`, "utf8")).toContain(line.slice(0, -1));
    expect(open("\0".repeat(100)).log.length).toBe(0);
  });

  it("of the first version opens without its header as well", async () => {
    const entry = { type: "message", timestamp: STARTED, message: user("hi") };
    const session = open(`{"type":"session","id":"s1","cwd":\n${JSON.stringify(entry)}\n`);
    expect(session.log.header).toMatchObject({ version: 3, cwd: "/here" });
    expect(entriesOf(session.log)).toMatchObject([{ ...entry, parentId: null }]);
    await close(session);
    expect(entriesOf(open(undefined).log)).toMatchObject([{ ...entry, parentId: null }]);
    expect(notices).toEqual([expect.stringContaining("was damaged")]);
  });

  const foreign: [what: string, content: string][] = [
    ["notes", "Dear diary,\n\nnothing happened.\n"],
    ["a JSON file", `${JSON.stringify({ name: "x", version: "1.0.0" }, null, 2)}\n`],
    ["one line of JSON", '{"name":"x"}'],
    ["a list", "[1,2,3]\n[4]\n"],
    ["binary data", "\u0089PNG\r\n\u001a\n\0\0\0\rIHDR"],
    ["something that only begins like one", '{"type":"session","id\n{"type":"log","timestamp":"now"}\n'],
  ];
  for (const [what, content] of foreign) {
    it(`is not what ${what} is: that is refused and left as it is`, () => {
      writeFileSync(path, content);
      expect(() => openSession(path, options())).toThrow(/is not a session file: .* It was left as it is\./);
      expect(readFileSync(path, "utf8")).toBe(content);
      expect(readdirSync(dir).sort()).toEqual(["locks", "s.jsonl"]);
      expect(readdirSync(join(dir, "locks"))).toEqual([]);
      expect(() => readSession(path, options())).toThrow(/is not a session file/);
    });
  }

  it("that somebody else is using is read as it is", () => {
    writeFileSync(path, `${fileOf([hi])}{"torn`);
    const held = tryLock({ locksFolder: join(dir, "locks"), sessionPath: path, clock });
    if (!("lock" in held)) throw new Error("no lock");
    const session = openSession(path, options());
    expect(entriesOf(session.log)).toEqual([hi]);
    expect(session.disk?.isInUse).toBe(true);
    expect(readFileSync(path, "utf8")).toContain('{"torn');
    expect(notices).toEqual([]);
    held.lock.release();
  });
});

describe("the lock of a session", () => {
  it("is taken when it is opened and given back when it is closed", async () => {
    const session = open(fileOf([hi]));
    expect(readdirSync(join(dir, "locks"))).toHaveLength(1);
    expect(openSession(path, options()).disk?.isInUse).toBe(true);
    await close(session);
    expect(readdirSync(join(dir, "locks"))).toHaveLength(0);
  });

  it("that cannot be made is told once, and the session opens", async () => {
    writeFileSync(join(dir, "a-file"), "");
    const session = open(fileOf([hi]), { locksFolder: join(dir, "a-file", "locks") });
    expect(entriesOf(session.log)).toEqual([hi]);
    expect(notices).toEqual([expect.stringMatching(/^warning: No lock can be made/)]);
    await close(session);
  });

  it("of somebody else who lets go: what is in the file then is read again, once for all who ask", async () => {
    const mine = open(fileOf([hi]));
    const reopened: OpenSession[] = [];
    const waiting = openSession(path, options({ onReopened: (session) => reopened.push(session) }));
    const problems = [waiting.disk?.problem(), waiting.disk?.problem()];
    writeFileSync(path, fileOf([hi, ho]));
    await close(mine);
    await clock.advance(100);
    expect(await Promise.all(problems)).toEqual([undefined, undefined]);
    expect(reopened.map(({ log }) => entriesOf(log))).toEqual([[hi, ho]]);
    expect(reopened[0]?.disk?.isInUse).toBe(false);
    await close(reopened[0]!);
    expect(readdirSync(join(dir, "locks"))).toEqual([]);
  });

  it("of somebody else who stays is the reason why nothing can be written", async () => {
    const mine = open(fileOf([hi]));
    const waiting = openSession(path, options());
    const problem = waiting.disk?.problem();
    await clock.advance(3000);
    expect(await problem).toContain(`is in use by process ${process.pid}`);
    expect(waiting.disk?.isInUse).toBe(true);
    await close(mine);
  });
});

it("reading a session for a copy neither locks nor changes it", () => {
  const torn = `${fileOf([hi])}{"torn`;
  writeFileSync(path, torn);
  expect(entriesOf(readSession(path, options()))).toEqual([hi]);
  expect(readFileSync(path, "utf8")).toBe(torn);
  expect(readdirSync(dir)).toEqual(["s.jsonl"]);
  const log = readSession(path, options()).under({ ...testHeader, id: "copy" });
  expect([...log.lines()].join("\n")).toBe(`${JSON.stringify({ ...testHeader, id: "copy" })}\n${JSON.stringify(hi)}`);
});
