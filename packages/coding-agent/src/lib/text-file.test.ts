import { mkdirSync, mkdtempSync, rmSync, symlinkSync, truncateSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, describe, expect, test } from "vitest";
import { MAX_TEXT_BYTES, readText, readTextIfThere } from "./text-file.ts";

const folder = mkdtempSync(join(tmpdir(), "tiller-text-file-"));
afterAll(() => rmSync(folder, { recursive: true }));

function put(bytes: string | Buffer): string {
  const path = join(folder, "a.md");
  writeFileSync(path, bytes);
  return path;
}

const utf16 = (text: string): Buffer => Buffer.from(`\ufeff${text}`, "utf16le");

describe("a text file", () => {
  test.each([
    ["UTF-8", Buffer.from("käse 🙂"), "käse 🙂"],
    ["UTF-8 with a mark", Buffer.from("\ufeffkäse"), "käse"],
    ["UTF-16 as Windows writes it", utf16("käse 🙂\r\n"), "käse 🙂\r\n"],
    ["UTF-16 the other way round", utf16("käse").swap16(), "käse"],
    ["UTF-16 that was cut", utf16("ab").subarray(0, 5), "a"],
    ["an empty one", Buffer.alloc(0), ""],
  ])("in %s", (_, bytes, text) => {
    expect(readText(put(bytes))).toEqual({ text, warning: undefined });
  });

  test("in another encoding is read as far as it goes, with a warning", () => {
    const path = put(Buffer.from("caf\xe9", "latin1"));
    expect(readText(path)).toEqual({ text: "caf\ufffd", warning: expect.stringContaining(`${path}: it is not UTF-8`) });
  });

  test("that is too long, a folder, a circle of links or not there is none", () => {
    const large = put("");
    truncateSync(large, MAX_TEXT_BYTES + 1);
    expect(readText(large)).toMatchObject({ problem: `${large}: 1025 KiB are too many, at most 1024 are read` });
    mkdirSync(join(folder, "b.md"));
    expect(readText(join(folder, "b.md"))).toMatchObject({ problem: expect.stringContaining("not a regular file") });
    symlinkSync("c.md", join(folder, "c.md"));
    expect(readText(join(folder, "c.md"))).toMatchObject({ problem: expect.stringContaining("(ELOOP)") });
    expect(readText(join(folder, "d.md"))).toMatchObject({ problem: expect.stringContaining("(ENOENT)") });
    expect(readTextIfThere(join(folder, "d.md"))).toBeUndefined();
    expect(readTextIfThere(join(large, "below"))).toBeUndefined();
    // Where there are such files: they have no size, and others of their kind have no end.
    expect(readTextIfThere("/proc/version") ?? { text: "" }).toMatchObject({ text: "" });
  });
});
