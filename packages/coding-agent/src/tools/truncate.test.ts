import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { anyText } from "../../../../test/support/any-text.ts";
import { formatSize, truncateHead, truncateTail } from "./truncate.ts";

const anyLines = fc
  .array(anyText({ maxLength: 30 }), { maxLength: 30 })
  .map((lines) => lines.join("\n").toWellFormed());
const anyLimits = fc.record({ maxLines: fc.integer({ min: 1, max: 20 }), maxBytes: fc.integer({ min: 1, max: 200 }) });

describe("sizes", () => {
  it.each([
    [0, "0B"],
    [1023, "1023B"],
    [1024, "1.0KB"],
    [51200, "50.0KB"],
    [1572864, "1.5MB"],
  ])("%i is %s", (bytes, text) => expect(formatSize(bytes)).toBe(text));
});

describe("keeping the beginning", () => {
  it.each([
    { name: "short text stays as it is", text: "a\nb\n", limits: {}, content: "a\nb\n", by: null },
    { name: "empty text", text: "", limits: {}, content: "", by: null },
    { name: "too many lines", text: "a\nb\nc\n", limits: { maxLines: 2 }, content: "a\nb", by: "lines" },
    { name: "exactly enough lines", text: "a\nb\n", limits: { maxLines: 2 }, content: "a\nb\n", by: null },
    { name: "too many bytes", text: "aaa\nbbb\n", limits: { maxBytes: 6 }, content: "aaa", by: "bytes" },
    { name: "only the closing newline does not fit", text: "aaa\n", limits: { maxBytes: 3 }, content: "aaa", by: null },
  ])("$name", ({ text, limits, content, by }) => {
    expect(truncateHead(text, limits)).toMatchObject({ content, truncatedBy: by, truncated: by !== null });
  });

  it("gives nothing when the first line alone is too long", () => {
    expect(truncateHead("äöü\nb", { maxBytes: 5 })).toEqual({
      content: "",
      truncated: true,
      truncatedBy: "bytes",
      totalLines: 2,
      totalBytes: 8,
      outputLines: 0,
      outputBytes: 0,
      lastLinePartial: false,
      firstLineExceedsLimit: true,
      maxLines: 2000,
      maxBytes: 5,
    });
  });
});

describe("keeping the end", () => {
  it("drops lines from the front", () => {
    expect(truncateTail("a\nb\nc\n", { maxLines: 2 })).toMatchObject({
      content: "b\nc",
      truncatedBy: "lines",
      totalLines: 3,
      outputLines: 2,
    });
  });

  it("shows the end of a last line that is too long, in whole characters", () => {
    expect(truncateTail("x\n😀😀😀", { maxBytes: 9 })).toMatchObject({
      content: "😀😀",
      truncatedBy: "bytes",
      lastLinePartial: true,
      outputLines: 1,
      outputBytes: 8,
    });
  });
});

describe("whatever the text and the limits", () => {
  it.each([
    ["head", truncateHead],
    ["tail", truncateTail],
  ])("%s never exceeds a limit, never splits a character, and tells the truth about itself", (name, truncate) => {
    fc.assert(
      fc.property(anyLines, anyLimits, (text, limits) => {
        const result = truncate(text, limits);
        expect(Buffer.byteLength(result.content)).toBe(result.outputBytes);
        expect(result.outputBytes).toBeLessThanOrEqual(limits.maxBytes);
        expect(result.outputLines).toBeLessThanOrEqual(limits.maxLines);
        expect(result.content.isWellFormed()).toBe(true);
        expect(result.content.includes("\ufffd")).toBe(text.includes("\ufffd") && result.content.includes("\ufffd"));
        // The newline that closes the text may go, nothing else.
        const wholes = text.endsWith("\n") ? [text, text.slice(0, -1)] : [text];
        const { content } = result;
        expect(wholes.some((whole) => (name === "head" ? whole.startsWith(content) : whole.endsWith(content)))).toBe(
          true,
        );
        if (!result.truncated) expect(wholes).toContain(content);
      }),
    );
  });
});
