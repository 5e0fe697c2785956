import { expect, test } from "vitest";
import { withSections } from "./prompt-sections.ts";

test.each<[why: string, sections: unknown, prompt: string]>([
  ["nobody has put anything in", {}, "Be kind."],
  ["a part comes behind the prompt", { guidance: "Look first." }, "Be kind.\n\n<guidance>\nLook first.\n</guidance>"],
  ["parts keep their order", { b: "1", a: "2" }, "Be kind.\n\n<b>\n1\n</b>\n\n<a>\n2\n</a>"],
  ["null takes a part away", { guidance: null }, "Be kind."],
  ["an empty part is none", { guidance: " \n" }, "Be kind."],
  ["other things than texts are left out", { guidance: 7, more: { text: "x" } }, "Be kind."],
  ["something else was put in its place", "guidance", "Be kind."],
  ["it was taken away", undefined, "Be kind."],
])("%s", (_why, sections, prompt) => {
  expect(withSections("Be kind.", sections)).toBe(prompt);
});
