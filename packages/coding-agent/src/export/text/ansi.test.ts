import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { ansiSpans } from "./ansi.ts";

const spans = (text: string): string[] =>
  [...ansiSpans(text)].map(({ text, style }) => (style ? `${style}|${text}` : text));

describe("ansiSpans", () => {
  test.each<[string, string[]]>([
    ["plain", ["plain"]],
    ["a\nb", ["a\n", "b"]],
    ["\u001b[31mred\u001b[0m plain", ["fg-1|red", " plain"]],
    ["\u001b[1;4;92mok\u001b[22m!", ["bold underline fg-10|ok", "underline fg-10|!"]],
    ["\u001b[44mon blue\u001b[49moff", ["bg-4|on blue", "off"]],
    ["\u001b[7mturned\u001b[27m", ["fg-back bg-front|turned"]],
    ["\u001b[38;5;196mx\u001b[39m", ["fg-9|x"]],
    ["\u001b[38;2;10;200;10mx", ["fg-2|x"]],
    ["\u001b[48;5;240mx", ["bg-8|x"]],
    // The colour goes on in the next line.
    ["\u001b[33ma\nb\u001b[m", ["fg-3|a\n", "fg-3|b"]],
    // Moving the cursor, titles and links to elsewhere are left out.
    ["\u001b[2J\u001b[1;1Hx\u001b]0;title\u0007y\u001b]8;;https://example.org\u001b\\z", ["xyz"]],
    ["\u001b[?25lx\u001b(By", ["xy"]],
    ["end\u001b", ["end"]],
    ["10%\r50%\r100%\ndone", ["100%\n", "done"]],
    ["windows\r\nlines\r\n", ["windows\n", "lines\n"]],
    ["abx\b\bc", ["ac"]],
  ])("%j", (text, expected) => {
    expect(spans(text)).toEqual(expected);
  });

  test("a line of nothing but colours stays a few hundred pieces", () => {
    const bomb = Array.from({ length: 100_000 }, (_, i) => `\u001b[${31 + (i % 7)}mx`).join("");
    const found = spans(bomb);
    expect(found.length).toBeLessThan(600);
    expect(found.join("").replace(/fg-\d\|/g, "")).toHaveLength(100_000);
  });

  test("text without escapes comes out as it went in", () => {
    fc.assert(
      fc.property(
        fc.string().map((text) => text.replaceAll("\r", "").replaceAll("\b", "").replaceAll("\u001b", "")),
        (text) => {
          expect([...ansiSpans(text)].map((span) => span.text).join("")).toBe(text);
        },
      ),
    );
  });

  test("no escape character survives, whatever follows it", () => {
    fc.assert(
      fc.property(
        fc.array(fc.constantFrom("\u001b", "[", "]", "3", ";", "m", "x", "\\", "\u0007", "\n", "?")),
        (parts) => {
          expect([...ansiSpans(parts.join(""))].some((span) => span.text.includes("\u001b"))).toBe(false);
        },
      ),
    );
  });
});
