import type { AgentMessage, BashExecutionMessage } from "@tiller/protocol/message";
import { expect, test } from "vitest";
import { messagesToLlm } from "./messages-to-llm.ts";

const bash = (fields: Partial<BashExecutionMessage> = {}): BashExecutionMessage => ({
  role: "bashExecution",
  command: "ls",
  output: "a.txt",
  cancelled: false,
  truncated: false,
  timestamp: 1,
  ...fields,
});

function textOf(message: AgentMessage): unknown {
  const [projected] = messagesToLlm([message]);
  expect(projected).toMatchObject({ role: "user", timestamp: 1 });
  return projected?.content;
}

const text = (words: string) => [{ type: "text", text: words }];

test.each<[story: string, message: AgentMessage, expected: string]>([
  ["a command", bash(), "Ran `ls`\n```\na.txt\n```"],
  ["a silent one", bash({ output: "" }), "Ran `ls`\n(no output)"],
  ["one that failed", bash({ exitCode: 2 }), "Ran `ls`\n```\na.txt\n```\n\nCommand exited with code 2"],
  ["one that was stopped", bash({ cancelled: true }), "Ran `ls`\n```\na.txt\n```\n\n(command cancelled)"],
  [
    "one that said too much",
    bash({ truncated: true, fullOutputPath: "/out" }),
    "Ran `ls`\n```\na.txt\n```\n\n[Output truncated. Full output: /out]",
  ],
  [
    "a message of an extension",
    { role: "custom", customType: "note", content: "Look", display: true, timestamp: 1 },
    "Look",
  ],
  [
    "the summary of a branch",
    { role: "branchSummary", summary: "Tried it.", fromId: "a", timestamp: 1 },
    "A branch of this conversation was left; this is what happened on it:\n\n<summary>\nTried it.\n</summary>",
  ],
  [
    "the summary of a compaction",
    { role: "compactionSummary", summary: "Long ago.", tokensBefore: 9, timestamp: 1 },
    "The earlier part of this conversation was replaced by this summary:\n\n<summary>\nLong ago.\n</summary>",
  ],
])("%s becomes a message of the user", (_story, message, expected) => {
  expect(textOf(message)).toEqual(text(expected));
});

test("what is not for the model is left out", () => {
  expect(messagesToLlm([bash({ excludeFromContext: true })])).toEqual([]);
});

test("each time it is the same object, so that what was sent before is known again", () => {
  const user: AgentMessage = { role: "user", content: "Hi", timestamp: 1 };
  const messages: AgentMessage[] = [user, bash(), { role: "branchSummary", summary: "", fromId: "a", timestamp: 1 }];
  const first = messagesToLlm(messages);
  expect(first[0]).toBe(user);
  for (const [at, message] of messagesToLlm([...messages]).entries()) expect(message).toBe(first[at]);
});

test("an answer that a stream rule has ended is shown to the model, if it was kept; one that was aborted is not", () => {
  const call = { type: "toolCall", id: "c", name: "edit", arguments: {} } as const;
  const cut = {
    role: "assistant",
    content: [call],
    stopReason: "aborted",
    errorMessage: "no",
  } as unknown as AgentMessage;
  const result = { role: "toolResult", toolCallId: "c", content: [] } as unknown as AgentMessage;
  const told: AgentMessage = {
    role: "custom",
    customType: "ttsr-injection",
    content: "No.",
    display: false,
    timestamp: 1,
  };
  const user: AgentMessage = { role: "user", content: "go", timestamp: 1 };
  const shown = messagesToLlm([cut, result, told]);
  expect(shown[0]).toMatchObject({ content: [call], stopReason: "toolUse" });
  expect(shown[0]).not.toHaveProperty("errorMessage");
  expect(messagesToLlm([cut, result, told])[0]).toBe(shown[0]);
  expect(messagesToLlm([{ ...cut, content: text("x") } as AgentMessage, told])[0]).toMatchObject({
    stopReason: "stop",
  });
  expect(messagesToLlm([cut, result, user])[0]).toBe(cut);
});
