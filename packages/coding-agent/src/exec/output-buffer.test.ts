import { existsSync, mkdtempSync, readdirSync, readFileSync, rmSync, statSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import fc from "fast-check";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { createOutputBuffer } from "./output-buffer.ts";

let folder: string;
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), "tiller-output-"));
});
afterEach(() => rmSync(folder, { recursive: true, force: true }));

const create = (keepBytes: number, spillAfterBytes = keepBytes, maxSpillBytes?: number) =>
  createOutputBuffer({ keepBytes, spillAfterBytes, spillFolder: folder, maxSpillBytes });

describe("a small output", () => {
  it("is kept whole, and no file is made", () => {
    const buffer = create(100);
    buffer.write(Buffer.from("one\ntw"));
    buffer.write(Buffer.from("o\nthree"));
    expect(buffer.tail()).toEqual({
      text: "one\ntwo\nthree",
      complete: true,
      totalBytes: 13,
      totalLines: 3,
      lastLineBytes: 5,
    });
    expect(buffer.spillPath()).toBeUndefined();
    expect(readdirSync(folder)).toEqual([]);
  });

  it("goes to a file when somebody asks for one", () => {
    const buffer = create(100);
    buffer.write(Buffer.from("all of it"));
    const path = buffer.spill();
    expect(readFileSync(path!, "utf8")).toBe("all of it");
    buffer.close("keep-file");
  });
});

describe("a large output", () => {
  it("keeps its end in memory and everything in a file that only the user can read", () => {
    const buffer = create(10, 6);
    buffer.write(Buffer.from("0123"));
    buffer.write(Buffer.from("456789"));
    buffer.write(Buffer.from("abcdef"));
    expect(buffer.tail()).toMatchObject({ text: "6789abcdef", complete: false, totalBytes: 16 });
    const path = buffer.spillPath()!;
    expect(readFileSync(path, "utf8")).toBe("0123456789abcdef");
    expect(statSync(path).mode & 0o777).toBe(0o600);
    buffer.close("keep-file");
    expect(existsSync(path)).toBe(true);
  });

  it("leaves no file behind when nobody was told of it", () => {
    const buffer = create(4);
    buffer.write(Buffer.from("more than four"));
    expect(readdirSync(folder)).toHaveLength(1);
    buffer.close("remove-file");
    expect(readdirSync(folder)).toEqual([]);
  });

  it("does not fill the disk", () => {
    const buffer = create(4, 4, 10);
    for (let i = 0; i < 5; i++) buffer.write(Buffer.from("abcdef"));
    expect(readFileSync(buffer.spillPath()!, "utf8")).toBe("abcdefabcd\n[Output beyond 10 bytes is not kept]\n");
    expect(buffer.tail().totalBytes).toBe(30);
    buffer.close("keep-file");
  });

  it("goes on without a file when there is no place for one", () => {
    const buffer = createOutputBuffer({ keepBytes: 4, spillAfterBytes: 4, spillFolder: join(folder, "missing") });
    buffer.write(Buffer.from("123456"));
    buffer.write(Buffer.from("78"));
    expect(buffer.tail().text).toBe("5678");
    expect(buffer.spill()).toBeUndefined();
    buffer.close("keep-file");
  });
});

describe("what came since", () => {
  it("is what was written behind a place", () => {
    const buffer = create(10);
    buffer.write(Buffer.from("abc"));
    expect(buffer.since(0)).toEqual({ bytes: Buffer.from("abc"), place: 0 });
    buffer.write(Buffer.from("defg"));
    expect(buffer.since(3)).toEqual({ bytes: Buffer.from("defg"), place: 3 });
    expect(buffer.since(7)).toEqual({ bytes: Buffer.alloc(0), place: 7 });
    buffer.close("remove-file");
  });

  it("begins later when the place is no longer in memory", () => {
    const buffer = create(4);
    buffer.write(Buffer.from("abcdefgh"));
    buffer.write(Buffer.from("ij"));
    expect(buffer.since(1)).toEqual({ bytes: Buffer.from("ghij"), place: 6 });
    expect(buffer.since(8)).toEqual({ bytes: Buffer.from("ij"), place: 8 });
    buffer.close("remove-file");
  });
});

it("counts short and long lines alike, wherever the chunk lies in memory", () => {
  const memory = Buffer.alloc(5000);
  for (const offset of [0, 1, 2, 3]) {
    for (const text of [
      "y\n".repeat(2000),
      `${"x".repeat(70)}\n`.repeat(40),
      "\n\n\n\n\n\n\n",
      "\u000b\u008a\n\u00e4\n",
    ]) {
      const chunk = memory.subarray(offset, offset + memory.write(text, offset));
      const buffer = create(100_000);
      // The second time it is known what the lines are like.
      for (let i = 0; i < 2; i++) buffer.write(chunk);
      expect(buffer.tail().totalLines).toBe(2 * (text.split("\n").length - 1));
      buffer.close("remove-file");
    }
  }
});

it("takes a copy: whoever wrote may use its memory again", () => {
  const buffer = create(4);
  const chunk = Buffer.from("123456");
  buffer.write(chunk);
  chunk.fill("x");
  expect(buffer.tail().text).toBe("3456");
  expect(readFileSync(buffer.spillPath()!, "utf8")).toBe("123456");
  buffer.close("remove-file");
});

it("gives the same end, counts and file for any text in any chunks", () => {
  const chunks = fc.array(fc.uint8Array({ maxLength: 40 }), { maxLength: 20 });
  fc.assert(
    fc.property(chunks, fc.integer({ min: 1, max: 64 }), (parts, keepBytes) => {
      // Letters and newlines only: cleaning is another test's story.
      const clean = parts.map((part) => Buffer.from(part.map((byte) => (byte % 5 === 0 ? 10 : 97 + (byte % 26)))));
      const whole = Buffer.concat(clean).toString();
      const buffer = create(keepBytes);
      for (const part of clean) buffer.write(part);
      const lines = whole === "" ? [] : whole.replace(/\n$/, "").split("\n");
      expect(buffer.tail()).toEqual({
        text: whole.slice(-keepBytes),
        complete: whole.length <= keepBytes,
        totalBytes: whole.length,
        totalLines: lines.length,
        lastLineBytes: lines.at(-1)?.length ?? 0,
      });
      expect(readFileSync(buffer.spill()!, "utf8")).toBe(whole);
      buffer.close("remove-file");
    }),
  );
});
