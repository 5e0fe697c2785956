import { existsSync, mkdtempSync, rmSync, statSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { makeFolder } from "./make-folder.ts";

describe("making a folder", () => {
  let dir = "";
  beforeEach(() => {
    dir = mkdtempSync(join(tmpdir(), "tiller-folder-"));
  });
  afterEach(() => rmSync(dir, { recursive: true, force: true }));

  it("makes those above it too, and does nothing when it is there", () => {
    const path = join(dir, "a", "b", "c");
    makeFolder(path);
    makeFolder(path);
    expect(statSync(path).isDirectory()).toBe(true);
  });

  it("fails where a file stands in the way", () => {
    writeFileSync(join(dir, "file"), "");
    expect(() => makeFolder(join(dir, "file"))).toThrow("EEXIST");
    expect(() => makeFolder(join(dir, "file", "x"))).toThrow("ENOTDIR");
  });

  it.runIf(existsSync("/proc/self"))("fails, and does not hang, where nobody may make folders (Linux only)", () => {
    expect(() => makeFolder("/proc/x/y")).toThrow("ENOENT");
  });
});
