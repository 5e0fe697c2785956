import type { LlmMessage, ToolResultMessage } from "@tiller/protocol/message";
import { expect, test } from "vitest";
import { answer, testModel } from "../testing.ts";
import { prepareHistory } from "./history.ts";

const model = testModel();
const user = (text: string): LlmMessage => ({ role: "user", content: text, timestamp: 1 });
const call = (id: string) => ({ type: "toolCall" as const, id, name: "read", arguments: {} });
const result = (toolCallId: string, text = "ok"): ToolResultMessage => ({
  role: "toolResult",
  toolCallId,
  toolName: "read",
  content: [{ type: "text", text }],
  isError: false,
  timestamp: 2,
});
const roles = (messages: readonly LlmMessage[]) => messages.map((message) => message.role);

test("failed, aborted and empty answers are left out, with the results of their tools", () => {
  const history = prepareHistory(
    [
      user("a"),
      answer([call("x")], { stopReason: "aborted" }),
      result("x"),
      answer([{ type: "text", text: "half" }], { stopReason: "error" }),
      answer([]),
      user("b"),
    ],
    model,
  );
  expect(history).toEqual([user("a"), user("b")]);
});

test("a call without a result gets one that says so, before anything else is said", () => {
  const history = prepareHistory([answer([call("x"), call("y")]), result("y"), user("go on")], model);
  expect(roles(history)).toEqual(["assistant", "toolResult", "toolResult", "user"]);
  expect(history[1]).toMatchObject({
    toolCallId: "x",
    isError: true,
    content: [{ type: "text", text: "No result provided" }],
  });
  expect(history[2]).toEqual(result("y"));
});

test("results follow their call in its order, even when a message came between them", () => {
  const history = prepareHistory([answer([call("x"), call("y")]), user("wait"), result("y"), result("x")], model);
  expect(history.slice(1)).toEqual([result("x"), result("y"), user("wait")]);
});

test("ids that come again belong to the nearest call", () => {
  const history = prepareHistory([answer([call("x")]), result("x", "1"), answer([call("x")]), result("x", "2")], model);
  expect(history.filter((message) => message.role === "toolResult")).toEqual([result("x", "1"), result("x", "2")]);
});

test("thinking goes back only to the model that signed it; of others the words remain", () => {
  const thought = { type: "thinking" as const, thinking: "Hm", thinkingSignature: "s" };
  const silent = { type: "thinking" as const, thinking: "", thinkingSignature: "s" };
  const hidden = {
    type: "thinking" as const,
    thinking: "[Reasoning redacted]",
    thinkingSignature: "d",
    redacted: true,
  };
  const unsigned = { type: "thinking" as const, thinking: "Ah" };
  const text = { type: "text" as const, text: "Hi" };
  const content = [thought, silent, hidden, unsigned, text];
  const own = prepareHistory([answer(content)], model)[0];
  expect(own?.content).toEqual([thought, silent, hidden, { type: "text", text: "Ah" }, text]);
  for (const other of [{ model: "other" }, { provider: "other" }, { api: "other" }]) {
    const foreign = prepareHistory([answer(content, other)], model)[0];
    expect(foreign?.content).toEqual([{ type: "text", text: "Hm" }, { type: "text", text: "Ah" }, text]);
  }
});

test("a model that reads only text is told where images were", () => {
  const image = { type: "image" as const, data: "AAAA", mimeType: "image/png" };
  const text = { type: "text" as const, text: "look" };
  const messages: LlmMessage[] = [
    { role: "user", content: [text, image, image], timestamp: 1 },
    answer([call("x")]),
    { ...result("x"), content: [image] },
  ];
  expect(prepareHistory(messages, model)).toEqual(messages);
  const note = { type: "text", text: "(image left out: this model reads only text)" };
  const plain = prepareHistory(messages, testModel({ input: ["text"] }));
  expect(plain[0]?.content).toEqual([text, note]);
  expect(plain[2]?.content).toEqual([note]);
});
