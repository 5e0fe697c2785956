import type { AssistantContent } from "@tiller/protocol/plain-types.generated";
import { describe, expect, it } from "vitest";
import type { AgentEvent } from "./events.ts";
import { createMessageBuilder } from "./message-builder.ts";

type Update = AgentEvent<"message_update">;
const update = (assistantMessageEvent: object): Update =>
  ({
    type: "message_update",
    message: { role: "assistant", content: [] },
    assistantMessageEvent: { ...assistantMessageEvent },
  }) as unknown as Update;
const begin = { type: "message_start", message: { role: "assistant", content: [], model: "m" } } as never;

function build(pieces: object[]): unknown[] {
  const builder = createMessageBuilder();
  builder.begin(begin);
  return pieces.map((piece) => {
    const event = update(piece);
    builder.update(event);
    return structuredClone(event.message.content);
  });
}

describe("messages from pieces", () => {
  it("grow block by block", () => {
    const call = { type: "toolCall", id: "c1", name: "ls", arguments: { path: "." } };
    expect(
      build([
        { type: "start" },
        { type: "thinking_start", contentIndex: 0 },
        { type: "thinking_delta", contentIndex: 0, delta: "hm" },
        { type: "thinking_end", contentIndex: 0, content: "hm" },
        { type: "text_start", contentIndex: 1 },
        { type: "text_delta", contentIndex: 1, delta: "a" },
        { type: "text_delta", contentIndex: 1, delta: "b" },
        { type: "toolcall_start", contentIndex: 2, id: "c1", toolName: "ls" },
        { type: "toolcall_delta", contentIndex: 2, delta: '{"path"' },
        { type: "toolcall_end", contentIndex: 2, toolCall: call },
      ]).at(-1),
    ).toEqual([{ type: "thinking", thinking: "hm" }, { type: "text", text: "ab" }, call]);
  });

  it("are there for whoever comes in the middle", () => {
    expect(build([{ type: "text_delta", contentIndex: 0, delta: "late" }])).toEqual([[{ type: "text", text: "late" }]]);
  });

  it("go on from the last whole one where the agent leaves it out for a while, and leave that one as it was", () => {
    const builder = createMessageBuilder();
    builder.begin(begin);
    const whole = update({ type: "text_end", contentIndex: 0, content: "one" });
    whole.message.content = [{ type: "text", text: "one" }];
    builder.update(whole);
    const start = update({ type: "text_start", contentIndex: 1 });
    builder.update(start);
    const thin = update({ type: "text_delta", contentIndex: 1, delta: "two" });
    builder.update(thin);
    expect(thin.message.content).toEqual([
      { type: "text", text: "one" },
      { type: "text", text: "two" },
    ]);
    expect(whole.message.content).toEqual([{ type: "text", text: "one" }]);
  });

  it("say nothing twice when a whole one was ahead of its piece, as where blocks grow in turns", () => {
    const builder = createMessageBuilder();
    builder.begin(begin);
    const texts = (...all: string[]) => all.map((text) => ({ type: "text" as const, text }));
    const tell = (contentIndex: number, delta: string, content: AssistantContent[]) => {
      const event = update({ type: "text_delta", contentIndex, delta });
      event.message.content = content;
      builder.update(event);
      return event.message.content;
    };
    tell(0, "a", texts("a"));
    tell(1, "b", texts("a", "b"));
    tell(0, "A", texts("aA", "bB"));
    expect(tell(1, "B", [])).toEqual(texts("aA", "bB"));
  });

  it("go on from a whole one when their own beginning was missed", () => {
    const builder = createMessageBuilder();
    const event = update({ type: "text_delta", contentIndex: 1, delta: "b" });
    event.message.content = [
      { type: "text", text: "a" },
      { type: "text", text: "b" },
    ];
    builder.update(event);
    const thin = update({ type: "text_delta", contentIndex: 1, delta: "c" });
    builder.update(thin);
    expect(thin.message.content).toEqual([
      { type: "text", text: "a" },
      { type: "text", text: "bc" },
    ]);
  });

  it("keep what a whole one said beside the words, and the words of a block whose beginning was missed", () => {
    const builder = createMessageBuilder();
    builder.begin(begin);
    const call = { type: "toolCall" as const, id: "c", name: "write", arguments: { path: "a" } };
    const beside = { responseId: "r-1", usage: { input: 5, output: 7 } };
    const tell = (piece: object, ...content: AssistantContent[]) => {
      const event = update(piece);
      event.message = { ...event.message, ...beside, content } as typeof event.message;
      builder.update(event);
    };
    tell({ type: "toolcall_start", contentIndex: 0, id: "c", toolName: "write" }, call);
    tell({ type: "text_delta", contentIndex: 1, delta: "b" }, call, { type: "text", text: "ab" });
    const thin = update({ type: "text_delta", contentIndex: 1, delta: "c" });
    builder.update(thin);
    expect(thin.message).toMatchObject({ ...beside, content: [call, { type: "text", text: "abc" }] });
  });

  it("begin anew, and stay as they are when the agent sends them whole", () => {
    const builder = createMessageBuilder();
    builder.begin(begin);
    builder.update(update({ type: "text_delta", contentIndex: 0, delta: "old" }));
    builder.end();
    const next = update({ type: "text_delta", contentIndex: 0, delta: "new" });
    builder.update(next);
    expect(next.message.content).toEqual([{ type: "text", text: "new" }]);
    const whole = update({ type: "text_delta", contentIndex: 0, delta: "!" });
    whole.message.content = [{ type: "text", text: "whole!" }];
    builder.update(whole);
    expect(whole.message.content).toEqual([{ type: "text", text: "whole!" }]);
  });

  it("are, at the end, what the agent says they are", () => {
    const message = { role: "assistant", content: [{ type: "text", text: "final" }] };
    expect(
      build([
        { type: "text_delta", contentIndex: 0, delta: "x" },
        { type: "done", reason: "stop", message },
      ])[1],
    ).toEqual(message.content);
    expect(build([{ type: "error", reason: "aborted", error: message }])).toEqual([message.content]);
  });

  it("keep their text through ten thousand pieces", () => {
    const pieces = Array.from({ length: 10_000 }, (_, i) => ({ type: "text_delta", contentIndex: 0, delta: `${i} ` }));
    const builder = createMessageBuilder();
    builder.begin(begin);
    let last: Update | undefined;
    for (const piece of pieces) {
      last = update(piece);
      builder.update(last);
    }
    expect(last?.message.content).toEqual([{ type: "text", text: pieces.map(({ delta }) => delta).join("") }]);
  });
});
