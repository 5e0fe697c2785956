import { mkdirSync, mkdtempSync, rmSync, symlinkSync, utimesSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { findSession, newestSession, type SessionPlaces, sessionWithId } from "./find-session.ts";

let dir = "";
let places: SessionPlaces;
beforeEach(() => {
  dir = mkdtempSync(join(tmpdir(), "tiller-find-"));
  places = { sessionDir: join(dir, "mine"), sessionsRoot: dir, resolve: (path) => `/abs/${path}` };
});
afterEach(() => rmSync(dir, { recursive: true, force: true }));

function write(name: string, id: string | undefined, seconds = 1000): string {
  const path = join(dir, name);
  mkdirSync(dirname(path), { recursive: true });
  writeFileSync(path, id === undefined ? "" : `${JSON.stringify({ type: "session", id, cwd: "/w" })}\n`);
  utimesSync(path, seconds, seconds);
  return path;
}

describe("finding a session", () => {
  it.each(["a/b", "~/x", "a\\b", "s.jsonl", "./s", "C:\\s"])("takes %s as a path, existing or not", (given) => {
    expect(findSession(given, places)).toEqual({ path: `/abs/${given}` });
  });

  it("takes the beginning of an id", () => {
    const path = write("mine/2026-01-01T00-00-00-000Z_abc-123.jsonl", "abc-123");
    write("mine/2026-01-01T00-00-00-000Z_abd.jsonl", "abd");
    expect(findSession("abc", places)).toEqual({ path });
  });

  it("believes the header, and opens a file with a name of its own to see it", () => {
    const path = write("mine/copy.jsonl", "abc-123");
    write("mine/2026-01-01T00-00-00-000Z_abc-999.jsonl", "other");
    expect(findSession("abc", places)).toEqual({ path });
  });

  it("prefers this project, then looks everywhere", () => {
    const mine = write("mine/a.jsonl", "abc-1");
    write("theirs/b.jsonl", "abc-2");
    const far = write("theirs/c.jsonl", "xyz");
    expect(findSession("abc", places)).toEqual({ path: mine });
    expect(findSession("x", places)).toEqual({ path: far });
  });

  it("prefers the whole id over a longer one", () => {
    write("mine/a.jsonl", "abc-1");
    const path = write("mine/b.jsonl", "abc");
    expect(findSession("abc", places)).toEqual({ path });
  });

  it("lists the candidates when it cannot tell", () => {
    const older = write("mine/a.jsonl", "abc-1", 1);
    const newer = write("mine/b.jsonl", "abc-2", 2);
    expect(findSession("abc", places)).toEqual({
      reason: "ambiguous",
      error: `'abc' matches 2 sessions; give more of the id, or the path:\n  abc-2  ${newer}\n  abc-1  ${older}`,
    });
  });

  it("does not list hundreds of them", () => {
    for (let i = 0; i < 12; i++) write(`mine/${i}.jsonl`, `abc-${i}`);
    const found = findSession("abc", places);
    expect("error" in found && found.error.split("\n").at(-1)).toBe("  and 2 more");
  });

  it.each(["nobody", "", "ABC"])("finds nothing for '%s'", (given) => {
    write("mine/a.jsonl", "abc-1");
    expect(findSession(given, places)).toEqual({ reason: "none", error: `No session found matching '${given}'` });
  });

  it("finds nothing where there is no folder", () => {
    expect(findSession("a", { ...places, sessionDir: "/nowhere", sessionsRoot: "/nowhere" })).toMatchObject({
      reason: "none",
    });
  });
});

describe("the newest session", () => {
  it("is the one that was written to last, whatever its name", () => {
    write("mine/z.jsonl", "old", 1);
    const path = write("mine/a.jsonl", "new", 2);
    expect(newestSession(places.sessionDir)).toBe(path);
  });

  it("is neither an empty file, nor one without a header, nor a folder", () => {
    const path = write("mine/a.jsonl", "good", 1);
    write("mine/empty.jsonl", undefined, 5);
    writeFileSync(join(dir, "mine", "other.jsonl"), '{"type":"message"}\n');
    mkdirSync(join(dir, "mine", "folder.jsonl"));
    symlinkSync("gone", join(dir, "mine", "link.jsonl"));
    expect(newestSession(places.sessionDir)).toBe(path);
  });

  it("is none in an empty folder and in none", () => {
    expect(newestSession(dir)).toBeUndefined();
    expect(newestSession(join(dir, "nowhere"))).toBeUndefined();
  });
});

describe("the session with an id", () => {
  it("has exactly this one", () => {
    write("mine/a.jsonl", "abc-1");
    const path = write("mine/b.jsonl", "abc");
    expect(sessionWithId("abc", places.sessionDir)).toBe(path);
    expect(sessionWithId("ab", places.sessionDir)).toBeUndefined();
  });
});
