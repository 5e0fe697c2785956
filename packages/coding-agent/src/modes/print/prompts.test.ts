import { expect, test } from "vitest";
import { type PromptParts, promptsOf } from "./prompts.ts";

const image = { type: "image", mimeType: "image/png", data: "AA==" } as const;
const none = { text: "", images: [] };
const files = { text: '<file name="/a">\nx\n</file>\n', images: [image] };

test.each<[string, PromptParts, { message: string; images: readonly object[] }[]]>([
  ["nothing", { piped: "", files: none, messages: [] }, []],
  ["blanks", { piped: " \n", files: none, messages: [] }, []],
  ["a message", { piped: "", files: none, messages: ["a"] }, [{ message: "a", images: [] }]],
  ["what was piped in", { piped: "log\n\n", files: none, messages: [] }, [{ message: "log", images: [] }]],
  [
    "what was piped in before the first of two messages",
    { piped: "  log\n", files: none, messages: ["why?", "and now?"] },
    [
      { message: "  log\n\nwhy?", images: [] },
      { message: "and now?", images: [] },
    ],
  ],
  [
    "all of it, the images with the first",
    { piped: "log", files, messages: ["why?", "more"] },
    [
      { message: 'log\n\n<file name="/a">\nx\n</file>\n\nwhy?', images: [image] },
      { message: "more", images: [] },
    ],
  ],
  ["files alone", { piped: "", files, messages: [] }, [{ message: '<file name="/a">\nx\n</file>', images: [image] }]],
])("%s", (_, parts, expected) => {
  expect(promptsOf(parts)).toEqual(expected);
});
