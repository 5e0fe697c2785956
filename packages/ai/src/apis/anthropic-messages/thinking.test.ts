import type { LlmMessage } from "@tiller/protocol/message";
import type { ThinkingLevel } from "@tiller/protocol/model";
import { expect, test } from "vitest";
import { answer, testModel, testRequest } from "../../testing.ts";
import { bodyText } from "../test-histories.ts";
import { buildRequest } from "./request.ts";

function bodyOf(fields: Parameters<typeof testRequest>[0]): Record<string, unknown> {
  return JSON.parse(bodyText(buildRequest(testRequest(fields)).body)) as Record<string, unknown>;
}

const say = (content: string): LlmMessage => ({ role: "user", content, timestamp: 0 });
const text = (words: string) => ({ type: "text" as const, text: words });

test.each<[level: ThinkingLevel, thinking: unknown, maxTokens: number]>([
  ["off", undefined, 32_000],
  ["minimal", { type: "enabled", budget_tokens: 1024 }, 33_024],
  ["low", { type: "enabled", budget_tokens: 4096 }, 36_096],
  ["medium", { type: "enabled", budget_tokens: 10_240 }, 42_240],
  ["high", { type: "enabled", budget_tokens: 20_480 }, 52_480],
  ["xhigh", { type: "enabled", budget_tokens: 32_768 }, 64_000],
])("a model with a budget, level %s", (thinkingLevel, thinking, maxTokens) => {
  const body = bodyOf({ model: testModel({ reasoning: true }), thinkingLevel });
  expect([body.thinking, body.max_tokens]).toEqual([thinking, maxTokens]);
});

test("a budget never eats the whole answer, and a tiny answer has no budget", () => {
  const small = testModel({ reasoning: true, maxTokens: 4096 });
  expect(bodyOf({ model: small, thinkingLevel: "high" })).toMatchObject({
    max_tokens: 4096,
    thinking: { budget_tokens: 2048 },
  });
  const tiny = bodyOf({ model: testModel({ reasoning: true, maxTokens: 1500 }), thinkingLevel: "high" });
  expect([tiny.thinking, tiny.max_tokens]).toEqual([undefined, 1500]);
});

test("a cap on the tokens caps the thoughts too", () => {
  const budget = bodyOf({ model: testModel({ reasoning: true }), thinkingLevel: "high", maxTokens: 16_000 });
  expect([budget.max_tokens, budget.thinking]).toEqual([16_000, { type: "enabled", budget_tokens: 8000 }]);
  const tiny = bodyOf({ model: testModel({ reasoning: true }), thinkingLevel: "high", maxTokens: 1000 });
  expect([tiny.max_tokens, tiny.thinking]).toEqual([1000, undefined]);
  const adaptive = testModel({ reasoning: true, compat: { thinking: "adaptive" } });
  expect(bodyOf({ model: adaptive, thinkingLevel: "high", maxTokens: 500 })).toMatchObject({ max_tokens: 500 });
  expect(bodyOf({ model: adaptive, thinkingLevel: "high", maxTokens: 99_000 })).toMatchObject({ max_tokens: 64_000 });
});

test("a model may name its own budgets", () => {
  const model = testModel({ reasoning: true, thinkingLevelMap: { low: "2000" } });
  expect(bodyOf({ model, thinkingLevel: "low" })).toMatchObject({ thinking: { budget_tokens: 2000 } });
});

test("a model that always thinks does so with little effort when told not to", () => {
  const model = testModel({ reasoning: true, compat: { thinking: "adaptive" }, thinkingLevelMap: { off: null } });
  expect(bodyOf({ model, thinkingLevel: "off" })).toMatchObject({
    thinking: { type: "adaptive" },
    output_config: { effort: "low" },
  });
});

test("a model that checks its thoughts gets none of them while thinking is off", () => {
  const history = [
    say("a"),
    answer([{ type: "thinking", thinking: "Hm", thinkingSignature: "s" }, text("b")]),
    say("c"),
  ];
  const compat = { thinking: "adaptive", thinkingOff: "disabled", preservedThinking: true };
  const model = testModel({ reasoning: true, compat });
  expect(JSON.stringify(bodyOf({ messages: history, model, thinkingLevel: "off" }))).not.toContain("Hm");
  expect(JSON.stringify(bodyOf({ messages: history, model, thinkingLevel: "low" }))).toContain("Hm");
  const { headers } = buildRequest(testRequest({ model, thinkingLevel: "off" }));
  expect(headers).not.toHaveProperty("anthropic-beta");
});

