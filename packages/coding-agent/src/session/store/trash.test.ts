import {
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  renameSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import type { Clock } from "@tiller/protocol/clock";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { repairSession } from "./salvage.ts";
import { tryLock } from "./session-lock.ts";
import { deleteSession } from "./trash.ts";
import { beginNewFile } from "./whole-file.ts";

const clock: Clock = { now: () => Date.UTC(2026, 0, 2, 3, 4, 5), after: () => () => undefined };
const content = `${JSON.stringify({ type: "session", id: "s", cwd: "/w" })}\n`;

let dir = "";
let trashDir = "";
let locksFolder = "";
beforeEach(() => {
  dir = mkdtempSync(join(tmpdir(), "tiller-trash-"));
  trashDir = join(dir, "agent", "trash");
  locksFolder = join(dir, "agent", "locks");
});
afterEach(() => rmSync(dir, { recursive: true, force: true }));

function write(name: string, text = content): string {
  const path = join(dir, name);
  writeFileSync(path, text);
  return path;
}

const remove = (path: string, rename?: typeof renameSync) =>
  deleteSession({ path, trashDir, locksFolder, subAgentsFolder, clock, ...(rename ? { rename } : {}) });
const subAgentsFolder = (id: string) => join(dir, "agent", "subagents", id);

/** A file of a sub-agent, of the session with this file. */
function writeSubAgent(name: string, parentSession: string | undefined, sessionId = "s"): string {
  const folder = subAgentsFolder(sessionId);
  mkdirSync(folder, { recursive: true });
  const path = join(folder, `${name}.jsonl`);
  writeFileSync(path, `${JSON.stringify({ type: "session", id: name, cwd: "/w", parentSession })}\n`);
  return path;
}

describe("deleting a session", () => {
  it("moves it to the trash under the date, with its damaged parts, and leaves no lock", () => {
    const path = write("s.jsonl");
    write("s.jsonl.damaged", "bytes");
    const trashPath = join(trashDir, "2026-01-02T03-04-05-000Z-s.jsonl");
    expect(remove(path)).toEqual({ trashPath, subAgents: [], problems: [] });
    expect(readFileSync(trashPath, "utf8")).toBe(content);
    expect(readFileSync(`${trashPath}.damaged`, "utf8")).toBe("bytes");
    expect(readdirSync(dir)).toEqual(["agent"]);
    expect(readdirSync(locksFolder)).toEqual([]);
  });

  it("takes along everything of ours that lies beside it, and nothing else", () => {
    const path = write("s.jsonl");
    const ours = ["", ".damaged", ".damaged-0123456789abcdef", ".01234567.tmp"];
    const others = [".damaged-notes", ".damaged.bak", ".bak", ".0123456.tmp", "2.damaged"];
    for (const end of [...ours, ...others]) write(`s.jsonl${end}`);
    mkdirSync(`${path}.damaged-fedcba9876543210`);
    const child = writeSubAgent("child", path);
    writeFileSync(`${child}.damaged-0123456789abcdef`, "bytes");
    const found = remove(path);
    if ("error" in found) throw new Error(found.error);
    const name = "2026-01-02T03-04-05-000Z-s.jsonl";
    const inTrash = [...ours, ".subagents"].map((end) => name + end).sort();
    expect(readdirSync(trashDir).sort()).toEqual(inTrash);
    expect(readdirSync(`${found.trashPath}.subagents`)).toEqual([
      "child.jsonl",
      "child.jsonl.damaged-0123456789abcdef",
    ]);
    const left = [...others, ".damaged-fedcba9876543210"].map((end) => `s.jsonl${end}`);
    expect(readdirSync(dir).sort()).toEqual(["agent", ...left].sort());
  });

  it("leaves nothing behind of what a repair and a crash have put beside it", () => {
    const path = write("s.jsonl", `${content}rubbish\n`);
    symlinkSync("elsewhere", `${path}.damaged`);
    const damage = [{ start: content.length, end: content.length + "rubbish".length }];
    expect(repairSession({ path, bytes: readFileSync(path), damage, clock }).setAside).toBeDefined();
    beginNewFile(path).write(Buffer.from(content));
    remove(path);
    expect(readdirSync(dir).sort()).toEqual(["agent", "s.jsonl.damaged"]);
  });

  it("gives no session the parts of another one in the trash", () => {
    mkdirSync(trashDir, { recursive: true });
    const name = "2026-01-02T03-04-05-000Z-s";
    writeFileSync(join(trashDir, `${name}.jsonl.damaged-0123456789abcdef`), "of a session that was restored");
    expect(remove(write("s.jsonl"))).toMatchObject({ trashPath: join(trashDir, `${name}-2.jsonl`) });
  });

  it("overwrites nothing in the trash", () => {
    remove(write("s.jsonl"));
    remove(write("s.jsonl"));
    remove(write("s.jsonl"));
    const name = "2026-01-02T03-04-05-000Z-s";
    expect(readdirSync(trashDir).sort()).toEqual([`${name}-2.jsonl`, `${name}-3.jsonl`, `${name}.jsonl`]);
  });

  it("copies to another disk, then removes the original", () => {
    const path = write("s.jsonl");
    const found = remove(path, () => {
      throw Object.assign(new Error("EXDEV: cross-device link"), { code: "EXDEV" });
    });
    expect("trashPath" in found && readFileSync(found.trashPath, "utf8")).toBe(content);
    expect(existsSync(path)).toBe(false);
  });

  it("copies nothing that a link beside it leads to", () => {
    const path = write("s.jsonl");
    symlinkSync(path, `${path}.damaged`);
    const found = remove(path, () => {
      throw Object.assign(new Error("EXDEV: cross-device link"), { code: "EXDEV" });
    });
    if ("error" in found) throw new Error(found.error);
    expect(existsSync(`${found.trashPath}.damaged`)).toBe(false);
  });

  it("takes the files of its sub-agents along, and theirs, but not those of another session with the same id", () => {
    const path = write("s.jsonl");
    const other = write("other.jsonl");
    const child = writeSubAgent("child", path);
    const grandchild = writeSubAgent("grandchild", child);
    const orphan = writeSubAgent("orphan", join(dir, "gone.jsonl"));
    const circle = writeSubAgent("circle", join(subAgentsFolder("s"), "circle.jsonl"));
    const foreign = writeSubAgent("foreign", other);
    const itsChild = writeSubAgent("its-child", foreign);
    const elsewhere = writeSubAgent("elsewhere", path, "another-id");
    writeFileSync(`${child}.damaged`, "bytes");
    const found = remove(path);
    if ("error" in found) throw new Error(found.error);
    expect([...found.subAgents].sort()).toEqual([child, circle, grandchild, orphan].sort());
    expect(found.problems).toEqual([]);
    const names = ["child.jsonl", "child.jsonl.damaged", "circle.jsonl", "grandchild.jsonl", "orphan.jsonl"];
    expect(readdirSync(`${found.trashPath}.subagents`).sort()).toEqual(names);
    expect([foreign, itsChild, elsewhere].map(existsSync)).toEqual([true, true, true]);
    remove(other);
    expect(existsSync(subAgentsFolder("s"))).toBe(false);
    expect(readdirSync(locksFolder)).toEqual([]);
  });

  it("leaves a sub-agent's file that somebody has opened, and says so", () => {
    const path = write("s.jsonl");
    const child = writeSubAgent("child", path);
    const attempt = tryLock({ locksFolder, sessionPath: child, clock });
    expect(remove(path)).toMatchObject({
      subAgents: [],
      problems: [expect.stringContaining(`${child} cannot be moved`)],
    });
    expect([path, child].map(existsSync)).toEqual([false, true]);
    if ("lock" in attempt) attempt.lock.release();
  });

  it("is told as what it is when somebody else has removed the folder of its sub-agents", () => {
    const path = write("s.jsonl");
    const child = writeSubAgent("child", path);
    const rename: typeof renameSync = (from, to) => {
      renameSync(from, to);
      if (from === child) rmSync(subAgentsFolder("s"), { recursive: true });
    };
    expect(remove(path, rename)).toMatchObject({ subAgents: [child], problems: [] });
  });

  it("keeps the session when it cannot be moved", () => {
    const path = write("s.jsonl");
    mkdirSync(join(dir, "agent"));
    writeFileSync(trashDir, "a file where the trash should be");
    expect(remove(path)).toEqual({ error: expect.stringContaining(`${path} cannot be moved to ${trashDir}: `) });
    expect(readFileSync(path, "utf8")).toBe(content);
  });

  it("leaves a session alone that is in use", () => {
    const path = write("s.jsonl");
    const attempt = tryLock({ locksFolder, sessionPath: path, clock });
    expect(remove(path)).toEqual({ error: expect.stringContaining(`in use by process ${process.pid}`) });
    expect(existsSync(path)).toBe(true);
    if ("lock" in attempt) attempt.lock.release();
    expect(remove(path)).toHaveProperty("trashPath");
  });

  it("refuses what is no session file", () => {
    mkdirSync(join(dir, "folder.jsonl"));
    symlinkSync("gone", join(dir, "link.jsonl"));
    for (const name of ["folder.jsonl", "link.jsonl", "nowhere.jsonl"]) {
      expect(remove(join(dir, name))).toEqual({ error: `There is no session file ${join(dir, name)}` });
    }
    const path = write("precious.jsonl", "my notes\n");
    expect(remove(path)).toEqual({ error: expect.stringContaining("is no session file") });
    expect(existsSync(path)).toBe(true);
    expect(existsSync(trashDir)).toBe(false);
  });
});
