import {
  closeSync,
  openSync,
  readdirSync,
  readFileSync,
  statSync,
  symlinkSync,
  writeFileSync,
  writeSync,
} from "node:fs";
import { join } from "node:path";
import type { SessionEntry } from "@tiller/protocol/session-entry";
import { describe, expect, it } from "vitest";
import { readPage, useFolder } from "../../../../test/support/exported-page.ts";
import { createRedactor } from "../lib/redactor.ts";
import { indexEntries } from "../session/store/entry-index.ts";
import { createEntryLog } from "../session/store/entry-log.ts";
import { loadEntries } from "../session/store/loaded-entries.ts";
import { linesOfFile, linesOfLog } from "./session-text.ts";
import { type BeginFile, type ExportedSession, writePage } from "./write-page.ts";

const folder = useFolder();
const timestamp = (second: number): string => new Date(Date.UTC(2026, 0, 1, 0, 0, second)).toISOString();
const entry = (id: string, parentId: string | null, rest: object, second = 1): object => ({
  ...{ type: "custom", id, parentId, timestamp: timestamp(second) },
  ...rest,
});
const said = (id: string, parentId: string | null, text: string, second = 1): object =>
  entry(id, parentId, { type: "message", message: { role: "user", content: text, timestamp: 1 } }, second);
const usage = { input: 1, output: 2, cacheRead: 3, cacheWrite: 4, totalTokens: 10, cost: { total: 0.5 } };
const answer = (id: string, parentId: string, model: string, second = 1): object => {
  const message = { role: "assistant", content: [], provider: "p", model, usage, timestamp: 1 };
  return entry(id, parentId, { type: "message", message }, second);
};
const HEAD = { id: "session-1", cwd: "/home/me/app", created: timestamp(0), version: 3 };
const making = { version: "1.2.3", exported: timestamp(60) };

/** Lines are objects, or text as it is. */
async function page(lines: readonly (object | string)[], more: Partial<ExportedSession> = {}, options = {}) {
  const text = lines.map((line) => (typeof line === "string" ? line : JSON.stringify(line))).join("\n");
  const path = join(folder(), "page.html");
  const made = await writePage(path, { head: HEAD, lines: [`${text}\n`], ...more }, { ...making, ...options });
  return { ...readPage(path), path, made };
}

describe("a page", () => {
  it("has every entry, on all branches, and what is known of the whole", async () => {
    const { start, end, entries, tree, made } = await page([
      said("a", null, "hello"),
      answer("b", "a", "m1", 2),
      said("c", "b", "no"),
      entry("d", "b", { type: "branch_summary", summary: "it did not work", fromId: "b", usage }),
      answer("e", "d", "m2"),
      answer("f", "e", "m1"),
      entry("g", "f", { type: "label", targetId: "a", label: "begin" }),
      entry("h", "g", { type: "label", targetId: "b", label: "gone" }),
      entry("i", "h", { type: "label", targetId: "b" }),
      entry("j", "i", { type: "session_info", name: "boats" }, 31),
    ]);
    expect(start).toEqual({
      ...{ format: 1, sessionId: "session-1", cwd: "/home/me/app", started: timestamp(0), version: "1.2.3" },
      ...{ exported: timestamp(60), redacted: false },
    });
    expect(end).toEqual({
      ...{ entries: 10, leafId: "j", name: "boats", models: ["p/m1", "p/m2"] },
      ...{ started: timestamp(0), ended: timestamp(31), durationMs: 31_000 },
      tokens: { input: 4, output: 8, cacheRead: 12, cacheWrite: 16, total: 40 },
      cost: 2,
      labels: [["a", "begin"]],
    });
    expect(entries.map(({ id }) => id)).toEqual([..."abcdefghij"]);
    expect(tree.slice(0, 5)).toEqual(Object.entries({ a: null, b: "a", c: "b", d: "b", e: "d" }));
    expect(made).toEqual({ entries: 10, damagedLines: 0 });
  });

  it("is written in blocks of some hundred entries, or of some hundred kilobytes", async () => {
    const many = Array.from({ length: 450 }, (_, at) => said(`e${at}`, at > 0 ? `e${at - 1}` : null, "x", at));
    const { blocks } = await page(many);
    expect(blocks.map(({ entries }) => entries.length)).toEqual([200, 200, 50]);
    expect(blocks.map(({ columns }) => columns.parent[0])).toEqual([null, 0, 0]);
    const large = await page(Array.from({ length: 4 }, (_, at) => said(`e${at}`, null, "x".repeat(100_000))));
    expect(large.blocks.map(({ entries }) => entries.length)).toEqual([2, 2]);
  });

  it("holds no way out of its data, whatever the session says", async () => {
    const bad = "</script><script>alert(1)</script><!--\u2028\u2029";
    const { html, entries, end } = await page([said(bad, null, bad), entry("b", bad, { type: bad, [bad]: bad })]);
    expect(html.match(/<\/?script/g)).toHaveLength(2 * 5);
    expect(html).not.toMatch(/<!--|alert\(1\)<|[\u2028\u2029]/);
    expect(entries[1]).toMatchObject({ type: bad, [bad]: bad });
    expect(end.entries).toBe(2);
  });

  it("tells no secret anywhere", async () => {
    const secret = "hunter-two-hunter";
    const hidden = `h\\u0075nter-two-hunter`;
    const { html, start, end, entries } = await page(
      [
        said("a", null, `${secret} in ~: /home/me/app`),
        `{"type":"message","id":"b","parentId":"a","timestamp":"${timestamp(1)}","message":{"role":"user","content":"${hidden} \\/home\\/me\\/x"}}`,
        entry("c", "b", { type: "session_info", name: secret }),
        entry("d", "c", { customType: secret, data: { [secret]: [{ deep: secret }] } }),
      ],
      { head: { ...HEAD, title: secret }, known: { systemPrompt: `be ${secret}`, tools: [{ name: secret }] } },
      { redact: createRedactor({ secrets: [secret], home: "/home/me" }) },
    );
    expect(html).not.toContain("hunter");
    expect(html).not.toContain("/home/me");
    expect(start).toMatchObject({ redacted: true, cwd: "~/app", name: "[redacted]" });
    expect(end).toMatchObject({ name: "[redacted]", systemPrompt: "be [redacted]", tools: [{ name: "[redacted]" }] });
    expect(entries[1]).toMatchObject({ message: { content: "[redacted] ~/x" } });
  });

  it("knows where an open session stands", async () => {
    const { end } = await page([said("a", null, "x"), said("b", "a", "y")], { known: { leafId: "a", name: "n" } });
    expect(end).toMatchObject({ leafId: "a", name: "n" });
  });
});

