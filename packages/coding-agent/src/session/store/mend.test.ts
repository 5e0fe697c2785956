import { describe, expect, it } from "vitest";
import { mended } from "./mend.ts";

const message = (fields: object) => ({ type: "message", id: "a", parentId: null, message: fields });
const tokens = { input: 0, output: 0, cacheRead: 0, cacheWrite: 0 };
const noUsage = { ...tokens, totalTokens: 0, cost: { ...tokens, total: 0 } };
const said = { role: "assistant", content: [{ type: "text", text: "Hi." }], provider: "p", model: "m", usage: noUsage };
const text = { type: "text", text: "Hi." };

describe("an entry that is not whole", () => {
  const odd: [what: string, given: Record<string, unknown>, expected: object][] = [
    ["a user who says nothing", message({ role: "user" }), message({ role: "user", content: [] })],
    ["a user who says a number", message({ role: "user", content: 5 }), message({ role: "user", content: [] })],
    [
      "blocks that are none",
      message({ role: "user", content: [null, 5, "x", {}, text, { type: "text" }, { type: "image", data: "AAAA" }] }),
      message({ role: "user", content: [text] }),
    ],
    [
      "a tool call without a name",
      message({ ...said, content: [text, { type: "toolCall", id: "1", arguments: {} }] }),
      message(said),
    ],
    ["an answer that is a text", message({ ...said, content: "Hi." }), message(said)],
    ["an answer that says nothing of what it cost", message({ ...said, usage: undefined }), message(said)],
    [
      "an answer that says half of what it cost",
      message({ ...said, usage: { input: 5, output: "many", cost: { total: 1 } } }),
      message({ ...said, usage: { ...noUsage, input: 5, cost: { ...noUsage.cost, total: 1 } } }),
    ],
    [
      "an empty result of a tool",
      message({ role: "toolResult" }),
      message({ role: "toolResult", content: [], toolCallId: "", toolName: "" }),
    ],
    [
      "a shell command without output",
      message({ role: "bashExecution", command: "ls" }),
      message({ role: "bashExecution", command: "ls", output: "" }),
    ],
    ["a summary without a text", { type: "compaction" }, { type: "compaction", summary: "", tokensBefore: 0 }],
    ["notes without a text", { type: "branch_summary", summary: null }, { type: "branch_summary", summary: "" }],
    [
      "a message of nobody without a text",
      { type: "custom_message", customType: "x" },
      { type: "custom_message", customType: "x", content: [] },
    ],
  ];
  it.each(odd)("is one a reader can rely on: %s", (_what, given, expected) => {
    expect(mended(given)).toEqual(expected);
  });
});

describe("an entry that is whole", () => {
  const whole: [what: string, entry: Record<string, unknown>][] = [
    ["a text of the user's", message({ role: "user", content: "Hi.", timestamp: 1 })],
    ["an answer", message(said)],
    ["a block of another program", message({ ...said, content: [{ type: "weather", sun: true }] })],
    ["a role of another program", message({ role: "weather" })],
    ["no message at all", { type: "message", message: null }],
    ["a kind of another program", { type: "weather" }],
    ["a kind that is a name of every object", { type: "constructor" }],
  ];
  it.each(whole)("stays the same object: %s", (_what, entry) => {
    expect(mended(entry)).toBe(entry);
  });
});
