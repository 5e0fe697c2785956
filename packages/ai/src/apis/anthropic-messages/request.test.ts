import type { ThinkingLevel } from "@tiller/protocol/model";
import { expect, test } from "vitest";
import { answer, testModel, testRequest } from "../../testing.ts";
import { buildRequest, messagesUrl } from "./request.ts";

function bodyOf(fields: Parameters<typeof testRequest>[0]): Record<string, unknown> {
  return JSON.parse(buildRequest(testRequest(fields)).body) as Record<string, unknown>;
}

const cache_control = { type: "ephemeral" };

test("a whole conversation", () => {
  const request = testRequest({
    systemPrompt: "Be brief.",
    apiKey: "key-1",
    headers: { "X-Team": "blue" },
    tools: [
      { name: "ls", description: "Lists", parameters: { type: "object" } },
      { name: "read", description: "Reads", parameters: { type: "object", properties: { path: { type: "string" } } } },
    ],
    messages: [
      {
        role: "user",
        content: [
          { type: "text", text: "What is this?" },
          { type: "image", data: "AAAA", mimeType: "image/png" },
          { type: "text", text: " " },
        ],
        timestamp: 1,
      },
      answer([
        { type: "thinking", thinking: "Look first", thinkingSignature: "sig" },
        { type: "thinking", thinking: "[Reasoning redacted]", thinkingSignature: "opaque", redacted: true },
        { type: "text", text: "Reading." },
        { type: "toolCall", id: "call|1", name: "read", arguments: { path: "a" } },
        { type: "toolCall", id: "call_2", name: "ls", arguments: {} },
      ]),
      {
        role: "toolResult",
        toolCallId: "call|1",
        toolName: "read",
        content: [{ type: "image", data: "BBBB", mimeType: "image/jpeg" }],
        isError: false,
        timestamp: 2,
      },
      { role: "toolResult", toolCallId: "call_2", toolName: "ls", content: [], isError: true, timestamp: 3 },
      { role: "user", content: "And now?", timestamp: 4 },
    ],
  });
  const call = buildRequest(request);
  expect(call.url).toBe("https://api.anthropic.com/v1/messages");
  expect(call.headers).toEqual({ "anthropic-version": "2023-06-01", "x-api-key": "key-1", "x-team": "blue" });
  expect(JSON.parse(call.body)).toEqual({
    model: "claude-test",
    stream: true,
    max_tokens: 32_000,
    system: [{ type: "text", text: "Be brief.", cache_control }],
    tools: [
      { name: "ls", description: "Lists", input_schema: { type: "object" } },
      {
        name: "read",
        description: "Reads",
        input_schema: { type: "object", properties: { path: { type: "string" } } },
        cache_control,
      },
    ],
    messages: [
      {
        role: "user",
        content: [
          { type: "text", text: "What is this?" },
          { type: "image", source: { type: "base64", media_type: "image/png", data: "AAAA" } },
        ],
      },
      {
        role: "assistant",
        content: [
          { type: "thinking", thinking: "Look first", signature: "sig" },
          { type: "redacted_thinking", data: "opaque" },
          { type: "text", text: "Reading." },
          { type: "tool_use", id: "call_1", name: "read", input: { path: "a" } },
          { type: "tool_use", id: "call_2", name: "ls", input: {} },
        ],
      },
      {
        role: "user",
        content: [
          {
            type: "tool_result",
            tool_use_id: "call_1",
            content: [{ type: "image", source: { type: "base64", media_type: "image/jpeg", data: "BBBB" } }],
          },
          { type: "tool_result", tool_use_id: "call_2", is_error: true },
          { type: "text", text: "And now?", cache_control },
        ],
      },
    ],
  });
});

test("what is empty is left out", () => {
  const body = bodyOf({ systemPrompt: "  ", tools: [] });
  expect(Object.keys(body)).toEqual(["model", "stream", "max_tokens", "messages"]);
  expect(bodyOf({ messages: [{ role: "user", content: "", timestamp: 0 }] })).toMatchObject({ messages: [] });
});

test.each([
  ["https://api.anthropic.com", "https://api.anthropic.com/v1/messages"],
  ["http://127.0.0.1:8080/", "http://127.0.0.1:8080/v1/messages"],
  ["http://127.0.0.1:8080/v1", "http://127.0.0.1:8080/v1/messages"],
  ["https://proxy/anthropic/v1/", "https://proxy/anthropic/v1/messages"],
])("base URL %s", (baseUrl, url) => {
  expect(messagesUrl(baseUrl)).toBe(url);
});

test("a login token is sent as such, and betas are joined", () => {
  const { headers } = buildRequest(
    testRequest({ apiKey: "sk-ant-oat01-x", headers: { "Anthropic-Beta": "context-1m-2025-08-07" } }),
  );
  expect(headers).toEqual({
    "anthropic-version": "2023-06-01",
    authorization: "Bearer sk-ant-oat01-x",
    "anthropic-beta": "oauth-2025-04-20,context-1m-2025-08-07",
  });
  expect(buildRequest(testRequest()).headers).toEqual({ "anthropic-version": "2023-06-01" });
});

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
    thinking: { budget_tokens: 3072 },
  });
  const tiny = bodyOf({ model: testModel({ reasoning: true, maxTokens: 1500 }), thinkingLevel: "high" });
  expect([tiny.thinking, tiny.max_tokens]).toEqual([undefined, 1500]);
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
