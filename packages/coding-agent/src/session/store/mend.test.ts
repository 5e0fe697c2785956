import { describe, expect, it } from "vitest";
import { mended } from "./mend.ts";

const message = (fields: object) => ({ type: "message", id: "a", parentId: null, message: fields });
const tokens = { input: 0, output: 0, cacheRead: 0, cacheWrite: 0 };
const noUsage = { ...tokens, totalTokens: 0, cost: { ...tokens, total: 0 } };
const said = { role: "assistant", content: [{ type: "text", text: "Hi." }], provider: "p", model: "m", usage: noUsage };
const text = { type: "text", text: "Hi." };
/** Of a line that is long enough to be looked through. */
const SIZE = 1000;

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
    [
      "a tool call without arguments",
      message({ ...said, content: [text, { type: "toolCall", id: "1", name: "n" }] }),
      message({ ...said, content: [text, { type: "toolCall", id: "1", name: "n", arguments: {} }] }),
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
    [
      "other words for a message, some of which are none",
      { type: "context_edit", targetId: "a", replacement: [null, text, { type: "text" }] },
      { type: "context_edit", targetId: "a", replacement: [text] },
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
    expect(mended(given, SIZE)).toEqual(expected);
  });
});

/** `levels` objects, one in the other. */
function nested(levels: number): unknown {
  return JSON.parse(`${'{"a":'.repeat(levels)}1${"}".repeat(levels)}`);
}

describe("what is nested so deeply that it could not be passed on", () => {
  const deep = nested(4200);
  const note = { leftOut: "This was nested more than 500 levels deep and is not shown" };
  const call = (args: unknown) =>
    message({ ...said, content: [text, { type: "toolCall", id: "1", name: "n", arguments: args }] });
  const odd: [what: string, given: Record<string, unknown>, expected: object][] = [
    ["arguments of a tool call", call(deep), call(note)],
    [
      "details of a result",
      message({ role: "toolResult", toolCallId: "1", toolName: "n", content: [text], details: deep }),
      message({ role: "toolResult", toolCallId: "1", toolName: "n", content: [text], details: note }),
    ],
    ["data of an extension", { type: "custom", data: deep }, { type: "custom", data: note }],
    [
      "details of a summary",
      { type: "compaction", summary: "s", tokensBefore: 1, details: deep },
      { type: "compaction", summary: "s", tokensBefore: 1, details: note },
    ],
    [
      "a block",
      message({ role: "user", content: [[deep], { type: "odd", deep }, text] }),
      message({ role: "user", content: [{ type: "odd", deep: note }, text] }),
    ],
    ["content", message({ role: "user", content: deep }), message({ role: "user", content: [] })],
    ["a message that is none", { type: "message", message: [deep] }, { type: "message", message: note }],
    ["usage", message({ ...said, usage: deep }), message({ ...said, usage: { ...noUsage, ...note } })],
    ["a field that every object has", { type: "custom", valueOf: deep }, { type: "custom", valueOf: note }],
  ];
  it.each(odd)("is a note: %s", (_what, given, expected) => {
    const line = JSON.stringify(mended(given, SIZE));
    expect(JSON.parse(line)).toEqual(expected);
  });

  it("and nothing else is touched", () => {
    const entry = call(nested(500));
    expect(mended(entry, SIZE)).toBe(entry);
    expect(mended(call(nested(501)), SIZE)).toEqual(call(note));
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
    ...["valueOf", "toString", "constructor", "__proto__"].flatMap((name): [string, Record<string, unknown>][] => {
      const fields = { role: "user", content: [{ type: "text", text: "Hi.", [name]: {} }], [name]: {} };
      return [
        [`an entry with the field ${name}`, { type: "custom", [name]: {} }],
        [`a message with the field ${name}`, message(fields)],
      ];
    }),
  ];
  it.each(whole)("stays the same object: %s", (_what, entry) => {
    expect(mended(entry, SIZE)).toBe(entry);
  });
});
