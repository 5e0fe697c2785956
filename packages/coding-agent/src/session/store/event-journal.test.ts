import {
  appendFileSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  statSync,
  truncateSync,
  writeFileSync,
} from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import type { AgentMessage } from "@tiller/protocol/message";
import fc from "fast-check";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { createEventJournal, type EventJournal } from "./event-journal.ts";
import { journalPath, removeJournal } from "./journal-file.ts";

let root = "";
beforeEach(() => {
  root = mkdtempSync(join(tmpdir(), "tiller-journal-"));
});
afterEach(() => rmSync(root, { recursive: true, force: true }));

const MAX = 4096;

/** One process after the other, with a session that the test moves. */
function desk({ maxBytes = MAX, file = "s.jsonl" as string | null } = {}) {
  const folder = join(root, "journals");
  const session = {
    sessionId: "s1",
    sessionFile: file === null ? undefined : join(root, file),
    hasBegun: true,
    isContinued: false,
    isInUse: false,
    said: [] as AgentMessage[],
    newestFirst: () => session.said.toReversed(),
  };
  const troubles: string[] = [];
  const path = journalPath(folder, join(root, file ?? "none"));
  let starts = 0;
  const start = (): Host => {
    session.isContinued = starts++ > 0;
    const onTrouble = (message: string): number => troubles.push(message);
    return hostOf(createEventJournal({ session, folder, maxBytes, onTrouble }));
  };
  return { session, folder, path, troubles, start };
}

type Host = ReturnType<typeof hostOf>;

/** What event frames and the writer do with it. */
function hostOf(journal: EventJournal, seq = 0) {
  const host = {
    journal,
    seq: journal.follow(seq),
    /** An event that is kept, told at once unless said otherwise. */
    tell(text: string, isTold = true): number {
      host.seq = journal.follow(host.seq) + 1;
      journal.append(host.seq, frame(text, host.seq));
      if (isTold) journal.flush(host.seq);
      return host.seq;
    },
    /** Events that are not kept. */
    pass(count: number): void {
      host.seq = journal.follow(host.seq) + count;
      journal.flush(host.seq);
    },
    after(seq: number): { base: number; texts: string[] } {
      host.seq = journal.follow(host.seq);
      const { base, frames } = journal.after(seq);
      return { base, texts: frames.map((json) => JSON.parse(json).text) };
    },
  };
  return host;
}

const frame = (text: string, seq: number): string => JSON.stringify({ type: "notice", text, seq });

