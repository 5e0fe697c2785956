import type { AgentMessage } from "@tiller/protocol/message";
import { describe, expect, test } from "vitest";
import { bashResultOf, contentOf, customMessageOf, imagesOf, isRecord, replacedMessage, strings } from "./answers.ts";

const text = (words: string) => ({ type: "text", text: words });
const image = { type: "image", data: "aGk=", mimeType: "image/png" };

test.each([
  [{}, true],
  [{ a: 1 }, true],
  [Object.create(null), true],
  [[], false],
  [null, false],
  [undefined, false],
  ["a", false],
  [() => undefined, false],
])("%o is an object: %s", (value, expected) => {
  expect(isRecord(value)).toBe(expected);
});

test.each([
  [undefined, []],
  [null, []],
  [[], []],
  [
    ["a", "b"],
    ["a", "b"],
  ],
  [["a", 1], undefined],
  [new Array(1), undefined],
  ["a", undefined],
  [{ 0: "a", length: 1 }, undefined],
])("a list of texts: %j is %j", (value, expected) => {
  expect(strings(value)).toEqual(expected);
});

describe("content", () => {
  const cases: [name: string, given: unknown, expected: unknown][] = [
    ["a text", "hi", [text("hi")]],
    ["no blocks", [], []],
    ["blocks", [text("hi"), image], [text("hi"), image]],
    ["half a character", "a\ud800", [text("a\ufffd")]],
    ["half a character in a block", [text("\udc00b")], [text("\ufffdb")]],
    ["what else a text block has", [{ ...text("hi"), textSignature: "s" }], [{ ...text("hi"), textSignature: "s" }]],
    [
      "an image as providers write it",
      [{ type: "image", source: { type: "base64", media_type: "image/png", data: "aGk=" } }],
      [image],
    ],
    [
      "an image with a source of the other spelling",
      [{ type: "image", source: { mediaType: "image/png", data: "aGk=" } }],
      [image],
    ],
    ["an image without data", [{ type: "image", mimeType: "image/png" }], undefined],
    ["an image of no type", [{ type: "image", source: { data: "aGk=" } }], undefined],
    ["a text block without text", [{ type: "text" }], undefined],
    ["an unknown block", [{ type: "toolCall" }], undefined],
    ["one wrong block among others", [text("hi"), "ho"], undefined],
    ["a block that is nothing", [null], undefined],
    ["a place without a block", new Array(1), undefined],
    ["a number", 7, undefined],
    ["nothing", undefined, undefined],
  ];
  test.each(cases)("%s", (_name, given, expected) => {
    expect(contentOf(given)).toEqual(expected);
  });
});

test.each([
  [undefined, undefined],
  [null, undefined],
  [[], []],
  [[image], [image]],
  [[image, text("hi")], "nonsense"],
  ["image", "nonsense"],
  [[{ type: "image" }], "nonsense"],
])("images: %j are %j", (value, expected) => {
  expect(imagesOf(value)).toEqual(expected);
});

