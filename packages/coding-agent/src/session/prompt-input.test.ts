import { describe, expect, it } from "vitest";
import { messageProblem, userMessage } from "./prompt-input.ts";

const png = { type: "image" as const, data: "iVBORw0KGgo=", mimeType: "image/png" };

describe("a message from a host", () => {
  it("becomes a text block and the images behind it, with nothing added", () => {
    expect(userMessage({ message: "look", images: [png] }, 7)).toEqual({
      role: "user",
      content: [{ type: "text", text: "look" }, png],
      timestamp: 7,
    });
  });

  it("replaces half a surrogate pair and leaves out unknown fields of an image", () => {
    const odd = { ...png, extra: { deep: true } };
    expect(userMessage({ message: "a\ud800b", images: [odd] }, 0).content).toEqual([
      { type: "text", text: "a\ufffdb" },
      png,
    ]);
  });

  const fine: [story: string, input: Parameters<typeof messageProblem>[0]][] = [
    ["text", { message: "hi" }],
    ["an image without text", { message: "", images: [png] }],
    ["base64 without padding", { message: "hi", images: [{ ...png, data: "iVBORw0KGgo" }] }],
  ];
  for (const [story, input] of fine) it(`may be ${story}`, () => expect(messageProblem(input)).toBeUndefined());

  const bad: [story: string, input: Parameters<typeof messageProblem>[0], problem: RegExp][] = [
    ["empty", { message: "" }, /"message" is empty/],
    ["blank", { message: " \n" }, /"message" is empty/],
    [
      "an unknown mime type",
      { message: "x", images: [png, { ...png, mimeType: "image/tiff" }] },
      /^images\[1\]: "mimeType" is "image\/tiff"/,
    ],
    ["no base64", { message: "x", images: [{ ...png, data: "not base64!" }] }, /^images\[0\]: "data" is not base64$/],
    ["empty data", { message: "x", images: [{ ...png, data: "" }] }, /not base64/],
    [
      "30 MB",
      { message: "x", images: [{ ...png, data: "A".repeat(40 * 1024 * 1024) }] },
      /30\.0 MiB, at most 20\.0 MiB/,
    ],
  ];
  for (const [story, input, problem] of bad)
    it(`is refused when it is ${story}`, () => expect(messageProblem(input)).toMatch(problem));
});