describe("what a host was told", () => {
  it("is kept in a file for its owner only, once the session has begun", () => {
    const { session, start, path, folder } = desk();
    session.hasBegun = false;
    const host = start();
    host.tell("early");
    expect(existsSync(folder)).toBe(false);
    expect(host.after(0)).toEqual({ base: 0, texts: ["early"] });
    session.hasBegun = true;
    host.tell("late");
    expect(statSync(path).mode & 0o777).toBe(0o600);
    expect(host.after(0)).toEqual({ base: 0, texts: ["early", "late"] });
    expect(host.after(1)).toEqual({ base: 0, texts: ["late"] });
  });

  it("is in the file as soon as the first message is about to be written", () => {
    const { session, start, path } = desk();
    session.hasBegun = false;
    const host = start();
    host.tell("early");
    expect(host.journal.follow(host.seq, true)).toBe(host.seq);
    expect(readFileSync(path, "utf8")).toContain('"early"');
  });

  it("is in the file before it is told, and what is not told yet need not be", () => {
    const { start, path } = desk();
    const host = start();
    host.tell("a", false);
    expect(readFileSync(path, "utf8")).not.toContain('"a"');
    host.journal.flush(host.seq);
    expect(readFileSync(path, "utf8")).toContain('"a"');
  });

  it("goes on after a crash with numbers that nobody has seen", () => {
    const { start } = desk();
    const first = start();
    first.tell("a");
    first.pass(2500);
    const second = start();
    expect(second.seq).toBeGreaterThanOrEqual(first.seq);
    const next = second.tell("b");
    expect(next).toBeGreaterThan(first.seq);
    expect(second.after(0)).toEqual({ base: 0, texts: ["a", "b"] });
    expect(second.after(first.seq)).toEqual({ base: 0, texts: ["b"] });
  });

  it("that a crash has torn was never told", () => {
    const { start, path } = desk();
    const first = start();
    first.tell("a");
    appendFileSync(path, '{"type":"notice","te');
    const second = start();
    expect(second.after(0)).toEqual({ base: 0, texts: ["a"] });
    second.tell("b");
    expect(start().after(0)).toEqual({ base: 0, texts: ["a", "b"] });
  });

  it("is let go of when it is too much, and that is told", () => {
    const { start, folder } = desk();
    const host = start();
    for (let n = 1; n <= 100; n++) host.tell(`${n} ${"x".repeat(100)}`);
    const { base, texts } = host.after(0);
    expect(base).toBeGreaterThan(0);
    expect(texts.map((text) => Number.parseInt(text, 10))).toEqual(
      Array.from({ length: 100 - base }, (_, at) => base + 1 + at),
    );
    const bytes = readdirSync(folder).reduce((sum, name) => sum + statSync(join(folder, name)).size, 0);
    expect(bytes).toBeLessThan(MAX + 400);
    expect(start().after(0).base).toBe(base);
  });

  it("is let go of up to a frame that is too long by itself", () => {
    const { start } = desk();
    const host = start();
    host.tell("a");
    host.tell("x".repeat(MAX));
    host.tell("b");
    expect(host.after(0)).toEqual({ base: 2, texts: ["b"] });
    expect(start().after(2)).toEqual({ base: 2, texts: ["b"] });
  });

  it("stays in memory without a file, up to a bound", () => {
    const host = desk({ file: null }).start();
    for (let n = 1; n <= 100; n++) host.tell(`${n} ${"x".repeat(100)}`);
    const { base, texts } = host.after(0);
    expect(base + texts.length).toBe(100);
    expect(texts.join("").length).toBeLessThan(MAX);
    host.tell("x".repeat(MAX));
    host.tell("b");
    expect(host.after(0)).toEqual({ base: 101, texts: ["b"] });
    expect(readdirSync(root)).toEqual([]);
  });

  it("is not continued later by a process that keeps nothing: its numbers go on, and what was kept is gone", () => {
    const { session, folder, path, start } = desk();
    const seen = start().tell("before");
    session.isContinued = true;
    const onTrouble = (): void => expect.unreachable();
    const silent = hostOf(createEventJournal({ session, folder, maxBytes: 0, onTrouble }));
    expect(silent.tell("nobody keeps this")).toBeGreaterThan(seen);
    expect(silent.after(0)).toMatchObject({ base: silent.seq, texts: [] });
    expect(existsSync(path)).toBe(false);
    expect(start().after(seen)).toMatchObject({ base: expect.toSatisfy((base: number) => base > 0), texts: [] });
  });

  it("is not kept at all when the setting says so", () => {
    const { start, folder } = desk({ maxBytes: 0 });
    const host = start();
    host.tell("a");
    expect(host.after(0)).toEqual({ base: 1, texts: [] });
    expect(existsSync(folder)).toBe(false);
  });
});

describe("another session", () => {
  it("has events of its own; numbers never go back, and those of the first are there when it is entered again", () => {
    const { session, start } = desk();
    const host = start();
    host.tell("a1");
    Object.assign(session, { sessionId: "s2", sessionFile: join(root, "t.jsonl"), hasBegun: false });
    expect(host.after(0)).toEqual({ base: 0, texts: [] });
    const b1 = host.tell("b1");
    session.hasBegun = true;
    host.tell("b2");
    expect(host.after(0)).toEqual({ base: 0, texts: ["b1", "b2"] });
    Object.assign(session, { sessionId: "s1", sessionFile: join(root, "s.jsonl") });
    expect(host.tell("a2")).toBeGreaterThan(b1 + 1);
    expect(host.after(0)).toEqual({ base: 0, texts: ["a1", "a2"] });
  });

  it("of another process is only read, apart from its numbers, until that one lets go of it", () => {
    const { session, start } = desk();
    const owner = start();
    owner.tell("a");
    session.isInUse = true;
    const second = start();
    const apart = second.tell("mine");
    session.isInUse = false;
    owner.tell("the end");
    owner.journal.close();
    expect(owner.seq).toBeLessThan(apart);
    expect(second.after(0)).toEqual({ base: 0, texts: ["a", "the end", "mine"] });
    expect(second.tell("more")).toBe(apart + 1);
  });

  it("is not written to any more when it was closed", () => {
    const { start, path } = desk();
    const host = start();
    host.tell("a");
    host.journal.close();
    const before = readFileSync(path);
    host.tell("b");
    expect(readFileSync(path)).toEqual(before);
  });
});