describe("a message in the place of another one", () => {
  const user = { role: "user", content: [text("hi")], timestamp: 1 } as AgentMessage;
  const call = { type: "toolCall", id: "1", name: "read", arguments: {} };
  const answer = { role: "assistant", content: [call], stopReason: "toolUse", timestamp: 1 } as unknown as AgentMessage;
  const result = {
    role: "toolResult",
    toolCallId: "1",
    content: [text("A")],
    isError: false,
  } as unknown as AgentMessage;
  const sameRole = "message_end handlers must return a message with the same role";
  const sameKind = (what: string) => `message_end handlers must return a message of the same kind: ${what}`;

  const good: [old: AgentMessage, given: object][] = [
    [user, { role: "user", content: "ho" }],
    [user, { role: "user", content: [text("ho"), image], timestamp: 2 }],
    [user, { role: "user", mood: "happy" }],
    [answer, { role: "assistant", content: [{ type: "thinking", thinking: "hm" }, text("ho"), call] }],
    [answer, { role: "assistant", content: [] }],
    [result, { role: "toolResult", content: [text("B")], isError: true }],
  ];
  test.each(good)("%j: %j", (old, given) => {
    expect(replacedMessage(old, given)).toEqual({ ...old, ...given });
  });

  const wrong: [old: AgentMessage, given: unknown, problem: string][] = [
    [user, "ho", sameRole],
    [user, { content: "ho" }, sameRole],
    [user, { role: "assistant", content: [] }, sameRole],
    [user, { role: "user", content: 7 }, sameKind("content is a number")],
    [user, { role: "user", timestamp: "now" }, sameKind("timestamp is a string")],
    [answer, { role: "assistant", content: "ho" }, sameKind("content is a string")],
    [answer, { role: "assistant", content: [{ ...call, arguments: "none" }] }, sameKind("content is a list")],
    [answer, { role: "assistant", content: [image] }, sameKind("content is a list")],
    [result, { role: "toolResult", content: "B" }, sameKind("content is a string")],
    [result, { role: "toolResult", isError: "yes" }, sameKind("isError is a string")],
  ];
  test.each(wrong)("%j: %j is none", (old, given, problem) => {
    expect(replacedMessage(old, given)).toEqual({ problem });
  });
});

describe("a message of an extension's", () => {
  const base = { role: "custom", customType: "weather", content: "calm", display: true };
  const cases: [name: string, given: unknown, expected: unknown][] = [
    ["a text", { customType: "weather", content: "calm" }, base],
    ["blocks", { customType: "weather", content: [text("calm")] }, { ...base, content: [text("calm")] }],
    ["hidden, with details", { ...base, display: false, details: 1 }, { ...base, display: false, details: 1 }],
    ["another role is of no use", { ...base, role: "user" }, base],
    ["a text", "calm", { problem: "message must be an object" }],
    ["no type", { content: "calm" }, { problem: "message.customType must be a text" }],
    ["an empty type", { customType: "", content: "calm" }, { problem: "message.customType must be a text" }],
    [
      "no content",
      { customType: "weather" },
      { problem: "message.content must be a text, or a list of text and image blocks" },
    ],
  ];
  test.each(cases)("%s: %o", (_name, given, expected) => {
    expect(customMessageOf(given)).toEqual(expected);
  });

  test("without details it has no such field", () => {
    expect(customMessageOf({ customType: "weather", content: "calm" })).not.toHaveProperty("details");
  });
});

describe("the result of a shell command", () => {
  const empty = { exitCode: undefined, cancelled: false, truncated: false };
  const cases: [name: string, given: unknown, expected: unknown][] = [
    [
      "two lines",
      { output: "ä\nb", exitCode: 2 },
      { ...empty, output: "ä\nb", exitCode: 2, totalLines: 2, totalBytes: 4, outputLines: 2, outputBytes: 4 },
    ],
    [
      "no output",
      { output: "", cancelled: true, truncated: true, fullOutputPath: "/tmp/all" },
      {
        output: "",
        exitCode: undefined,
        cancelled: true,
        truncated: true,
        fullOutputPath: "/tmp/all",
        totalLines: 0,
        totalBytes: 0,
        outputLines: 0,
        outputBytes: 0,
      },
    ],
    [
      "fields of other types",
      { output: "a", exitCode: "0", cancelled: "no", truncated: 1, fullOutputPath: 7 },
      { ...empty, output: "a", totalLines: 1, totalBytes: 1, outputLines: 1, outputBytes: 1 },
    ],
    [
      "half an exit code",
      { output: "", exitCode: 1.5 },
      { ...empty, output: "", totalLines: 0, totalBytes: 0, outputLines: 0, outputBytes: 0 },
    ],
    ["no text", { output: 7 }, undefined],
    ["nothing", undefined, undefined],
    ["a text", "a", undefined],
  ];
  test.each(cases)("%s", (_name, given, expected) => {
    expect(bashResultOf(given)).toEqual(expected);
  });
});
