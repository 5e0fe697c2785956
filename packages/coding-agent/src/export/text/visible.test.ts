import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { visibleText } from "./visible.ts";

const anyText = fc.array(fc.integer({ min: 0, max: 0xffff })).map((codes) => String.fromCharCode(...codes));

describe("visibleText", () => {
  test.each([
    ["plain text\n\twith tab", "plain text\n\twith tab"],
    ["", ""],
    ["a\u0000b\u001b[0m\r\u007f", "a␀b␛[0m␍␡"],
    ["user\u202egnp.exe", "user⟨U+202E⟩gnp.exe"],
    ["\u2066x\u2069", "⟨U+2066⟩x⟨U+2069⟩"],
    ["pass\u200bword", "pass⟨U+200B⟩word"],
    ["pass\u200dword", "pass⟨U+200D⟩word"],
    ["\ufeffx", "⟨U+FEFF⟩x"],
    ["\u0085", "⟨U+0085⟩"],
    ["hidden\u{e0041}\u{e0042}", "hidden⟨U+E0041⟩⟨U+E0042⟩"],
    // A family, a Persian word, Arabic and Hebrew letters, and the flag of Scotland stay what they are.
    ["👨‍👩‍👧", "👨‍👩‍👧"],
    ["می‌خواهم", "می‌خواهم"],
    ["שלום عالم", "שלום عالم"],
    ["🏴󠁧󠁢󠁳󠁣󠁴󠁿", "🏴󠁧󠁢󠁳󠁣󠁴󠁿"],
    ["❤️", "❤️"],
  ])("%j", (text, shown) => {
    expect(visibleText(text)).toBe(shown);
  });

  test("nothing that changes the direction is left, in whatever text", () => {
    fc.assert(
      fc.property(anyText, (text) => {
        expect(visibleText(text)).not.toMatch(/[\u200e\u200f\u202a-\u202e\u2066-\u2069]/u);
      }),
    );
  });
});
