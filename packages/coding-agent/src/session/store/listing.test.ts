import {
  chmodSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  rmSync,
  symlinkSync,
  utimesSync,
  writeFileSync,
} from "node:fs";
import { tmpdir } from "node:os";
import { basename, join } from "node:path";
import fc from "fast-check";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { type ListQuery, listSessions, type SessionPage } from "./listing.ts";
import type { SessionSummary } from "./session-summary.ts";

let dir = "";
beforeEach(() => {
  dir = mkdtempSync(join(tmpdir(), "tiller-listing-"));
});
afterEach(() => rmSync(dir, { recursive: true, force: true }));

const header = (id: string, more: object = {}) => ({
  type: "session",
  version: 3,
  id,
  timestamp: "2026-01-01T00:00:00.000Z",
  cwd: "/w",
  ...more,
});
const said = (role: string, content: unknown) => ({
  type: "message",
  id: "m",
  parentId: null,
  message: { role, content },
});
const text = (...texts: string[]) => texts.map((one) => ({ type: "text", text: one }));

/** Writes lines, each an object or raw text, and sets the time of the file in seconds. */
function write(name: string, lines: readonly (object | string)[], seconds = 1000): string {
  const path = join(dir, name);
  const raw = lines.map((line) => (typeof line === "string" ? line : JSON.stringify(line)));
  writeFileSync(path, `${raw.join("\n")}\n`);
  utimesSync(path, seconds, seconds);
  return path;
}

async function page(query: Partial<ListQuery> = {}): Promise<SessionPage> {
  const found = await listSessions({ place: { folder: dir }, ...query });
  if ("error" in found) throw new Error(found.error);
  return found;
}

async function only(query: Partial<ListQuery> = {}): Promise<SessionSummary | undefined> {
  return (await page(query)).sessions[0];
}

const names = ({ sessions }: SessionPage): string[] => sessions.map(({ path }) => basename(path));

describe("a summary", () => {
  it("tells what the file says", async () => {
    const path = write("a.jsonl", [
      header("s1", { parentSession: "/old.jsonl" }),
      said("user", "build it"),
      said("assistant", text("done")),
      { type: "session_info", id: "i", parentId: "m", name: "first name" },
      said("user", "again"),
      { type: "session_info", id: "j", parentId: "m", name: "last name" },
    ]);
    expect(await only()).toEqual({
      path,
      id: "s1",
      cwd: "/w",
      name: "last name",
      parentSession: "/old.jsonl",
      created: "2026-01-01T00:00:00.000Z",
      modified: "1970-01-01T00:16:40.000Z",
      messageCount: 3,
      firstMessage: "build it",
    });
  });

  const cases: [string, (object | string)[], Partial<SessionSummary>][] = [
    ["the title in a header", [header("x", { title: "t" })], { name: "t" }],
    ["a title in the line before the header", [{ type: "title", v: 1, title: "t   " }, header("x")], { name: "t" }],
    [
      "a title that changes",
      [header("x", { title: "t" }), { type: "title_change", id: "i", title: "u" }],
      { name: "u" },
    ],
    [
      "the text blocks of a message",
      [header("x"), said("user", [{ type: "image" }, ...text("a", "b")])],
      { firstMessage: "a\nb" },
    ],
    [
      "the first that has a text",
      [header("x"), said("user", [{ type: "image" }]), said("user", "b")],
      { firstMessage: "b" },
    ],
    [
      "that nobody spoke",
      [header("x"), said("assistant", text('"role":"user"'))],
      { firstMessage: "", messageCount: 1 },
    ],
    ["a long message cut", [header("x"), said("user", "y".repeat(300))], { firstMessage: "y".repeat(200) }],
    [
      "a cut that spares a character",
      [header("x"), said("user", `${"y".repeat(199)}😀z`)],
      { firstMessage: "y".repeat(199) },
    ],
    [
      "lines written in another way",
      [header("x"), `{ "id":"m", "type":"message", "message": {"role": "user", "content":"hi"} }`],
      { firstMessage: "hi", messageCount: 1 },
    ],
    [
      "lines that end with CR",
      [`${JSON.stringify(header("x"))}\r`, `${JSON.stringify(said("user", "hi"))}\r`],
      { firstMessage: "hi", messageCount: 1 },
    ],
    [
      "a file of the first version",
      [
        { type: "session", id: "x", timestamp: "t", cwd: "/v1" },
        { type: "message", message: { role: "user", content: "hi" } },
      ],
      { cwd: "/v1", created: "t", messageCount: 1 },
    ],
  ];
  it.each(cases)("knows %s", async (_, lines, expected) => {
    write("a.jsonl", lines);
    const summary = await only();
    expect(summary).toMatchObject({ id: "x", ...expected });
    expect(summary?.damaged).toBeUndefined();
  });

  it("is right when lines are longer than what is read at once", async () => {
    const long = "z".repeat(1_500_000);
    write("a.jsonl", [header("x"), said("user", long), said("assistant", text(long)), said("user", "end")]);
    expect(await only()).toMatchObject({ messageCount: 3, firstMessage: "z".repeat(200) });
    expect(await only({ text: "END" })).toMatchObject({ id: "x" });
  });

  const damaged: [string, string][] = [
    ["a torn last line", `${JSON.stringify(header("x"))}\n${JSON.stringify(said("user", "hi"))}\n{"type":"mess`],
    ["zeros in the middle", `${JSON.stringify(header("x"))}\n\0\0\0\n${JSON.stringify(said("user", "hi"))}\n`],
    ["garbage before the header", `@@@\n${JSON.stringify(header("x"))}\n${JSON.stringify(said("user", "hi"))}\n`],
    [
      "a first message that is broken",
      `${JSON.stringify(header("x"))}\n{"type":"message","message":{"role":"user",}\n${JSON.stringify(said("user", "hi"))}\n`,
    ],
  ];
  it.each(damaged)("says that there is damage: %s", async (_, content) => {
    writeFileSync(join(dir, "a.jsonl"), content);
    expect(await only()).toMatchObject({ id: "x", damaged: true, firstMessage: "hi" });
  });

  it("does not mind a last line without its end", async () => {
    writeFileSync(join(dir, "a.jsonl"), `${JSON.stringify(header("x"))}\n${JSON.stringify(said("user", "hi"))}`);
    expect(await only()).toMatchObject({ messageCount: 1 });
    expect((await only())?.damaged).toBeUndefined();
  });
});

