import type { SessionEntry } from "@tiller/protocol/session-entry";
import { describe, expect, it } from "vitest";
import { createEntryLog, type EntryLog } from "./entry-log.ts";
import { entriesInFile, entriesOf, loadedLog, messageEntry, plain, testHeader, user } from "./test-sessions.ts";

const entry = (id: string, parentId: string | null, text = id): SessionEntry =>
  messageEntry(id, parentId, user(text)) as unknown as SessionEntry;
const linesOf = (lines: Iterable<Buffer | string>): string[] => [...lines].map(String).join("\n").split("\n");

describe("a log of entries", () => {
  it("begins empty and grows", () => {
    const log = createEntryLog(testHeader);
    expect([log.length, log.loadedLength, log.find("a")]).toEqual([0, 0, -1]);
    expect(log.append(entry("a", null))).toBe(0);
    expect(log.append(entry("b", "a"))).toBe(1);
    expect(log.append(entry("c", "a"))).toBe(2);
    expect([0, 1, 2].map((at) => log.parent(at))).toEqual([-1, 0, 0]);
    expect([log.id(2), log.kind(2), log.role(2), log.find("c")]).toEqual(["c", "message", "user", 2]);
    expect(log.rawEntry(2)).toBeUndefined();
    expect(linesOf(log.lines())).toEqual([testHeader, ...entriesOf(log)].map((line) => JSON.stringify(line)));
  });

  it("goes on behind what came from a file", () => {
    const log = loadedLog([entry("a", null), entry("b", "a"), plain("l", "b", { type: "label", targetId: "a" })]);
    expect(log.append(entry("c", "b"))).toBe(3);
    expect(log.append(entry("d", "c"))).toBe(4);
    expect([log.length, log.loadedLength]).toEqual([5, 3]);
    expect([3, 4].map((at) => log.parent(at))).toEqual([1, 3]);
    expect(["a", "l", "d", "x"].map(log.find)).toEqual([0, 2, 4, -1]);
    expect(["a", "l", "d", "x"].map(log.has)).toEqual([true, true, true, false]);
    log.append(entry("e", "a"));
    // The same however often it is asked.
    for (let times = 0; times < 20; times++) {
      expect(["a", "l", "d", "e", "x"].map(log.find)).toEqual([0, 2, 4, 5, -1]);
    }
    expect(log.has("e")).toBe(true);
    expect(linesOf(log.lines())).toEqual([testHeader, ...entriesOf(log)].map((line) => JSON.stringify(line)));
  });

  it("asks a list of all ids when many questions come, also whether an id is taken", () => {
    const lines = Array.from({ length: 60 }, (_, at) => messageEntry(`${10_000_000 + at}`, null, user("hi")));
    let looks = 0;
    const all = entriesInFile(lines);
    const log = createEntryLog(testHeader, { ...all, has: (id) => ++looks > 0 && all.has(id) });
    const ids = [...lines.map(({ id }) => id), ...lines.map(({ id }) => `x${id}`)];
    expect(ids.map(log.has)).toEqual(ids.map((id) => !id.startsWith("x")));
    expect(looks).toBeLessThan(lines.length);
    expect(log.find("10000059")).toBe(59);
  });

  it("knows which kinds it holds, of what was loaded and of what was added", () => {
    const kinds = ["message", "label", "custom", "compaction", "session_info"];
    const held = (log: EntryLog): string[] => kinds.filter((kind) => log.holds(kind));
    expect(held(createEntryLog(testHeader))).toEqual([]);
    const log = loadedLog([entry("a", null), plain("l", "a", { type: "label", targetId: "a" })]);
    expect(held(log)).toEqual(["message", "label"]);
    log.append(plain("n", "a", { type: "session_info", name: "x" }) as unknown as SessionEntry);
    expect(held(log)).toEqual(["message", "label", "session_info"]);
    expect(held(log.part([0, 2], testHeader))).toEqual(["message", "session_info"]);
    expect(held(loadedLog([entry("a", null)]).under(testHeader))).toEqual(["message"]);
  });

  it("holds what a message of an unknown role is to us", () => {
    const system = { role: "system", content: "words that are long enough for a line as it usually is" };
    for (const id of ["aaaaaaaa", "odd"]) {
      const log = loadedLog([entry("00000000", null), messageEntry(id, "00000000", system as never)]);
      expect([log.kind(1), log.holds("custom")]).toEqual(["custom", true]);
    }
  });

  it("finds the last entry of an id that was used twice", () => {
    const log = loadedLog([entry("a", null), entry("a", null)]);
    for (let times = 0; times < 40; times++) expect(log.find("a")).toBe(1);
    log.append(entry("a", null));
    expect(log.find("a")).toBe(2);
    expect(log.has("a")).toBe(true);
    expect(log.find("a")).toBe(2);
  });

  it("parses an entry once for those who keep it, and keeps nothing for those who look", () => {
    const log = loadedLog([entry("a", null)]);
    expect(log.look(0)).not.toBe(log.look(0));
    const kept = log.entry(0);
    expect(log.entry(0)).toBe(kept);
    expect(log.look(0)).toBe(kept);
    expect(kept).toEqual(entry("a", null));
  });

  it("has the same message alone and in its entry, whichever is asked for first", () => {
    const lines = [messageEntry("aaaaaaaa", null, user("hi")), messageEntry("bbbbbbbb", "aaaaaaaa", user("ho"))];
    const log = loadedLog(lines);
    expect(log.known(0)).toBeUndefined();
    const message = log.message(0);
    expect(log.message(0)).toBe(message);
    expect(log.look(0)).toEqual(lines[0]);
    expect(log.look(0)).toHaveProperty("message", message);
    expect(log.known(0)).toBe(log.entry(0));
    expect(log.entry(0)).toEqual(lines[0]);
    expect((log.entry(0) as Extract<SessionEntry, { type: "message" }>).message).toBe(message);
    const whole = log.entry(1) as Extract<SessionEntry, { type: "message" }>;
    expect(log.message(1)).toBe(whole.message);
  });

  it("has nothing where the bytes cannot be read", () => {
    const log = loadedLog([
      JSON.stringify(entry("aaaaaaaa", null, "XX")).replace("XX", "\u0001"),
      entry("b", "aaaaaaaa"),
    ]);
    for (const _again of [1, 2]) {
      expect(log.entry(0)).toBeUndefined();
      expect(log.look(0)).toBeUndefined();
      expect(log.message(0)).toBeUndefined();
    }
    expect([log.id(0), log.parent(1)]).toEqual(["aaaaaaaa", 0]);
  });

  it("gives a part of itself away as a log of its own, with what was added", () => {
    const log = loadedLog([entry("a", null), entry("b", "a"), entry("c", "a")]);
    log.append(entry("d", "c"));
    log.append(entry("e", "d"));
    const part = log.part([0, 2, 3, 4], { ...testHeader, id: "copy" });
    expect(entriesOf(part)).toEqual([entry("a", null), entry("c", "a"), entry("d", "c"), entry("e", "d")]);
    expect([0, 1, 2, 3].map((at) => part.parent(at))).toEqual([-1, 0, 1, 2]);
    expect([part.header.id, part.loadedLength]).toEqual(["copy", 2]);
    expect(linesOf(part.lines())).toHaveLength(5);
    part.append(entry("f", "e"));
    expect([part.length, log.length]).toEqual([5, 5]);
  });

  it("can be put under another header", () => {
    const log = loadedLog([entry("a", null)]);
    const other = log.under({ ...testHeader, id: "other" });
    expect(other.header.id).toBe("other");
    expect(entriesOf(other)).toEqual([entry("a", null)]);
    expect(JSON.parse(linesOf(other.lines())[0]!).id).toBe("other");
  });
});
