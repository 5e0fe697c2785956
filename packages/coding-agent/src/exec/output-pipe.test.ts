import { spawnSync } from "node:child_process";
import {
  existsSync,
  lstatSync,
  mkdirSync,
  readdirSync,
  rmdirSync,
  symlinkSync,
  writeFileSync,
  writeSync,
} from "node:fs";
import { expect, it, vi } from "vitest";
import { createPipePool } from "./output-pipe.ts";

it("one of which only the read end can be opened is none, and leaves nothing open", () => {
  // Nobody may write to a program that runs.
  const pool = createPipePool((paths) => {
    for (const path of paths) symlinkSync(process.execPath, path);
    return true;
  });
  const openFiles = () => readdirSync("/proc/self/fd").length;
  const before = openFiles();
  for (let time = 0; time < 10; time++) expect(pool.take(() => undefined)).toBeUndefined();
  expect(openFiles()).toBe(before);
});

it("one that cannot be opened leaves no file behind", () => {
  const made: string[] = [];
  const pool = createPipePool((paths) => {
    for (const path of paths) symlinkSync("/nowhere/at/all", path);
    made.push(...paths);
    return true;
  });
  expect(pool.take(() => undefined)).toBeUndefined();
  expect(made.map((path) => lstatSync(path, { throwIfNoEntry: false }))).toEqual([undefined, undefined]);
});

it("two serve all processes that follow one another", async () => {
  let made = 0;
  const pool = createPipePool((paths) => {
    made += 1;
    return spawnSync("mkfifo", paths).status === 0;
  });
  for (let time = 0; time < 10; time++) {
    const heard: string[] = [];
    const pipe = pool.take((chunk) => heard.push(String(chunk)))!;
    writeSync(pipe.writeEnd, `${time}`);
    // What is got ready for the next one must not be told of this one.
    await nextTurn();
    pipe.closeWriteEnd();
    await pipe.closed;
    expect(heard).toEqual([`${time}`]);
    await nextTurn();
  }
  expect(made).toBe(1);
});

it("where only one of two can be made there is none, and no file is left behind", () => {
  const made: string[] = [];
  const pool = createPipePool((paths) => {
    made.push(...paths);
    writeFileSync(paths[0]!, "");
    return false;
  });
  expect(pool.take(() => undefined)).toBeUndefined();
  expect(pool.take(() => undefined)).toBeUndefined();
  expect(made.map((path) => existsSync(path))).toEqual([false, false]);
});

it.each(["/dev/null", "/dev/null/below", "/nowhere/at/all"])("with %s as the folder there is none", (folder) => {
  vi.stubEnv("TMPDIR", folder);
  const pool = createPipePool((paths) => spawnSync("mkfifo", paths).status === 0);
  expect(pool.take(() => undefined)).toBeUndefined();
  vi.unstubAllEnvs();
});

it("one that cannot be taken out of its folder is none, and leaves nothing open", () => {
  const made: string[] = [];
  // A folder can be opened, and is not removed like a file.
  const pool = createPipePool((paths) => {
    for (const path of paths) mkdirSync(path);
    made.push(...paths);
    return true;
  });
  const openFiles = () => readdirSync("/proc/self/fd").length;
  const before = openFiles();
  for (let time = 0; time < 3; time++) expect(pool.take(() => undefined)).toBeUndefined();
  expect([openFiles(), made.length]).toEqual([before, 2]);
  for (const path of made) rmdirSync(path);
});

const nextTurn = () => new Promise((resolve) => setImmediate(resolve));