describe("sessions of others, of old and damaged ones", () => {
  it("are read as ours: the first version, and what omp writes", async () => {
    const first = [
      { type: "session", id: "s", timestamp: timestamp(0), cwd: "/x" },
      { type: "message", timestamp: timestamp(1), message: { role: "user", content: "one" } },
      { type: "message", timestamp: timestamp(2), message: { role: "hookMessage", customType: "h", content: "two" } },
    ];
    const { tree, entries } = await page(first, { head: { ...HEAD, version: 1 } });
    expect(tree).toEqual([
      ["line-1", null],
      ["line-2", "line-1"],
    ]);
    expect(entries[1]).toMatchObject({ message: { role: "custom", content: "two" } });
    const omp = await page([
      { type: "title", title: "boats  " },
      { type: "session", version: 3, id: "s", timestamp: timestamp(0), cwd: "/x" },
      entry("a", null, { type: "model_change", model: "p/m" }),
      said("b", "a", "hello"),
      entry("c", "b", { type: "title_change", title: "ships" }),
    ]);
    expect(omp.entries[0]).toMatchObject({ provider: "p", modelId: "m" });
    expect(omp.end).toMatchObject({ entries: 3, name: "ships" });
  });

  it("show images that are kept beside the file", async () => {
    const content = [{ type: "image", data: "blob:sha256:ab", mimeType: "image/png" }];
    const message = { role: "user", content, timestamp: 1 };
    const { entries } = await page([entry("a", null, { type: "message", message })], { readBlob: () => "iVBOR" });
    expect(entries[0]).toMatchObject({ message: { content: [{ type: "image", data: "iVBOR" }] } });
  });

  it("show entries of kinds that nobody knows, and lines without an id", async () => {
    const { entries, tree } = await page([
      said("a", null, "x"),
      entry("b", "a", { type: "constructor" }),
      { type: "sun" },
    ]);
    expect(entries.map(({ type }) => type)).toEqual(["message", "constructor", "sun"]);
    expect(tree[2]).toEqual(["unnamed-1", "b"]);
  });

  it("have a name for each of two entries with the same id; others follow the first", async () => {
    const { tree, entries, end } = await page([
      said("a", null, "x"),
      said("a", "a", "y"),
      said("b", "a", "z"),
      said("a", "b", "w"),
    ]);
    expect(tree).toEqual([
      ["a", null],
      ["a.again-1", "a"],
      ["b", "a"],
      ["a.again-2", "b"],
    ]);
    expect(entries.map(({ id }) => id)).toEqual(["a", "a", "b", "a"]);
    expect(end.leafId).toBe("a.again-2");
  });

  it("lose only the lines that are damaged, and what follows them keeps its place", async () => {
    const torn = JSON.stringify(said("t", "b", "torn")).slice(0, -20);
    const { end, tree, made } = await page([
      said("a", null, "x"),
      said("b", "a", "y"),
      '{"type":"message","id":"c","parentId":"b","timest',
      said("d", "c", "z"),
      `${torn}${JSON.stringify(said("e", "d", "joined"))}`,
      "null",
      "\u0000\u0000",
      "[1,2]",
      "   ",
      said("f", "e", "end"),
    ]);
    expect(tree).toEqual(Object.entries({ a: null, b: "a", d: "b", e: "d", f: "e" }));
    expect(end.damagedLines).toBe(5);
    expect(made.damagedLines).toBe(5);
  });

  it("read a file in pieces, lines of megabytes and letters across their borders included", () => {
    const path = join(folder(), "long.jsonl");
    const lines = [...Array.from({ length: 3000 }, (_, at) => `{"n":${at},"t":"${"ä€😀".repeat(at % 97)}"}`)];
    lines.splice(100, 0, `{"t":"${"ü".repeat(1_500_000)}"}`);
    writeFileSync(path, lines.join("\n"));
    const pieces = [...linesOfFile(path)];
    expect(pieces.join("")).toBe(lines.join("\n"));
    expect(pieces.slice(0, -1).every((piece) => piece.endsWith("\n"))).toBe(true);
    expect(pieces.length).toBeGreaterThan(3);
  });
});