describe("messages that were written and never told", () => {
  const user = (timestamp: number): AgentMessage => ({ role: "user", content: "x", timestamp });
  const end = (host: Host, message: AgentMessage): void => {
    host.seq = host.journal.follow(host.seq) + 1;
    host.journal.append(host.seq, JSON.stringify({ type: "message_end", message, seq: host.seq }));
    host.journal.flush(host.seq);
  };
  const begun = (...told: AgentMessage[]) => {
    const made = desk();
    const first = made.start();
    for (const message of told) end(first, message);
    made.session.said = [...told];
    return { ...made, first };
  };
  const framesOf = (host: Host, after = 0) => host.journal.after(after).frames.map((json) => JSON.parse(json));

  it("are told when the session is opened again, as if they had just been said, once", () => {
    const { session, start, first } = begun(user(1), user(2));
    session.said.push(user(3), user(4));
    const second = start();
    const again = framesOf(second, first.seq);
    expect(again.map(({ type, message }) => `${type} ${message.timestamp}`)).toEqual([
      "message_start 3",
      "message_end 3",
      "message_start 4",
      "message_end 4",
    ]);
    expect(again.map(({ seq }) => seq > first.seq)).toEqual([true, true, true, true]);
    expect(second.tell("next")).toBeGreaterThan(again.at(-1).seq);
    expect(framesOf(start(), first.seq)).toHaveLength(5);
  });

  it("are none when the last one was told, or is one that was told before and gone back to", () => {
    const { session, start, first } = begun(user(1), user(2), user(3));
    expect(framesOf(start(), first.seq)).toEqual([]);
    session.said.splice(1);
    expect(framesOf(start(), first.seq)).toEqual([]);
  });

  it("are missing when there are too many, or nobody can say where they begin", () => {
    const { session, start, first } = begun(user(1));
    session.said = Array.from({ length: 200 }, (_, at) => user(1000 + at));
    const { base, texts } = start().after(first.seq);
    expect([base > first.seq, texts]).toEqual([true, []]);
  });

  it("are all of them when the process was killed before it told the first", () => {
    const { session, start, first } = begun();
    first.tell("agent_start");
    session.said = [user(1)];
    expect(framesOf(start()).map(({ type }) => type)).toEqual(["notice", "message_start", "message_end"]);
  });
});

