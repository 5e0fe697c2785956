import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import fc from "fast-check";
import { afterAll, describe, expect, test } from "vitest";
import { bytesOf, FORMAT, type LogLine, readRecording, toBuffer } from "./format.ts";
import { recordedFrames } from "./frame-check.ts";
import { isSameCommand, recordedHostLines } from "./host-lines.ts";
import { seededRandom } from "./random.ts";

const root = mkdtempSync(join(tmpdir(), "tiller-format-"));
afterAll(() => rmSync(root, { recursive: true }));

const HEAD = { format: FORMAT, version: "1", startedAt: 1, seed: "ab", argv: [], programName: "x", cwd: "/", env: {} };
const EXIT = '{"act":"exit","code":0,"t":2}\n';
let count = 0;

/** A folder with these files; undefined: without that file. */
function folder(head: string | undefined, log: string | undefined): string {
  count += 1;
  const path = mkdtempSync(join(root, `${count}-`));
  if (head !== undefined) writeFileSync(join(path, "recording.json"), head);
  if (log !== undefined) writeFileSync(join(path, "log.jsonl"), log);
  return path;
}

describe("reading a recording", () => {
  test("a whole one, and one whose last line was cut", () => {
    expect(readRecording(folder(JSON.stringify(HEAD), EXIT))).toMatchObject({ head: HEAD, isComplete: true });
    expect(readRecording(folder(JSON.stringify(HEAD), `{"act":"open","t":1}\n{"act":"ex`))).toMatchObject({
      log: [{ act: "open" }],
      isComplete: false,
    });
  });

  test.each([
    ["no head", undefined, EXIT, /holds no recording: recording\.json is missing/],
    ["a head that was cut", '{"format":1,', EXIT, /recording\.json is cut off or damaged/],
    ["another format", JSON.stringify({ ...HEAD, format: 9 }), EXIT, /has format 9; this version plays format 1/],
    ["a head without a seed", JSON.stringify({ ...HEAD, seed: undefined }), EXIT, /has no "seed"/],
    ["no log", JSON.stringify(HEAD), undefined, /has no log\.jsonl/],
    ["a damaged line", JSON.stringify(HEAD), `${EXIT}what?\n${EXIT}`, /log\.jsonl:2 is damaged: what\?/],
  ])("%s", (_name, head, log, says) => {
    expect(readRecording(folder(head, log))).toEqual({ error: expect.stringMatching(says) });
  });

  test("no folder", () => {
    expect(readRecording(join(root, "gone"))).toEqual({ error: expect.stringContaining("there is no folder") });
  });
});

test("bytes survive the log", () => {
  fc.assert(
    fc.property(fc.uint8Array(), (bytes) => {
      const read = JSON.parse(JSON.stringify(bytesOf(bytes)));
      expect(toBuffer(read).equals(Buffer.from(bytes))).toBe(true);
    }),
  );
});

describe("however bytes were cut", () => {
  const cut = (text: string, sizes: readonly number[]): Buffer[] => {
    const bytes = Buffer.from(text);
    const pieces: Buffer[] = [];
    for (let at = 0, turn = 0; at < bytes.length; turn++) {
      const size = sizes[turn % sizes.length] ?? 1;
      pieces.push(bytes.subarray(at, at + size));
      at += size;
    }
    return pieces;
  };
  const anyLines = fc.array(fc.string({ unit: "grapheme" }).filter((text) => !/[\n\r]/.test(text)));
  const anySizes = fc.array(fc.integer({ min: 1, max: 9 }), { minLength: 1 });

  test("the lines of the host and the frames are the same", () => {
    fc.assert(
      fc.property(anyLines, anySizes, (lines, sizes) => {
        const pieces = cut(lines.map((line) => `${line}\n`).join(""), sizes).map(bytesOf);
        const heard: LogLine[] = pieces.map((piece) => ({ in: "host", t: 0, rounds: 0, ...piece }));
        const written: LogLine[] = pieces.map((piece, write) => ({ act: "write", write, t: 0, ...piece }));
        expect([...recordedHostLines(heard).values()].flat()).toEqual(lines);
        expect(recordedFrames(written).map(({ text }) => text)).toEqual(lines);
      }),
    );
  });
});

test.each([
  ['{"id":"1","type":"a","x":{"b":1,"c":2}}', '{"type":"a","x":{"c":2,"b":1},"id":"1"}', true, true],
  ['{"id":"1","type":"a"}', '{"id":"2","type":"a"}', true, false],
  ['{"type":"a"}', '{"type":"b"}', false, true],
  ['{"type":"a","l":[1,2]}', '{"type":"a","l":[2,1]}', false, true],
  ["no JSON", "no JSON", true, true],
  ["no JSON", '{"type":"a"}', false, true],
])("%s and %s: the same command: %s", (expected, got, same, sameId) => {
  expect(isSameCommand(expected, got)).toEqual({ same, sameId });
});

test("a seed gives the same numbers, another one others, all from 0 to 1", () => {
  const draw = (seed: string): number[] => Array.from({ length: 50 }, seededRandom(seed));
  expect(draw("0123456789abcdef0123456789abcdef")).toEqual(draw("0123456789abcdef0123456789abcdef"));
  expect(draw("00")).not.toEqual(draw("01"));
  for (const number of draw("ff")) expect(number >= 0 && number < 1).toBe(true);
  expect(new Set(draw("")).size).toBe(50);
});