describe("what is left out", () => {
  it("is everything that is no session, without a word", async () => {
    write("good.jsonl", [header("good")]);
    write("other.jsonl", [{ type: "message" }, { a: 1 }]);
    write("no-id.jsonl", [{ type: "session" }]);
    write("notes.txt", [header("txt")]);
    writeFileSync(join(dir, "empty.jsonl"), "");
    mkdirSync(join(dir, "folder.jsonl"));
    symlinkSync("nowhere", join(dir, "dangling.jsonl"));
    symlinkSync("loop.jsonl", join(dir, "loop.jsonl"));
    chmodSync(write("secret.jsonl", ["locked"]), 0);
    expect(names(await page())).toEqual(["good.jsonl"]);
  });

  it("is nothing at all in a folder that does not exist, or is a file", async () => {
    const file = write("good.jsonl", [header("good")]);
    expect(await page({ place: { folder: join(dir, "nowhere") } })).toEqual({ sessions: [] });
    expect(await page({ place: { folder: file } })).toEqual({ sessions: [] });
    expect(await page({ place: { root: file } })).toEqual({ sessions: [] });
  });

  it("is not what a link leads to", async () => {
    mkdirSync(join(dir, "elsewhere"));
    mkdirSync(join(dir, "here"));
    write("elsewhere/a.jsonl", [header("a")]);
    symlinkSync("../elsewhere/a.jsonl", join(dir, "here", "b.jsonl"));
    expect(names(await page({ place: { folder: join(dir, "here") } }))).toEqual(["b.jsonl"]);
    mkdirSync(join(dir, "root"));
    symlinkSync("../elsewhere", join(dir, "root", "project"));
    expect(names(await page({ place: { root: join(dir, "root") } }))).toEqual(["a.jsonl"]);
  });
});

describe("filters", () => {
  beforeEach(() => {
    mkdirSync(join(dir, "one"));
    mkdirSync(join(dir, "two"));
    write("one/a.jsonl", [header("a", { cwd: "/one", title: "Repair the Build" }), said("user", "Straße and CAFÉ")], 3);
    write("one/b.jsonl", [header("b", { cwd: "/one" }), said("assistant", text('he said "Hello/World"'))], 2);
    write("two/c.jsonl", [
      header("c", { cwd: "/two" }),
      said("user", "nothing"),
      { ...said("toolResult", text("secret output")), id: "t" },
      said("assistant", [{ type: "thinking", thinking: "hidden thought" }]),
    ]);
  });
  const cases: [string, Partial<ListQuery>, string[]][] = [
    ["nothing: all, newest first", {}, ["c.jsonl", "a.jsonl", "b.jsonl"]],
    ["a text of the user in another case", { text: "café" }, ["a.jsonl"]],
    ["a text of the assistant that JSON escapes", { text: '"hello/' }, ["b.jsonl"]],
    ["plain words of the assistant", { text: "HE SAID" }, ["b.jsonl"]],
    ["what only a tool said", { text: "secret output" }, []],
    ["what was only thought", { text: "hidden thought" }, []],
    ["a word of the file format", { text: "parentId" }, []],
    ["a folder", { cwd: "/one" }, ["a.jsonl", "b.jsonl"]],
    ["a part of a folder's path", { cwd: "/o" }, []],
    ["a part of a name", { name: "the build" }, ["a.jsonl"]],
    ["several at once", { cwd: "/one", text: "hello" }, ["b.jsonl"]],
    ["an empty text", { text: "" }, ["c.jsonl", "a.jsonl", "b.jsonl"]],
  ];
  it.each(cases)("by %s", async (_, query, expected) => {
    expect(names(await page({ place: { root: dir }, ...query }))).toEqual(expected);
  });
});

