import type { AgentMessage } from "@tiller/protocol/message";
import { describe, expect, it } from "vitest";
import { serialise, shortened } from "./serialise.ts";
import { assistant, read, result, user } from "./test-entries.ts";

describe("a conversation as text", () => {
  const image = { type: "image" as const, data: "AAAA", mimeType: "image/png" };
  const bash = { role: "bashExecution" as const, command: "ls", output: "a\n", cancelled: false, truncated: false };
  const rows: [story: string, message: AgentMessage, text: string | undefined][] = [
    ["what the user said", user("fix it"), "[User]: fix it"],
    ["an image", { ...user(""), content: [{ type: "text", text: "look" }, image] }, "[User]: look\n[image]"],
    [
      "thoughts, words and calls",
      assistant("", {
        content: [
          { type: "thinking", thinking: "hm" },
          { type: "text", text: "I look." },
          { type: "toolCall", id: "1", name: "read", arguments: { path: "a.ts", limit: 5 } },
          { type: "toolCall", id: "2", name: "ls", arguments: {} },
        ],
      }),
      '[Assistant thinking]: hm\n\n[Assistant]: I look.\n\n[Assistant tool calls]: read(path="a.ts", limit=5); ls()',
    ],
    [
      "an answer that failed",
      assistant("half", { errorMessage: "529" }),
      "[Assistant]: half\n\n[Assistant failed]: 529",
    ],
    ["a result", result("1", "text"), "[Tool result (read)]: text"],
    ["a result that is an error", result("1", "ENOENT", true), "[Tool error (read)]: ENOENT"],
    ["a shell command", { ...bash, timestamp: 0 }, "[Shell command]: ls\na"],
    ["one that failed", { ...bash, exitCode: 2, timestamp: 0 }, "[Shell command, exit code 2]: ls\na"],
    ["one that no model sees", { ...bash, excludeFromContext: true, timestamp: 0 }, undefined],
    [
      "a message of an extension",
      { role: "custom", customType: "todo", content: "two left", display: true, timestamp: 0 },
      "[Note (todo)]: two left",
    ],
    [
      "a branch that was left",
      { role: "branchSummary", summary: "tried", fromId: "e1", timestamp: 0 },
      "[Summary of a branch that was left]: tried",
    ],
    ["nothing", assistant(""), undefined],
  ];
  for (const [story, message, text] of rows) {
    it(story, () => expect(serialise([message])).toEqual(text === undefined ? [] : [text]));
  }

  it("has no more than the beginning of long results and arguments", () => {
    const [text] = serialise([result("1", "x".repeat(2500))]);
    expect(text).toContain(`${"x".repeat(2000)}\n[... 500 more characters]`);
    const [call] = serialise([assistant("", {}, [read("1", "y".repeat(3000))])]);
    expect(call!.length).toBeLessThan(1100);
  });

  it("is not cut through a character", () => {
    expect(shortened("ab😀cd", 3)).toBe("ab\n[... 4 more characters]");
  });
});
