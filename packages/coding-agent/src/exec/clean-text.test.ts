import fc from "fast-check";
import { expect, it } from "vitest";
import { cleanText, decodeCutUtf8, wholeLength } from "./clean-text.ts";

const ESC = "\u001b";

it.each([
  ["plain text with\ttab\n", "plain text with\ttab\n"],
  [`${ESC}[31mred${ESC}[0m ${ESC}[1;38;5;200mbold${ESC}[m`, "red bold"],
  [`a${ESC}]0;title\nhello\nworld\n`, "a0;title\nhello\nworld\n"],
  [`a${ESC}Pdata\nhello\n`, "adata\nhello\n"],
  [`${ESC}]8;;https://example.test${ESC}\\link${ESC}]8;;${ESC}\\`, "link"],
  [`${ESC}]0;title\u0007prompt`, "prompt"],
  [`${ESC}[2J${ESC}[1;1H${ESC}[?25lmoved`, "moved"],
  [`${ESC}(Bcharset ${ESC}=keypad`, "charset keypad"],
  [`\u009b31mred`, "red"],
  ["one\r\ntwo\r\n", "one\ntwo\n"],
  ["10%\r20%\r", "10%20%"],
  ["bell\u0007 back\u0008space null\u0000 del\u007f", "bell backspace null del"],
  ["invisible\ufff9marks\ufffb", "invisiblemarks"],
  ["grüße 😀 日本", "grüße 😀 日本"],
  [`cut off ${ESC}[3`, "cut off "],
  [`a lone ${ESC}`, "a lone "],
])("%j becomes %j", (raw, clean) => expect(cleanText(raw)).toBe(clean));

it("leaves out the rest of a character whose beginning was cut away", () => {
  const bytes = Buffer.from("😀ok");
  for (const cut of [0, 1, 2, 3]) expect(decodeCutUtf8(bytes.subarray(cut))).toBe(cut === 0 ? "😀ok" : "ok");
});

it.each([
  ["", ""],
  ["plain", ""],
  ["gr\u00fc\u00dfe", ""],
  [`done ${ESC}[0m`, ""],
  ["cut ", `${ESC}[3`],
  ["cut ", ESC],
  ["cut ", `${ESC}]0;a title`],
  ["cut ", `${ESC}(`],
  [`title ${ESC}]0;t\u0007`, ""],
  [`${ESC}]${"x".repeat(300)}`, ""],
])("of %j and %j the second part waits for its rest", (whole, rest) => {
  expect(wholeLength(Buffer.from(whole + rest))).toBe(Buffer.byteLength(whole));
});

it("cleans any output in any pieces as it would clean the whole", () => {
  const piece = fc.constantFrom(
    "a",
    "\n",
    "\r",
    "\u00fc",
    "\u65e5",
    "\u{1f600}",
    `${ESC}[1;31m`,
    `${ESC}]0;t\u0007`,
    `${ESC}(B`,
  );
  fc.assert(
    fc.property(fc.array(piece, { maxLength: 30 }), fc.array(fc.nat(40), { maxLength: 10 }), (pieces, cuts) => {
      const bytes = Buffer.from(pieces.join(""));
      let text = "";
      let told = 0;
      for (const end of [...cuts.toSorted((a, b) => a - b), bytes.length]) {
        const news = bytes.subarray(told, Math.max(told, Math.min(end, bytes.length)));
        const length = end === bytes.length ? news.length : wholeLength(news);
        text += cleanText(news.toString("utf8", 0, length));
        told += length;
      }
      expect(text).toBe(cleanText(bytes.toString("utf8")));
    }),
  );
});
