import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { afterEach, beforeEach, expect, test } from "vitest";
import { findPromptFiles } from "./prompt-files.ts";

let root: string;
beforeEach(() => {
  root = mkdtempSync(join(tmpdir(), "tiller-prompt-"));
});
afterEach(() => rmSync(root, { recursive: true, force: true }));

function write(path: string, text: string): void {
  mkdirSync(dirname(join(root, path)), { recursive: true });
  writeFileSync(join(root, path), text);
}

const find = (isTrusted = true) =>
  findPromptFiles({ projectFolder: isTrusted ? join(root, "project") : undefined, agentDir: join(root, "agent") });

test("without such files there is nothing", () => {
  expect(find()).toEqual({ base: undefined, append: undefined, problems: [] });
});

test("the project's file beats the user's, each of the two for itself", () => {
  write("agent/SYSTEM.md", "the user's");
  write("agent/APPEND_SYSTEM.md", "more of the user's\n");
  write("project/.pi/SYSTEM.md", "\ufeffthe project's\n");
  write("project/.omp/SYSTEM.md", "another");
  const append = { path: join(root, "agent/APPEND_SYSTEM.md"), text: "more of the user's" };
  expect(find()).toEqual({
    base: { path: join(root, "project/.pi/SYSTEM.md"), text: "the project's" },
    append,
    problems: [],
  });
  expect(find(false)).toMatchObject({ base: { text: "the user's" }, append });
});

test("an empty file replaces nothing; what is no file is told", () => {
  write("project/.pi/SYSTEM.md", " \n");
  write("project/.tiller/SYSTEM.md/x", "");
  write("agent/SYSTEM.md", "the user's");
  expect(find()).toMatchObject({
    base: { text: "the user's" },
    problems: [expect.stringMatching(/\.tiller\/SYSTEM\.md: not a/)],
  });
});

test("a file that is too long is told, and the next one counts", () => {
  write("project/.pi/SYSTEM.md", "x".repeat(1024 * 1024 + 1));
  write("agent/SYSTEM.md", "the user's");
  expect(find()).toMatchObject({
    base: { text: "the user's" },
    problems: [expect.stringMatching(/\.pi\/SYSTEM\.md: 1025 KiB are too many/)],
  });
});
