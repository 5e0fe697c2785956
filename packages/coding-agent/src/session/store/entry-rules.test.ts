import { ENTRIES, type SessionEntry } from "@tiller/protocol/session-entry";
import { describe, expect, it } from "vitest";
import { beginsConversation, isConversation, messageOf } from "./entry-rules.ts";
import { assistant, bash, messageEntry, plain, START, user } from "./test-sessions.ts";

const entry = (fields: { type: string } & Record<string, unknown>) =>
  plain("a", null, fields) as unknown as SessionEntry;

describe("the message that an entry is", () => {
  const cases: [type: string, fields: Record<string, unknown>, message: unknown][] = [
    ["message", { message: user("hi") }, user("hi")],
    [
      "custom_message",
      { customType: "x", content: "hi", display: true },
      { role: "custom", customType: "x", content: "hi", display: true, timestamp: START },
    ],
    [
      "custom_message",
      { customType: "x", content: [], display: false, details: { a: 1 } },
      { role: "custom", customType: "x", content: [], display: false, details: { a: 1 }, timestamp: START },
    ],
    [
      "branch_summary",
      { summary: "sum", fromId: "root", details: 1 },
      { role: "branchSummary", summary: "sum", fromId: "root", timestamp: START },
    ],
    [
      "compaction",
      { summary: "sum", tokensBefore: 7, firstKeptEntryId: "b" },
      { role: "compactionSummary", summary: "sum", tokensBefore: 7, timestamp: START },
    ],
    ["label", { targetId: "b", label: "x" }, undefined],
    ["toString", {}, undefined],
  ];
  for (const [type, fields, message] of cases) {
    it(`${type} ${JSON.stringify(fields)}`, () => {
      const given = entry({ type, ...fields });
      expect(messageOf(given)).toEqual(message);
      expect(messageOf(given)).toBe(messageOf(given));
    });
  }

  it("is there for exactly the kinds of which the table says that a model sees them", () => {
    for (const { type, context, examples } of Object.values(ENTRIES)) {
      const isShown = ["its message", "a summary", "a custom message"].includes(context);
      for (const example of examples) expect(messageOf(entry({ type, ...example })) !== undefined, type).toBe(isShown);
      expect(isConversation(type), type).toBe(isShown && type !== "compaction");
    }
  });
});

it("a conversation begins with a message that is no shell command", () => {
  const begins = ({ type, message }: { type: string; message?: unknown }) =>
    beginsConversation(type, (message as { role?: string } | undefined)?.role ?? "");
  expect([user("hi"), assistant("ho"), bash("ls")].map((message) => begins(messageEntry("a", null, message)))).toEqual([
    true,
    true,
    false,
  ]);
  expect(["custom_message", "session_info", "model_change", "compaction"].map((type) => begins({ type }))).toEqual([
    true,
    false,
    false,
    false,
  ]);
});