const call = { type: "toolCall" as const, id: "x", name: "ls", arguments: {} };
const thought = { type: "thinking" as const, thinking: "Hm", thinkingSignature: "s" };
const foreign = { model: "other" };
const result: LlmMessage = {
  ...{ role: "toolResult", toolCallId: "x", toolName: "ls", content: [], isError: false, timestamp: 0 },
};
const round = (content: Parameters<typeof answer>[0], author = {}): LlmMessage[] => [answer(content, author), result];

test.each<[story: string, thinks: boolean, history: LlmMessage[]]>([
  ["its own turn, begun with a thought", true, [say("go"), ...round([thought, call])]],
  ["an own turn that was begun without", false, [say("go"), ...round([call])]],
  ["and goes on with one", false, [say("go"), ...round([call]), ...round([thought, call])]],
  ["no thought between two tools of its own", true, [say("go"), ...round([thought, call]), ...round([call])]],
  ["the turn of another", false, [say("go"), ...round([call], foreign)]],
  ["the turn of another that thought", false, [say("go"), ...round([thought, call], foreign)]],
  ["there and back again", false, [say("go"), ...round([thought, call]), ...round([thought, call], foreign)]],
  [
    "there and back again, and on",
    false,
    [say("go"), ...round([thought, call]), ...round([call], foreign), ...round([thought, call])],
  ],
  ["what was aborted first is not there", true, [say("go"), aborted(), ...round([thought, call])]],
  ["words of the user behind results", true, [say("go"), ...round([call], foreign), say("faster")]],
  ["the next turn", true, [say("go"), ...round([call], foreign), answer([text("done")]), say("and now?")]],
  ["the first turn", true, [say("go")]],
])("a budget model thinks only in a turn that it began with a thought: %s", (_story, thinks, messages) => {
  const body = bodyOf({ model: testModel({ reasoning: true }), thinkingLevel: "low", messages });
  expect(body.thinking !== undefined).toBe(thinks);
});

function aborted(): LlmMessage {
  return answer([text("I w")], { stopReason: "aborted" });
}

test("a model that decides for itself thinks in any turn", () => {
  const model = testModel({ reasoning: true, compat: { thinking: "adaptive" } });
  const body = bodyOf({ model, thinkingLevel: "low", messages: [say("go"), ...round([call], foreign)] });
  expect(body.thinking).toBeDefined();
});

test.each<[level: ThinkingLevel, thinkingOff: string, expected: Record<string, unknown>]>([
  [
    "medium",
    "disabled",
    { thinking: { type: "adaptive", display: "summarized" }, output_config: { effort: "medium" } },
  ],
  ["minimal", "disabled", { thinking: { type: "adaptive", display: "summarized" }, output_config: { effort: "low" } }],
  ["xhigh", "disabled", { thinking: { type: "adaptive", display: "summarized" }, output_config: { effort: "xhigh" } }],
  ["off", "disabled", { thinking: { type: "disabled" } }],
  ["off", "between_tools", { thinking: { type: "between_tools" } }],
  ["off", "omit", {}],
])("a model that decides for itself, level %s (off: %s)", (thinkingLevel, thinkingOff, expected) => {
  const model = testModel({
    reasoning: true,
    compat: { thinking: "adaptive", thinkingOff },
    thinkingLevelMap: { xhigh: "xhigh" },
  });
  const { thinking, output_config } = bodyOf({ model, thinkingLevel });
  expect({ thinking, output_config }).toEqual({ thinking: undefined, output_config: undefined, ...expected });
});

test("thinking between tool calls is asked for where a model can do it", () => {
  const model = testModel({ reasoning: true, compat: { interleavedThinking: true } });
  expect(buildRequest(testRequest({ model, thinkingLevel: "low" })).headers).toMatchObject({
    "anthropic-beta": "interleaved-thinking-2025-05-14",
  });
  expect(buildRequest(testRequest({ model, thinkingLevel: "off" })).headers).not.toHaveProperty("anthropic-beta");
});

test("a model that does not reason is not told to", () => {
  expect(bodyOf({ thinkingLevel: "high", maxTokens: 500 })).toMatchObject({ max_tokens: 500 });
  expect(bodyOf({ thinkingLevel: "high" })).not.toHaveProperty("thinking");
});