describe("pages", () => {
  async function allPages(limit: number, between: () => void = () => undefined): Promise<string[]> {
    const seen: string[] = [];
    let cursor: string | undefined;
    do {
      const found = await page({ limit, ...(cursor === undefined ? {} : { cursor }) });
      expect(found.sessions.length).toBeLessThanOrEqual(limit);
      seen.push(...names(found));
      cursor = found.nextCursor;
      if (cursor !== undefined) between();
    } while (cursor !== undefined);
    return seen;
  }

  it("visit every session once, newest first, whatever their size and the times of the files", async () => {
    await fc.assert(
      fc.asyncProperty(
        fc.array(fc.integer({ min: 1, max: 4 }), { maxLength: 12 }),
        fc.integer({ min: 1, max: 5 }),
        async (times, limit) => {
          for (const name of readdirSync(dir)) rmSync(join(dir, name));
          const made = times.map((seconds, at) => ({ name: `${String.fromCharCode(97 + at)}.jsonl`, seconds }));
          for (const { name, seconds } of made) write(name, [header(name)], seconds);
          const sorted = made.sort((a, b) => b.seconds - a.seconds || (a.name < b.name ? -1 : 1));
          expect(await allPages(limit)).toEqual(sorted.map(({ name }) => name));
        },
      ),
      { numRuns: 40 },
    );
  });

  it("neither repeat nor hide a session when others come and go in between", async () => {
    for (let i = 1; i <= 9; i++) write(`s${i}.jsonl`, [header(`s${i}`)], 100 - i);
    let round = 0;
    const seen = await allPages(3, () => {
      round += 1;
      if (round > 1) return;
      // The one the cursor stands at, an earlier one, and a newer one that comes.
      rmSync(join(dir, "s3.jsonl"));
      rmSync(join(dir, "s1.jsonl"));
      write("s0.jsonl", [header("s0")], 200);
    });
    expect(seen).toEqual([1, 2, 3, 4, 5, 6, 7, 8, 9].map((i) => `s${i}.jsonl`));
  });

  it("end with the last session, without an empty page", async () => {
    write("a.jsonl", [header("a")]);
    write("b.jsonl", [header("b")]);
    writeFileSync(join(dir, "c.jsonl"), "no session\n");
    expect((await page({ limit: 2 })).nextCursor).toBeUndefined();
  });

  it("have fifty sessions if nobody says otherwise", async () => {
    for (let i = 0; i < 51; i++) write(`${i}.jsonl`, [header(`s${i}`)]);
    const found = await page();
    expect(found.sessions).toHaveLength(50);
    expect((await page({ cursor: found.nextCursor! })).sessions).toHaveLength(1);
  });

  it.each([0, 201, 1.5, 1e308, Number.NaN])("cannot have %s sessions", async (limit) => {
    expect(await listSessions({ place: { folder: dir }, limit })).toEqual({
      code: "invalid_limit",
      error: `"limit" must be an integer from 1 to 200, got ${limit}`,
    });
  });

  it("refuse a cursor of another search, and one that is none", async () => {
    for (const name of ["a", "b"]) write(`${name}.jsonl`, [header(name), said("user", "hi")]);
    const { nextCursor = "" } = await page({ limit: 1, text: "hi" });
    const place = { folder: dir };
    expect(await listSessions({ place, cursor: nextCursor, text: "ho" })).toMatchObject({
      code: "stale_cursor",
      error: expect.stringContaining("stale"),
    });
    expect(names(await page({ cursor: nextCursor, limit: 7, text: "hi" }))).toEqual(["b.jsonl"]);
    for (const cursor of ["", "?", "e30", Buffer.from("[1,2]").toString("base64url")]) {
      expect(await listSessions({ place, cursor })).toMatchObject({ code: "invalid_cursor" });
    }
  });

  it("let others have their turn while many files are read", async () => {
    for (let i = 0; i < 20; i++) write(`${i}.jsonl`, [header(`s${i}`)]);
    let turns = 0;
    let isDone = false;
    const count = (): void => {
      turns += 1;
      if (!isDone) setImmediate(count);
    };
    setImmediate(count);
    await page();
    isDone = true;
    expect(turns).toBeGreaterThanOrEqual(20);
  });

  it("survive a file that goes away while the list is made", async () => {
    write("a.jsonl", [header("a")], 2);
    const path = write("b.jsonl", [header("b")], 1);
    const listing = page();
    rmSync(path);
    expect(names(await listing)).toEqual(["a.jsonl"]);
  });
});
