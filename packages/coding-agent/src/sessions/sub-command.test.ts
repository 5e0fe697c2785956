import { existsSync, mkdirSync, mkdtempSync, readFileSync, rmSync, utimesSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { parseArgs } from "../args.ts";
import { cwdFolderName } from "../config/paths.ts";
import { systemClock } from "../lib/clock.ts";
import { tryLock } from "../session/store/session-lock.ts";
import { type Outcome, sessionsOutcome } from "./sub-command.ts";

let dir = "";
let project = "";
beforeEach(() => {
  dir = mkdtempSync(join(tmpdir(), "tiller-sessions-"));
  project = join(dir, "project");
  mkdirSync(project);
});
afterEach(() => rmSync(dir, { recursive: true, force: true }));

/** Runs `tiller sessions ...` in the project. */
async function tiller(...argv: string[]): Promise<Required<Outcome>> {
  const parsed = parseArgs(["sessions", ...argv], "tiller");
  if (parsed.kind !== "sessions") throw new Error(JSON.stringify(parsed));
  const { words, run } = parsed;
  const env = { HOME: dir, TILLER_DIR: join(dir, "agent") };
  const { code, out = "", errors = [] } = await sessionsOutcome({ words, run, env, cwd: project, clock: systemClock });
  return { code, out, errors };
}

function write(name: string, lines: readonly (object | string)[], cwd = project): string {
  const path = join(dir, "agent", "sessions", cwdFolderName(cwd), name);
  mkdirSync(dirname(path), { recursive: true });
  const raw = lines.map((line) => (typeof line === "string" ? line : JSON.stringify(line)));
  writeFileSync(path, `${raw.join("\n")}\n`);
  utimesSync(path, 1_800_000_000, 1_800_000_000);
  return path;
}

const timestamp = "2026-11-15T18:41:02.460Z";
const header = (id: string, more: object = {}) => ({
  type: "session",
  version: 3,
  id,
  timestamp,
  cwd: project,
  ...more,
});
const entry = (id: string, parentId: string | null, rest: object) => ({
  type: "message",
  id,
  parentId,
  timestamp,
  ...rest,
});
const user = (id: string, parentId: string | null, content: string) =>
  entry(id, parentId, { message: { role: "user", content, timestamp: 1 } });
const answer = (id: string, parentId: string) =>
  entry(id, parentId, {
    message: {
      role: "assistant",
      provider: "acme",
      model: "m-1",
      content: [
        { type: "text", text: "ok" },
        { type: "toolCall", id: "t", name: "read", arguments: {} },
      ],
      usage: { input: 100, output: 20, cacheRead: 5, cacheWrite: 1, totalTokens: 126, cost: { total: 0.25 } },
    },
  });

describe("tiller sessions list", () => {
  it("is a table of this project's sessions, with as much of the id as is needed", async () => {
    write("a.jsonl", [header("019b7618-5f00-a"), user("a", null, "Summarize\nthis repo")]);
    write("b.jsonl", [header("019b7618-5f00-b", { title: "Repair" }), user("a", null, "hi"), "garbage"]);
    write("c.jsonl", [header("elsewhere")], "/other");
    const { code, out } = await tiller();
    expect(code).toBe(0);
    expect(out.split("\n")).toEqual([
      "id               modified           messages  name or first message",
      "019b7618-5f00-a  2027-01-15 08:00Z  1         Summarize this repo",
      '019b7618-5f00-b  2027-01-15 08:00Z  1         "Repair"               damaged',
    ]);
    expect((await tiller("list")).out).toBe(out);
  });

  it("looks for words, in every project with --all", async () => {
    write("a.jsonl", [header("aaaaaaaaaa"), user("a", null, "build the house")]);
    write("c.jsonl", [header("cccccccccc", { cwd: "/other" }), user("a", null, "the HOUSE burns")], "/other");
    expect((await tiller("list", "the", "house", "burns")).out).toContain("No session in ");
    const { out } = await tiller("list", "house", "--all", "--json");
    expect(JSON.parse(out)).toMatchObject([{ id: "cccccccccc" }, { id: "aaaaaaaaaa" }]);
    expect((await tiller("list", "burns", "--all")).out.split("\n")[1]).toBe(
      "cccccccc  2027-01-15 08:00Z  1         /other  the HOUSE burns",
    );
  });

  it("says where it looked when there is nothing", async () => {
    const { code, out } = await tiller();
    expect(code).toBe(0);
    expect(out).toMatch(/^No sessions in .*; --all looks in every project\.$/);
  });

  it("looks into the folder that --session-dir names", async () => {
    mkdirSync(join(dir, "mine"));
    writeFileSync(join(dir, "mine", "a.jsonl"), `${JSON.stringify(header("mine-12345"))}\n`);
    expect((await tiller("list", "--session-dir", "../mine")).out).toContain("mine-123");
  });
});

describe("tiller sessions show", () => {
  it("tells what is in a session of ours", async () => {
    const path = write("a.jsonl", [
      header("abc-1", { parentSession: "/old.jsonl" }),
      { type: "model_change", id: "m", parentId: null, timestamp, provider: "acme", modelId: "m-0" },
      { type: "thinking_level_change", id: "t", parentId: "m", timestamp, thinkingLevel: "low" },
      user("u1", "t", "start"),
      answer("a1", "u1"),
      user("u2", "a1", "one way"),
      user("u3", "a1", "the other way"),
      answer("a3", "u3"),
      { type: "session_info", id: "i", parentId: "a3", timestamp, name: "Work" },
      "garbage",
    ]);
    const { code, out } = await tiller("show", "abc");
    expect(code).toBe(0);
    expect(out.split("\n")).toEqual([
      "session   abc-1 (version 3)",
      "name      Work",
      expect.stringMatching(/^file {6}.*a\.jsonl \(\d kB\)$/),
      `folder    ${project}`,
      "created   2026-11-15 18:41Z",
      "modified  2027-01-15 08:00Z",
      "parent    /old.jsonl",
      "model     acme/m-1, thinking low",
      "messages  5 (of 8 entries): 3 user, 2 assistant, 2 tool calls, 0 compactions",
      "tokens    252: 200 in, 40 out, 10 cache read, 2 cache write",
      "cost      $0.5",
      "damage    1 line cannot be read; see verify",
      "",
      "* start",
      "    - one way",
      "*   - the other way",
    ]);
    expect(JSON.parse((await tiller("show", path, "--json")).out)).toMatchObject({
      path,
      model: "acme/m-1",
      cost: 0.5,
    });
  });

  it.each([
    [
      "of the first version",
      [
        { type: "session", id: "x1", timestamp, cwd: "/w" },
        { type: "message", timestamp, message: { role: "user", content: "old" } },
      ],
      ["(version 1)", "* old"],
    ],
    [
      "of another program, with its title first and models in one word",
      [
        { type: "title", v: 1, title: "Titled" },
        header("x1"),
        { type: "model_change", id: "m", parentId: null, timestamp, model: "open/router/m", role: "default" },
        { type: "service_tier_change", id: "s", parentId: "m", timestamp, serviceTier: null },
        user("u", "s", "hello"),
      ],
      ["name      Titled", "model     open/router/m", "* hello"],
    ],
    ["without anything in it", [header("x1")], ["No user message yet."]],
  ])("reads a session %s", async (_, lines, expected) => {
    write("x.jsonl", lines);
    const { code, out } = await tiller("show", "x1");
    expect(code).toBe(0);
    for (const part of expected) expect(out).toContain(part);
  });

  it("fails for what is no session, for a folder and for nothing", async () => {
    const path = write("notes.jsonl", ["my notes"]);
    const cases: [string, string][] = [
      [path, `${path} is no session file: it has no session header`],
      [dirname(path), `${dirname(path)} is a folder, not a session file`],
      [join(dir, "nowhere.jsonl"), `The session file ${join(dir, "nowhere.jsonl")} does not exist`],
      ["nobody", "No session found matching 'nobody'"],
    ];
    for (const [given, reason] of cases) {
      expect(await tiller("show", given)).toEqual({
        code: 1,
        out: "",
        errors: [expect.stringContaining(`Error: ${reason}`)],
      });
    }
  });
});

describe("tiller sessions verify and repair", () => {
  const whole = [header("good"), user("u", null, "hi")];
  const torn = [header("bad"), user("u", null, "hi"), "\0\0\0\0", user("v", "u", "there")];

  it("has nothing to say about files that are whole", async () => {
    const path = write("a.jsonl", whole);
    expect(await tiller("verify")).toEqual({ code: 0, out: `  ok  ${path}\n\n1 file, all whole.`, errors: [] });
    expect((await tiller("repair", path)).out).toBe(`${path} is whole; there is nothing to repair.`);
    expect(await tiller("verify", "good", "nobody")).toMatchObject({
      code: 1,
      out: expect.stringContaining("ok"),
      errors: ["Error: No session found matching 'nobody'"],
    });
    expect(await tiller("verify", "--session-dir", join(dir, "nowhere"))).toMatchObject({
      code: 0,
      out: "0 files, all whole.",
    });
  });

  it("finds damage, with the line, in every file; repair mends it and keeps the bytes", async () => {
    const path = write("b.jsonl", torn);
    write("a.jsonl", whole);
    const before = await tiller("verify");
    expect(before.code).toBe(1);
    expect(before.out).toContain(`  x   ${path}\n      x line 3: 4 of its 4 bytes are zero\n\n1 of 2 files damaged.`);
    const { code, out } = await tiller("repair", "bad");
    expect(code).toBe(0);
    expect(out).toBe(`${path} is repaired. 1 line damaged; 4 bytes left out, as there was nothing in them.`);
    expect((await tiller("verify", path)).code).toBe(0);
    expect(
      readFileSync(path, "utf8")
        .trimEnd()
        .split("\n")
        .map((line) => JSON.parse(line)),
    ).toEqual(torn.filter((line) => typeof line !== "string"));
  });

  it("looks at other projects with --all", async () => {
    write("a.jsonl", whole);
    write("b.jsonl", torn, "/other");
    expect((await tiller("verify")).code).toBe(0);
    const { code, out } = await tiller("verify", "--all", "--json");
    expect(code).toBe(1);
    expect(JSON.parse(out)).toMatchObject([{ ok: false, damage: [{ line: 3 }] }, { ok: true }]);
  });

  it("does not touch what is no session, nor one that a process is writing", async () => {
    const notes = write("notes.jsonl", ["my notes"]);
    expect((await tiller("repair", notes)).code).toBe(1);
    expect(readFileSync(notes, "utf8")).toBe("my notes\n");
    const path = write("b.jsonl", torn);
    const before = readFileSync(path);
    const attempt = tryLock({ locksFolder: join(dir, "agent", "locks"), sessionPath: path, clock: systemClock });
    expect((await tiller("repair", path)).errors).toEqual([expect.stringContaining("is in use by process")]);
    if ("lock" in attempt) attempt.lock.release();
    expect(readFileSync(path)).toEqual(before);
    expect(existsSync(`${path}.damaged`)).toBe(false);
  });

  it("leaves a lost header to whoever opens the session", async () => {
    const path = write("a.jsonl", [user("u", null, "hi")]);
    expect((await tiller("verify", path)).out).toContain("x line 1: no session header");
    expect((await tiller("repair", path)).errors).toEqual([expect.stringContaining("has lost its header")]);
  });

  it("keeps what it cannot read beside the file, and saves what it can", async () => {
    const saved = JSON.stringify(user("v", "u", "saved"));
    const path = write("b.jsonl", [header("bad"), user("u", null, "hi"), `{"type":"mess${saved}`]);
    const { out } = await tiller("repair", path);
    expect(out).toBe(`${path} is repaired. 1 line damaged; 13 bytes kept in ${path}.damaged; 1 entry could be saved.`);
    expect(readFileSync(`${path}.damaged`, "utf8")).toContain('{"type":"mess');
    expect(readFileSync(path, "utf8")).toContain(`${saved}\n`);
  });
});

describe("tiller sessions", () => {
  it.each([
    [["dance"], 'Error: `tiller sessions` cannot "dance"; it can:\n  tiller sessions list [TEXT]\n'],
    [["constructor"], 'Error: `tiller sessions` cannot "constructor"; it can:'],
    [["show"], "Error: use it as `tiller sessions show PATH|ID`"],
    [["show", "a", "b"], "Error: use it as `tiller sessions show PATH|ID`"],
    [["repair"], "Error: use it as `tiller sessions repair PATH|ID`"],
  ])("%j is not understood", async (argv, message) => {
    expect(await tiller(...argv)).toEqual({ code: 2, out: "", errors: [expect.stringContaining(message)] });
  });

  it("passes on what is wrong with the settings", async () => {
    mkdirSync(join(dir, "agent"));
    writeFileSync(join(dir, "agent", "settings.json"), "{");
    expect((await tiller()).errors).toEqual([expect.stringContaining("tiller: ")]);
  });

  it("needs a folder to look from", async () => {
    expect((await tiller("list", "--cwd", "nowhere")).code).toBe(1);
  });
});
