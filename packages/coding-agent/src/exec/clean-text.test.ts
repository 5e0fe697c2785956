import { expect, it } from "vitest";
import { cleanText, decodeCutUtf8 } from "./clean-text.ts";

const ESC = "\u001b";

it.each([
  ["plain text with\ttab\n", "plain text with\ttab\n"],
  [`${ESC}[31mred${ESC}[0m ${ESC}[1;38;5;200mbold${ESC}[m`, "red bold"],
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
