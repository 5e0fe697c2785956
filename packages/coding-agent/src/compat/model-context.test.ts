import type { LlmMessage } from "@tiller/protocol/message";
import { expect, test } from "vitest";
import {
  collapseSystemMessages,
  contextForExtension,
  getCurrentSystemPrompt,
  getCurrentTools,
  plainContext,
} from "./model-context.ts";

const question: LlmMessage = { role: "user", content: "?", timestamp: 0 };
const tool = (name: string) => ({ name, description: "", parameters: {} });

test.each([
  ["a text", { systemPrompt: "Be brief" }, "Be brief"],
  ["several texts", { systemPrompt: ["Be", "brief"] }, "Be\n\nbrief"],
  ["nothing", {}, ""],
])("the prompt is %s", (_what, given, prompt) => {
  expect(plainContext({ ...given, messages: [question] })).toEqual({
    systemPrompt: prompt,
    messages: [question],
    tools: [],
  });
});

test("prompt and tools may stand in system messages, which add and remove", () => {
  const messages = [
    { role: "system" as const, content: "First", toolsAdded: [tool("a"), tool("b")] },
    question,
    { role: "system" as const, sections: { extra: "Second" }, toolsRemoved: ["a"] },
  ];
  const { systemPrompt, messages: left, tools } = collapseSystemMessages({ messages });
  expect([systemPrompt, left, tools.map(({ name }) => name)]).toEqual(["First\n\nSecond", [question], ["b"]]);
  expect(getCurrentSystemPrompt(messages)).toBe("First\n\nSecond");
  expect(getCurrentTools(messages)).toEqual([tool("b")]);
});

test("what a provider of an extension gets can be read both ways", () => {
  const context = contextForExtension({ systemPrompt: "P", messages: [question], tools: [tool("t")] });
  expect([context.systemPrompt, context.tools]).toEqual(["P", [tool("t")]]);
  expect([getCurrentSystemPrompt(context.messages), getCurrentTools(context.messages)]).toEqual(["P", [tool("t")]]);
  expect(collapseSystemMessages(context)).toEqual(context);
});

test("a conversation that nobody gave a prompt has none", () => {
  expect([getCurrentSystemPrompt([question]), getCurrentTools([question])]).toEqual([undefined, []]);
});