describe("the lines of an open session", () => {
  it("are those of its file and what was added, without what is gone or comes later", () => {
    const lines = ["{}", said("a", null, "ä"), said("b", "a", "x"), said("c", "b", "y")].map((line) =>
      typeof line === "string" ? line : JSON.stringify(line),
    );
    const bytes = Buffer.from(`${lines.join("\n")}\n`);
    const index = indexEntries(bytes);
    const log = createEntryLog(
      { ...HEAD, type: "session", timestamp: "" },
      loadEntries({ bytes, index, isWholeFile: true }),
    );
    const added = said("d", "c", "z") as SessionEntry;
    log.append(added);
    const pieces = linesOfLog(log);
    log.append(said("e", "d", "later") as SessionEntry);
    expect([...pieces].join("")).toBe([...lines.slice(1), JSON.stringify(added), ""].join("\n"));
    const part = log.part([0, 2], log.header);
    expect([...linesOfLog(part)].join("")).toBe(`${lines[1]}\n${lines[3]}\n`);
  });
});

describe("when writing", () => {
  const session = (): ExportedSession => ({ head: HEAD, lines: [`${JSON.stringify(said("a", null, "x"))}\n`] });
  const files = (): string[] => readdirSync(folder()).sort();

  it("a new page is for its owner only; one that is there keeps its mode, and a link stays a link", async () => {
    const path = join(folder(), "page.html");
    await writePage(path, session(), making);
    expect(statSync(path).mode & 0o777).toBe(0o600);
    const other = join(folder(), "other.html");
    writeFileSync(other, "old", { mode: 0o644 });
    symlinkSync(other, join(folder(), "link.html"));
    await writePage(join(folder(), "link.html"), session(), making);
    expect(statSync(other).mode & 0o777).toBe(0o644);
    expect(readPage(other).end.entries).toBe(1);
    expect(files()).toEqual(["link.html", "other.html", "page.html"]);
  });

  it("nothing is left of a page that could not be made, and the old one stays", async () => {
    const path = join(folder(), "page.html");
    writeFileSync(path, "old");
    const broken = function* (): Generator<string> {
      yield `${JSON.stringify(said("a", null, "x"))}\n`;
      throw new Error("the disk is on fire");
    };
    await expect(writePage(path, { head: HEAD, lines: broken() }, making)).rejects.toThrow("on fire");
    await expect(writePage(path, { head: HEAD, lines: [] }, making)).rejects.toThrow(/^Nothing to export yet/);
    expect(readFileSync(path, "utf8")).toBe("old");
    expect(files()).toEqual(["page.html"]);
  });

  it("a full disk is told as such", async () => {
    let isDiscarded = false;
    const fullDisk: BeginFile = () => ({
      write(bytes) {
        const fd = openSync("/dev/full", "w");
        try {
          writeSync(fd, bytes);
        } finally {
          closeSync(fd);
        }
      },
      putInPlace: () => expect.unreachable(),
      discard() {
        isDiscarded = true;
      },
    });
    await expect(writePage("/x", session(), making, fullDisk)).rejects.toMatchObject({ code: "ENOSPC" });
    expect(isDiscarded).toBe(true);
  });
});
