import { existsSync, mkdtempSync, rmSync, statSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { makeFolder, makePrivateFolder } from "./make-folder.ts";

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

  it("makes private ones for their owner only, whatever the mask, and leaves those alone that are there", () => {
    const mask = process.umask(0);
    try {
      makePrivateFolder(join(dir, "a/b"));
      makeFolder(join(dir, "open"), 0o755);
      makePrivateFolder(join(dir, "open"));
    } finally {
      process.umask(mask);
    }
    const modes = ["a", "a/b", "open"].map((name) => statSync(join(dir, name)).mode & 0o777);
    expect(modes).toEqual([0o700, 0o700, 0o755]);
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
