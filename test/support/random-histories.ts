import { answer } from "@tiller/ai/testing";
import type { ToolCall } from "@tiller/protocol/content";
import type { LlmMessage, StopReason } from "@tiller/protocol/message";
import fc from "fast-check";

/** Histories of every kind, also those that should not be: for property tests. */

const words = fc.constantFrom("", " ", "\n", "Hello", "Look here", "✓");
const ids = fc.oneof(
  fc.constantFrom(
    "",
    "x",
    "x_2",
    "x|1",
    "call",
    "call_2",
    "call_abc|fc_def",
    "call_abc",
    "|fc",
    "|",
    "a b",
    "a_b",
    "é",
  ),
  fc.string({ maxLength: 6, unit: fc.constantFrom("a", "b", "|", "_", "-", "!", "2") }),
  fc.string({ minLength: 60, maxLength: 80, unit: fc.constantFrom("a", "|", "!") }),
);
const maybe = fc.option(fc.constantFrom("", "sig"), { nil: undefined });
const text = fc.record({ type: fc.constant("text" as const), text: words, textSignature: maybe });
const image = fc.constant({ type: "image" as const, data: "AAAA", mimeType: "image/png" });
const thinking = fc.record({
  type: fc.constant("thinking" as const),
  thinking: words,
  thinkingSignature: maybe,
  redacted: fc.option(fc.boolean(), { nil: undefined }),
});
const call = fc.record({
  type: fc.constant("toolCall" as const),
  id: ids,
  name: fc.constantFrom("ls", "read", "", "functions.read", "a b", "7", "r".repeat(65)),
  arguments: fc.constant({}),
  thoughtSignature: maybe,
});
export const assistant = fc
  .record({
    content: fc.array(fc.oneof(text, thinking, call, call), { maxLength: 4 }),
    stopReason: fc.constantFrom<StopReason>("stop", "toolUse", "length", "error", "aborted"),
    author: fc.constantFrom(
      {},
      { responseModel: "alias" },
      { model: "other" },
      { provider: "other" },
      { api: "other" },
    ),
  })
  .map(({ content, stopReason, author }) => answer(content, { ...author, stopReason }));
export const user = fc
  .oneof(words, fc.array(fc.oneof(text, image), { maxLength: 3 }))
  .map((content): LlmMessage => ({ role: "user", content, timestamp: 1 }));
export const result = fc.record({ toolCallId: ids, content: fc.array(fc.oneof(text, image), { maxLength: 2 }) }).map(
  ({ toolCallId, content }): LlmMessage => ({
    role: "toolResult",
    toolCallId,
    toolName: "ls",
    content,
    isError: false,
    timestamp: 2,
  }),
);
/** An answer with the results of its calls, as a run leaves it, so that valid pairs are not rare. */
export const round = assistant.map((message) => [
  message,
  ...callsOf(message).map((made): LlmMessage => resultOf(made, `for ${made.id}`)),
]);
export const histories = fc
  .array(
    fc.oneof(
      user.map((one) => [one]),
      assistant.map((one) => [one]),
      result.map((one) => [one]),
      round,
    ),
    {
      maxLength: 8,
    },
  )
  .map((pieces) => pieces.flat());

export function callsOf(message: LlmMessage): ToolCall[] {
  return message.role === "assistant" ? message.content.filter((block) => block.type === "toolCall") : [];
}

export function resultOf(made: ToolCall, words: string): LlmMessage {
  return {
    role: "toolResult",
    toolCallId: made.id,
    toolName: made.name,
    content: [{ type: "text", text: words }],
    isError: false,
    timestamp: 3,
  };
}
