import { appendFileSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import fc from "fast-check";
import { afterAll, expect, test } from "vitest";
import { bytesIn, entriesFrom, entriesInFile } from "./entries-from.ts";

const folder = mkdtempSync(join(tmpdir(), "tiller-entries-"));
afterAll(() => rmSync(folder, { recursive: true, force: true }));

const header = '{"type":"session","id":"s"}\n';
const line = (id: string): string => `${JSON.stringify({ type: "custom", id, text: `é${id}` })}\n`;
const ids = ({ entries }: { entries: { id: string }[] }): string[] => entries.map(({ id }) => id);

test("a file is followed while it grows; half a line waits for its other half", () => {
  const path = join(folder, "a.jsonl");
  writeFileSync(path, header + line("1") + line("2").slice(0, 9));
  const first = entriesInFile(path, 0);
  expect(first).toMatchObject({ fromByte: 0, nextByte: Buffer.byteLength(header + line("1")), reset: false });
  expect(ids(first)).toEqual(["1"]);
  expect(entriesInFile(path, first.nextByte)).toMatchObject({ nextByte: first.nextByte, entries: [] });
  appendFileSync(path, line("2").slice(9) + line("3"));
  expect(ids(entriesInFile(path, first.nextByte))).toEqual(["2", "3"]);
});

test.each([
  ["behind the end", 10_000, true, ["1"]],
  ["before the beginning", -5, false, ["1"]],
  ["between two bytes", 0.5, false, ["1"]],
  ["in the middle of a line: what is left of it is none", 30, false, []],
])("a place %s", (_what, from, reset, found) => {
  const read = entriesFrom(bytesIn(Buffer.from(header + line("1"))), from);
  expect([read.reset, ids(read)]).toEqual([reset, found]);
});

test("a file that is not there is empty, and what is no JSON is left out", () => {
  expect(entriesInFile(join(folder, "none.jsonl"), 0)).toEqual({ fromByte: 0, nextByte: 0, reset: false, entries: [] });
  expect(ids(entriesFrom(bytesIn(Buffer.from(`{oops\n\n[1\n7\n${line("1")}`)), 0))).toEqual(["1"]);
});

test("in answers of any size all of it is read once", () => {
  fc.assert(
    fc.property(fc.array(fc.string(), { maxLength: 20 }), fc.integer({ min: 1, max: 60 }), (texts, most) => {
      const source = bytesIn(Buffer.from(header + texts.map(line).join("")));
      const seen: string[] = [];
      for (let from = 0; from < source.size; ) {
        const read = entriesFrom(source, from, most);
        expect(read.nextByte).toBeGreaterThan(from);
        seen.push(...ids(read));
        from = read.nextByte;
      }
      expect(seen).toEqual(texts);
    }),
    { numRuns: 60 },
  );
});
