import { mkdtempSync, rmSync, truncateSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, describe, expect, test } from "vitest";
import { textOrFile } from "./text-or-file.ts";

const folder = mkdtempSync(join(tmpdir(), "tiller-text-"));
afterAll(() => rmSync(folder, { recursive: true }));
writeFileSync(join(folder, "prompt.md"), "From a file.");

describe("an option that takes a text or a file", () => {
  test.each([
    ["a file", "prompt.md", "From a file."],
    ["a text", "Be brief.", "Be brief."],
    ["nothing", "", ""],
    ["the file that is always empty", "/dev/null", ""],
    ["a folder", ".", "."],
    ["a text below a file", "prompt.md/more", "prompt.md/more"],
    // No file system has names of this length: asking for one is an error of its own.
    ["a text that is longer than any name", "word ".repeat(100), "word ".repeat(100)],
    ["lines", "prompt.md\n", "prompt.md\n"],
  ])("%s", (_, given, expected) =>
    expect(textOrFile("--system-prompt", given, { cwd: folder, env: {} })).toBe(expected),
  );

  test("what is neither a file nor a folder", () => {
    expect(() => textOrFile("--system-prompt", "/dev/zero", { cwd: folder, env: {} })).toThrow(
      "--system-prompt: /dev/zero: not a regular file, so it is not read",
    );
  });

  test("a file that no model could read", () => {
    writeFileSync(join(folder, "large.md"), "x");
    truncateSync(join(folder, "large.md"), 3 * 1024 ** 3);
    expect(() => textOrFile("--system-prompt", "large.md", { cwd: folder, env: {} })).toThrow(
      `--system-prompt: ${join(folder, "large.md")}: 3145728 KiB are too many`,
    );
  });
});
