import { mkdirSync, mkdtempSync, rmSync, utimesSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { DIALECTS } from "@tiller/protocol/dialects/index";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import type { CliOptions } from "./cli-options.ts";
import { choosesSession } from "./given-options.ts";
import { type ChoiceInputs, chooseSession } from "./session-choice.ts";

let dir = "";
let inputs: Omit<ChoiceInputs, "options">;
beforeEach(() => {
  dir = mkdtempSync(join(tmpdir(), "tiller-choice-"));
  const sessionDir = join(dir, "agent", "sessions", "--w--");
  inputs = { dialect: DIALECTS.union, agentDir: join(dir, "agent"), sessionDir, cwd: dir, env: { HOME: "/home/me" } };
});
afterEach(() => rmSync(dir, { recursive: true, force: true }));

function write(name: string, id: string, seconds = 1000): string {
  const path = join(inputs.sessionDir, name);
  mkdirSync(dirname(path), { recursive: true });
  writeFileSync(path, `${JSON.stringify({ type: "session", id, cwd: "/w" })}\n`);
  utimesSync(path, seconds, seconds);
  return path;
}

const choose = (options: CliOptions) => chooseSession({ ...inputs, options });

describe("going on", () => {
  it.each<CliOptions>([{ continue: true }, { resume: true }, { continue: true, resume: true }])(
    "%j opens the newest session of this project",
    (options) => {
      write("old.jsonl", "old", 1);
      const path = write("new.jsonl", "new", 2);
      write("../--other--/newer.jsonl", "newer", 3);
      expect(choose(options)).toEqual({ kind: "open", path });
    },
  );

  it("starts a new session when there is none", () => {
    expect(choose({ continue: true, name: "n" })).toEqual({ kind: "new", name: "n" });
  });
});

describe("a session by path or id", () => {
  it.each(["session", "resume"] as const)("--%s opens it by the beginning of its id", (option) => {
    const path = write("a.jsonl", "abc-1");
    expect(choose({ [option]: "abc", name: " a name " })).toEqual({ kind: "open", path, name: "a name" });
  });

  it("looks in other projects too", () => {
    const path = write("../--other--/a.jsonl", "abc-1");
    expect(choose({ session: "abc" })).toEqual({
      kind: "open",
      path: join(dirname(dirname(path)), "--other--", "a.jsonl"),
    });
  });

  it.each([
    ["x/new.jsonl", () => join(dir, "x/new.jsonl")],
    ["~/new.jsonl", () => "/home/me/new.jsonl"],
  ])("--session %s begins one there when the file is missing", (session, path) => {
    expect(choose({ session })).toEqual({ kind: "open", path: path() });
  });

  it("says that nothing fits, in the words of the dialect", () => {
    expect(choose({ session: "nobody" })).toEqual({ error: "No session found matching 'nobody'" });
    const dialect = DIALECTS.xcsh;
    expect(chooseSession({ ...inputs, dialect, options: { session: "nobody" } })).toEqual({
      error: 'Session "nobody" not found.',
    });
  });

  it("does not choose for the host", () => {
    write("a.jsonl", "abc-1");
    write("b.jsonl", "abc-2");
    expect(choose({ session: "abc" })).toEqual({ error: expect.stringContaining("'abc' matches 2 sessions") });
  });

  it("does not open a folder", () => {
    expect(choose({ session: "./agent/.." })).toEqual({ error: `Error: ${dir} is not a file; a session is one` });
  });
});

describe("a fork", () => {
  it("copies a session that exists", () => {
    const path = write("a.jsonl", "abc-1");
    expect(choose({ fork: "abc" })).toEqual({ kind: "fork", path });
    expect(choose({ fork: path, sessionId: "mine", name: "n" })).toEqual({ kind: "fork", path, id: "mine", name: "n" });
  });

  it("needs something to copy", () => {
    writeFileSync(join(dir, "notes.jsonl"), "notes\n");
    expect(choose({ fork: "gone.jsonl" })).toEqual({ error: "No session found matching 'gone.jsonl'" });
    expect(choose({ fork: "nobody" })).toEqual({ error: "No session found matching 'nobody'" });
    expect(choose({ fork: "notes.jsonl" })).toEqual({ error: expect.stringContaining("is no session file") });
    expect(choose({ fork: "./agent/.." })).toEqual({ error: expect.stringContaining("is no session file") });
  });

  it("does not take the id of another session", () => {
    const path = write("a.jsonl", "abc-1");
    expect(choose({ fork: path, sessionId: "abc-1" })).toEqual({
      error: expect.stringContaining(`is taken by ${path}`),
    });
  });
});

describe("the id of a session", () => {
  it("is for the new one", () => {
    expect(choose({ sessionId: "My_id-1" })).toEqual({ kind: "new", id: "My_id-1" });
    expect(choose({ sessionId: "x", noSession: true })).toEqual({ kind: "new", id: "x" });
  });

  it("leads to the session of this project that has it already", () => {
    const path = write("a.jsonl", "host-1");
    write("../--other--/b.jsonl", "host-2");
    expect(choose({ sessionId: "host-1" })).toEqual({ kind: "open", path });
    expect(choose({ sessionId: "host" })).toEqual({ kind: "new", id: "host" });
    expect(choose({ sessionId: "host-2" })).toEqual({ kind: "new", id: "host-2" });
    expect(choose({ sessionId: "host-1", noSession: true })).toEqual({ kind: "new", id: "host-1" });
  });

  it.each(["", "a/b", "..", "a b", "ä", "x".repeat(129)])("cannot be '%s'", (sessionId) => {
    expect(choose({ sessionId })).toEqual({
      error: `Error: --session-id cannot be "${sessionId}"; expected up to 128 letters, digits, - and _`,
    });
  });
});

describe("what cannot both be meant", () => {
  it.each<[CliOptions, string]>([
    [{ fork: "a", session: "b" }, "--fork cannot be used with --session"],
    [{ fork: "a", continue: true }, "--fork cannot be used with --continue"],
    [{ fork: "a", resume: true }, "--fork cannot be used with --resume"],
    [{ fork: "a", noSession: true }, "--fork cannot be used with --no-session"],
    [{ noSession: true, session: "a" }, "--no-session cannot be used with --session"],
    [{ noSession: true, continue: true }, "--no-session cannot be used with --continue"],
    [{ noSession: true, resume: "a" }, "--no-session cannot be used with --resume"],
    [{ session: "a", continue: true }, "--session cannot be used with --continue"],
    [{ session: "a", resume: "b" }, "--session cannot be used with --resume"],
    [{ continue: true, resume: "b" }, "--continue cannot be used with --resume b"],
    [{ sessionId: "a", session: "b" }, "--session-id cannot be used with --session"],
    [{ sessionId: "a", continue: true }, "--session-id cannot be used with --continue"],
    [{ name: "  " }, "--name cannot be empty"],
  ])("%j", (options, expected) => {
    expect(choose(options)).toEqual({ error: expect.stringMatching(new RegExp(`^Error: ${expected}`)) });
  });
});

describe("whether there is anything to choose", () => {
  it.each<[CliOptions, boolean]>([
    [{}, false],
    [{ mode: "rpc", noSession: true, sessionDir: "x" }, false],
    [{ continue: true }, true],
    [{ resume: true }, true],
    [{ session: "" }, true],
    [{ sessionId: "x" }, true],
    [{ name: "x" }, true],
    [{ fork: "x" }, true],
  ])("%j: %s", (options, expected) => {
    expect(choosesSession(options)).toBe(expected);
  });
});
