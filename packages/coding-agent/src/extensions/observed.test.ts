import type { AssistantMessage } from "@tiller/protocol/message";
import { describe, expect, test } from "vitest";
import type { SessionEvent } from "../session/session-event.ts";
import { isAskedBefore, observed } from "./observed.ts";

const user = { role: "user" as const, content: "hi", timestamp: 1 };
const assistant = { role: "assistant", content: [], timestamp: 2 } as unknown as AssistantMessage;
const call = { toolCallId: "1", toolName: "read", args: { path: "a" } };
const result = { content: [{ type: "text" as const, text: "A" }] };
const delta = { type: "text_delta", contentIndex: 0, delta: "h" };
const retry = { attempt: 1, maxAttempts: 3, delayMs: 50, errorMessage: "busy" };

describe("what extensions are told of an event", () => {
  const cases: [event: object, payload: object | undefined][] = [
    [{ type: "agent_start" }, {}],
    [{ type: "agent_end", messages: [user], willRetry: true }, { messages: [user] }],
    [{ type: "agent_settled", aborted: true }, { aborted: true }],
    [{ type: "turn_start" }, { turnIndex: 3, timestamp: 1000 }],
    // Its handlers have a say in what follows: they are asked.
    [{ type: "turn_end", message: assistant, toolResults: [] }, undefined],
    [{ type: "message_start", message: assistant }, { message: assistant }],
    [
      { type: "message_update", event: delta, snapshot: () => assistant },
      { message: assistant, assistantMessageEvent: delta },
    ],
    [{ type: "tool_execution_start", ...call }, call],
    [
      { type: "tool_execution_update", ...call, partialResult: result },
      { ...call, partialResult: result },
    ],
    [
      { type: "tool_execution_end", ...call, result, isError: true },
      { ...call, result, isError: true },
    ],
    [{ type: "session_info_changed", name: "x" }, { name: "x" }],
    [
      { type: "auto_compaction_start", reason: "overflow", action: "context-full" },
      { reason: "overflow", action: "context-full" },
    ],
    [
      { type: "auto_compaction_end", action: "context-full", aborted: false, willRetry: true },
      { action: "context-full", aborted: false, willRetry: true },
    ],
    [{ type: "auto_retry_start", ...retry }, retry],
    [
      { type: "auto_retry_end", success: false, attempt: 3, finalError: "busy" },
      { success: false, attempt: 3, finalError: "busy" },
    ],
    [{ type: "session_settled" }, undefined],
    [{ type: "notice", level: "info", source: "x", message: "y" }, undefined],
    [{ type: "extension_error", extensionPath: "/x.ts", event: "input", error: "z" }, undefined],
    [{ type: "toString" }, undefined],
  ];
  test.each(cases)("%o", (event, payload) => {
    const about = observed(event as SessionEvent, { promptId: "p", turnIndex: 3 }, () => 1000);
    expect(about?.payload).toEqual(payload);
    if (payload) expect(about?.hook).toBe((event as SessionEvent).type);
  });

  test("is a copy: nobody can take anything out of the run", () => {
    const messages = [{ role: "user" as const, content: "hi", timestamp: 1 }];
    const payloadOf = (event: SessionEvent): object => observed(event, undefined, () => 0)?.payload ?? {};
    (payloadOf({ type: "agent_end", messages, willRetry: false }) as { messages: unknown[] }).messages.pop();
    const growing = { ...assistant, content: [{ type: "text" as const, text: "h" }] };
    const update = { type: "message_update", event: delta, snapshot: () => growing } as unknown as SessionEvent;
    const { message } = payloadOf(update) as { message: typeof growing };
    message.content[0]!.text = "spoilt";
    message.content.pop();
    expect([messages.length, growing.content]).toEqual([1, [{ type: "text", text: "h" }]]);
  });

  test("outside a run there is no turn: it is the first", () => {
    expect(observed({ type: "turn_start" }, undefined, () => 7)?.payload).toEqual({ turnIndex: 0, timestamp: 7 });
  });
});

test.each([
  [{ type: "message_start", message: user }, true],
  [{ type: "message_start", message: assistant }, false],
  [{ type: "message_end", message: user }, true],
  [{ type: "message_end", message: assistant }, true],
  [{ type: "turn_end" }, false],
])("%o is asked before anybody hears of it: %s", (event, expected) => {
  expect(isAskedBefore(event as SessionEvent)).toBe(expected);
});
