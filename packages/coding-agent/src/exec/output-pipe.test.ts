import { lstatSync, readdirSync, symlinkSync } from "node:fs";
import { expect, it } from "vitest";
import { createPipePool } from "./output-pipe.ts";

it("one of which only the read end can be opened is none, and leaves nothing open", () => {
  // Nobody may write to a program that runs.
  const pool = createPipePool((path) => {
    symlinkSync(process.execPath, path);
    return true;
  });
  const openFiles = () => readdirSync("/proc/self/fd").length;
  const before = openFiles();
  for (let time = 0; time < 10; time++) expect(pool.take(() => undefined)).toBeUndefined();
  expect(openFiles()).toBe(before);
});

it("one that cannot be opened leaves no file behind", () => {
  let made = "";
  const pool = createPipePool((path) => {
    made = path;
    symlinkSync("/nowhere/at/all", path);
    return true;
  });
  expect(pool.take(() => undefined)).toBeUndefined();
  expect(lstatSync(made, { throwIfNoEntry: false })).toBeUndefined();
});
