import { linkSync, mkdirSync, readdirSync, statSync, symlinkSync, utimesSync } from "node:fs";
import { join } from "node:path";
import { afterEach, beforeEach, expect, it } from "vitest";
import { hasChanged, realPath, saveFile } from "./save-file.ts";
import { createToolFixture, type ToolFixture } from "./test-fixture.ts";

let fixture: ToolFixture;
beforeEach(() => {
  fixture = createToolFixture({ "a.txt": "old" });
});
afterEach(() => fixture.remove());

const inRoot = (path: string) => join(fixture.root, path);

it("a reader who has the old file open keeps it: the new one takes its place at once", async () => {
  const before = statSync(inRoot("a.txt")).ino;
  await saveFile(inRoot("a.txt"), "new");
  expect(fixture.read("a.txt")).toBe("new");
  expect(statSync(inRoot("a.txt")).ino).not.toBe(before);
  expect(readdirSync(fixture.root)).toEqual(["a.txt"]);
});

it("a file with several names stays one file", async () => {
  linkSync(inRoot("a.txt"), inRoot("b.txt"));
  await saveFile(inRoot("b.txt"), "new");
  expect(fixture.read("a.txt")).toBe("new");
  expect(statSync(inRoot("a.txt")).ino).toBe(statSync(inRoot("b.txt")).ino);
});

it("a path leads to the same real path through links, also to what is not there yet", () => {
  mkdirSync(inRoot("real"));
  symlinkSync("real", inRoot("folder"));
  symlinkSync("folder/new", inRoot("link"));
  symlinkSync("round", inRoot("about"));
  symlinkSync("about", inRoot("round"));
  expect(realPath(inRoot("folder/new"))).toBe(inRoot("real/new"));
  expect(realPath(inRoot("link"))).toBe(inRoot("real/new"));
  expect(realPath(inRoot("no/such/folder"))).toBe(inRoot("no/such/folder"));
  expect([inRoot("about"), inRoot("round")]).toContain(realPath(inRoot("about")));
});

it("a file is known to have changed by its size, its time, or because it is another one", async () => {
  const path = inRoot("a.txt");
  const before = statSync(path);
  expect(await hasChanged(path, before)).toBe(false);
  fixture.write("a.txt", "old!");
  expect(await hasChanged(path, before)).toBe(true);
  fixture.write("a.txt", "new");
  utimesSync(path, before.atime, new Date(before.mtimeMs + 5));
  expect(await hasChanged(path, before)).toBe(true);
  await saveFile(path, "old");
  expect(await hasChanged(path, { ...statSync(path), ino: before.ino })).toBe(true);
});
