import { execFileSync } from "node:child_process";
import {
  chmodSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  realpathSync,
  rmSync,
  statSync,
  symlinkSync,
  writeFileSync,
} from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import fc from "fast-check";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { readSessionBytes, writeWholeFile } from "./whole-file.ts";

let home = "";
beforeEach(() => {
  home = realpathSync(mkdtempSync(join(tmpdir(), "tiller-whole-file-")));
});
afterEach(() => rmSync(home, { recursive: true, force: true }));

const text = (path: string): string => readFileSync(path, "utf8");

describe("reading a session file", () => {
  it("gives its bytes, or nothing when there is none", () => {
    const path = join(home, "s.jsonl");
    expect(readSessionBytes(path)).toBeUndefined();
    writeFileSync(path, "");
    expect(readSessionBytes(path)).toEqual(Buffer.alloc(0));
    const bytes = Buffer.from([0, 255, 10, 13, 128]);
    writeFileSync(path, bytes);
    expect(readSessionBytes(path)?.equals(bytes)).toBe(true);
  });

  it("refuses what is no file at once", () => {
    const pipe = join(home, "pipe");
    execFileSync("mkfifo", [pipe]);
    const refused = (path: string, kind: string) =>
      expect(() => readSessionBytes(path)).toThrow(
        expect.objectContaining({
          name: "SessionFileError",
          code: "not_a_file",
          message: `${path} is a ${kind}, not a session file; name another path`,
        }),
      );
    refused(home, "folder");
    refused(pipe, "pipe");
    refused("/dev/null", "device");
  });

  it("says why it cannot be read", () => {
    const path = join(home, "loop");
    symlinkSync("loop", path);
    expect(() => readSessionBytes(path)).toThrow(
      expect.objectContaining({
        code: "unreadable",
        message: expect.stringMatching(/loop cannot be read: ELOOP: [^,]*$/),
      }),
    );
  });
});

describe("writing a whole file", () => {
  it("writes lines of all sizes, bytes and text", () => {
    const sizes = fc.oneof(fc.nat(200), fc.nat(200_000), fc.constantFrom(1 << 17, 1 << 20, (1 << 20) - 1));
    const line = fc.tuple(sizes, fc.constantFrom("x", "ü", "𝄞"), fc.boolean()).map(([size, fill, isText]) => {
      const whole = fill.repeat(size / fill.length);
      return isText ? whole : Buffer.from(whole);
    });
    fc.assert(
      fc.property(fc.array(line, { maxLength: 8 }), (lines) => {
        const path = join(home, "s.jsonl");
        const expected = Buffer.concat(lines.flatMap((one) => [Buffer.from(one), Buffer.from("\n")]));
        expect(writeWholeFile(path, lines)).toBe(expected.length);
        expect(readFileSync(path).equals(expected)).toBe(true);
      }),
      { numRuns: 30 },
    );
  });

  it("is for its owner, or for whom the replaced file was", () => {
    const path = join(home, "new", "s.jsonl");
    writeWholeFile(path, ["a"]);
    expect(statSync(path).mode & 0o7777).toBe(0o600);
    chmodSync(path, 0o664);
    writeWholeFile(path, ["b"]);
    expect(statSync(path).mode & 0o7777).toBe(0o664);
    expect(text(path)).toBe("b\n");
  });

  it("leaves everything as it was when it fails", () => {
    const path = join(home, "s.jsonl");
    writeFileSync(path, "old");
    const broken = function* (): Generator<string> {
      yield "new";
      throw new Error("no more");
    };
    expect(() => writeWholeFile(path, broken())).toThrow(`${path} cannot be written: no more`);
    mkdirSync(join(home, "folder"));
    expect(() => writeWholeFile(join(home, "folder"), ["a"])).toThrow(expect.objectContaining({ code: "unwritable" }));
    expect(() => writeWholeFile(join(path, "below"), ["a"])).toThrow("ENOTDIR");
    expect(readdirSync(home).sort()).toEqual(["folder", "s.jsonl"]);
    expect(text(path)).toBe("old");
  });
});