describe("files that are not as they were left", () => {
  const begun = () => {
    const made = desk();
    const first = made.start();
    for (const text of ["a", "b", "c"]) first.tell(text);
    return { ...made, first };
  };
  const lines = (path: string): string[] => readFileSync(path, "utf8").split("\n");

  it("removed: what was told is missing, and that is told", () => {
    const { path, start, first } = begun();
    removeJournal(path);
    expect(first.after(0)).toEqual({ base: 3, texts: [] });
    const second = start();
    second.tell("d");
    expect(second.after(0)).toEqual({ base: 1, texts: ["d"] });
  });

  it.each([
    ["another session", (text: string) => text.replace('"s1"', '"s2"')],
    ["another version", (text: string) => text.replace('"version":1', '"version":2')],
    ["no header", (text: string) => text.slice(text.indexOf("\n") + 1)],
    ["nothing", () => ""],
    ["noise", () => "\u0000\u0001 {}\n[]\nnull\n"],
  ])("of %s: begun anew, and the old events are missing", (_what, change) => {
    const { path, start } = begun();
    writeFileSync(path, change(readFileSync(path, "utf8")));
    const second = start();
    second.tell("d");
    expect(second.after(0)).toEqual({ base: 1, texts: ["d"] });
    expect(start().after(1)).toEqual({ base: 1, texts: ["d"] });
  });

  it.each([
    [
      "a line of noise",
      (all: string[]) =>
        all.with(
          all.findIndex((line) => line.includes('"b"')),
          "noise",
        ),
    ],
    ["a line that only looks like a frame", (all: string[]) => all.map((line) => line.replace('"b"', '"b'))],
    ["a number that goes back", (all: string[]) => all.map((line) => line.replace('"seq":2', '"seq":1'))],
  ])("with %s: only what follows it counts", (_what, change) => {
    const { path, start, first } = begun();
    writeFileSync(path, change(lines(path)).join("\n"));
    const second = start();
    expect(second.after(0)).toEqual({ base: 2, texts: ["c"] });
    expect(second.after(2)).toEqual({ base: expect.toSatisfy((base) => base <= 2), texts: ["c"] });
    expect(second.tell("d")).toBeGreaterThan(first.seq);
  });

  it("cut short: what is there counts, and numbers that may have been told are not given again", () => {
    const { path, start, first } = begun();
    truncateSync(path, statSync(path).size - 10);
    const second = start();
    expect(second.after(0)).toEqual({ base: 0, texts: ["a", "b"] });
    expect(second.tell("d")).toBeGreaterThan(first.seq);
  });

  it("that cannot be written: told once, not in the middle of a frame, and kept in memory from then on", async () => {
    const { path, start, troubles } = desk();
    mkdirSync(path, { recursive: true });
    const host = start();
    host.tell("a");
    host.tell("b");
    expect(troubles).toEqual([]);
    await Promise.resolve();
    expect(troubles).toEqual([expect.stringContaining(path)]);
    expect(host.after(0).texts).toEqual(["a", "b"]);
  });
});

describe("whatever happens", () => {
  const step = fc.oneof(
    { weight: 6, arbitrary: fc.record({ do: fc.constant("tell"), size: fc.integer({ min: 1, max: 300 }) }) },
    { weight: 2, arbitrary: fc.record({ do: fc.constant("say"), size: fc.integer({ min: 1, max: 300 }) }) },
    { weight: 2, arbitrary: fc.record({ do: fc.constant("pass"), size: fc.integer({ min: 1, max: 900 }) }) },
    { weight: 1, arbitrary: fc.record({ do: fc.constant("kill"), size: fc.integer({ min: 0, max: 30 }) }) },
    { weight: 1, arbitrary: fc.record({ do: fc.constant("end"), size: fc.constant(0) }) },
  );

  it("no number is used twice, and what is told again is what was told, all of it behind the base", () => {
    const property = fc.property(fc.array(step, { maxLength: 60 }), (steps) => {
      rmSync(join(root, "journals"), { recursive: true, force: true });
      const { start, path } = desk();
      let host = start();
      /** Told, by number. */
      const told = new Map<number, string>();
      let waiting: [number, string][] = [];
      let highest = 0;
      for (const [at, { do: what, size }] of steps.entries()) {
        const text = `${at} ${"x".repeat(size)}`;
        if (what === "tell" || what === "say") {
          const seq = host.tell(text, what === "tell");
          expect(seq).toBeGreaterThan(highest);
          waiting.push([seq, text]);
        }
        if (what === "pass") host.pass(size);
        if (what === "tell" || what === "pass" || what === "end") {
          for (const [seq, kept] of waiting.splice(0)) told.set(seq, kept);
          highest = Math.max(highest, host.seq);
        }
        if (what === "end") host.journal.close();
        if (what === "kill" || what === "end") {
          waiting = [];
          if (what === "kill" && size > 0 && existsSync(path)) appendFileSync(path, "{".repeat(size));
          host = start();
          expect(host.seq).toBeGreaterThanOrEqual(highest);
        }
      }
      host.journal.flush(host.seq);
      for (const [seq, kept] of waiting) told.set(seq, kept);
      for (const after of [0, Math.floor(highest / 2), highest]) {
        const { base, texts } = host.after(after);
        const expected = [...told].filter(([seq]) => seq > Math.max(after, base)).map(([, text]) => text);
        expect(texts.slice(texts.length - expected.length)).toEqual(expected);
        if (after >= base) expect(texts).toEqual(expected);
      }
    });
    fc.assert(property, { numRuns: 100 });
  });
});
