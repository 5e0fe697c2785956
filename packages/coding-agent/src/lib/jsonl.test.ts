import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { anyText } from "../../../../test/support/any-text.ts";
import { createLineSplitter } from "./jsonl.ts";

function split(chunks: Uint8Array[], maxBytes = 1 << 20): { lines: string[]; tooLong: number[] } {
  const lines: string[] = [];
  const tooLong: number[] = [];
  const splitter = createLineSplitter({ maxBytes, onLine: (l) => lines.push(l), onTooLong: (n) => tooLong.push(n) });
  for (const chunk of chunks) splitter.push(chunk);
  splitter.end();
  return { lines, tooLong };
}

const bytes = (text: string) => Buffer.from(text, "utf8");

describe("line splitter", () => {
  const cases: [name: string, input: string, lines: string[]][] = [
    ["one line", "a\n", ["a"]],
    ["last line without LF", "a\nb", ["a", "b"]],
    ["CR before LF is dropped, once", "a\r\nb\r\r\n", ["a", "b\r"]],
    ["CR inside a line stays", "a\rb\n", ["a\rb"]],
    ["blank lines are lines", "\n\na\n", ["", "", "a"]],
    ["U+2028 and U+2029 do not separate", "a\u2028b\u2029c\n", ["a\u2028b\u2029c"]],
    ["a byte order mark at the very start is dropped", "\uFEFFa\n\uFEFFb\n", ["a", "\uFEFFb"]],
    ["nothing", "", []],
  ];
  for (const [name, input, lines] of cases) {
    it(name, () => expect(split([bytes(input)]).lines).toEqual(lines));
  }

  it("replaces invalid UTF-8 and goes on", () => {
    expect(split([Buffer.from([0x61, 0xff, 0x0a, 0x62, 0x0a])]).lines).toEqual(["a\uFFFD", "b"]);
  });

  it("gives the same lines however the bytes are cut", () => {
    const text = fc.array(
      anyText().map((s) => s.replaceAll("\n", "")),
      { maxLength: 8 },
    );
    fc.assert(
      fc.property(text, fc.array(fc.nat(200), { maxLength: 30 }), (lines, cuts) => {
        const all = bytes(lines.map((l) => `${l}\n`).join(""));
        const chunks: Uint8Array[] = [];
        let at = 0;
        for (const cut of cuts) {
          chunks.push(all.subarray(at, at + cut));
          at = Math.min(all.length, at + cut);
        }
        chunks.push(all.subarray(at));
        expect(split(chunks).lines).toEqual(split([all]).lines);
      }),
    );
  });

  it("reports a line over the cap once and recovers at the next LF, however it is cut", () => {
    fc.assert(
      fc.property(fc.integer({ min: 1, max: 12 }), (size) => {
        const all = bytes(`ok\n${"x".repeat(20)}\nfine\n`);
        const chunks: Uint8Array[] = [];
        for (let at = 0; at < all.length; at += size) chunks.push(all.subarray(at, at + size));
        const { lines, tooLong } = split(chunks, 10);
        expect(lines).toEqual(["ok", "fine"]);
        expect(tooLong).toHaveLength(1);
      }),
    );
  });

  it("tells how a line over the cap begins, however it is cut, but not more than a kilobyte", () => {
    const long = `{"id":"\u00e4","xy":"${"\u00fc".repeat(1000)}`;
    for (const size of [1, 7, 1000, 5000]) {
      const all = bytes(`ok\n${long}\nfine\n`);
      const begins: string[] = [];
      const onTooLong = (_: number, begin: string) => void begins.push(begin);
      const splitter = createLineSplitter({ maxBytes: 1500, onLine: () => undefined, onTooLong });
      for (let at = 0; at < all.length; at += size) splitter.push(all.subarray(at, at + size));
      expect(begins).toEqual([bytes(long).subarray(0, 1023).toString()]);
    }
    const short: string[] = [];
    const onTooLong = (_: number, begin: string) => void short.push(begin);
    createLineSplitter({ maxBytes: 3, onLine: () => undefined, onTooLong }).push(bytes("abcdef\n"));
    expect(short).toEqual(["abcdef"]);
  });

  it("reports a line over the cap inside one chunk", () => {
    expect(split([bytes(`ok\n${"x".repeat(20)}\nfine\n`)], 10)).toEqual({ lines: ["ok", "fine"], tooLong: [20] });
  });
});
