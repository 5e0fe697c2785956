import type { LlmMessage, ToolResultMessage } from "@tiller/protocol/message";
import { expect, test } from "vitest";
import { answer, testModel, testRequest } from "../../testing.ts";
import { bodyText } from "../test-histories.ts";
import { buildRequest, messagesUrl } from "./request.ts";

function bodyOf(fields: Parameters<typeof testRequest>[0]): Record<string, unknown> {
  return JSON.parse(bodyText(buildRequest(testRequest(fields)).body)) as Record<string, unknown>;
}

const cache_control = { type: "ephemeral" };
const image = (data: string, mimeType = "image/png") => ({ type: "image" as const, data, mimeType });
const wireImage = (data: string, media_type = "image/png") => ({
  type: "image",
  source: { type: "base64", media_type, data },
});
const call = (id: string, name = "ls") => ({ type: "toolCall" as const, id, name, arguments: {} });
const result = (toolCallId: string, fields: Partial<ToolResultMessage> = {}): ToolResultMessage => ({
  role: "toolResult",
  toolCallId,
  toolName: "ls",
  content: [],
  isError: false,
  timestamp: 2,
  ...fields,
});

/** URL, headers and body, all of it. */
function golden(fields: Parameters<typeof testRequest>[0]) {
  const { url, headers, body } = buildRequest(testRequest(fields));
  return { url, headers, body: JSON.parse(bodyText(body)) as unknown };
}

test("golden: a plain question", () => {
  expect(golden({ systemPrompt: "Be brief.", apiKey: "key-1" })).toEqual({
    url: "https://api.anthropic.com/v1/messages",
    headers: { "anthropic-version": "2023-06-01", "x-api-key": "key-1" },
    body: {
      model: "claude-test",
      stream: true,
      max_tokens: 32_000,
      system: [{ type: "text", text: "Be brief.", cache_control }],
      messages: [{ role: "user", content: [{ type: "text", text: "Hello", cache_control }] }],
    },
  });
});

test("golden: tools, images, thoughts and results", () => {
  const request = {
    apiKey: "key-1",
    systemPrompt: "Be brief.",
    tools: [
      { name: "ls", description: "Lists", parameters: { type: "object" } },
      { name: "now", description: " ", parameters: {} },
      { name: "read", description: "Reads", parameters: { properties: { path: { type: "string" } } } },
    ],
    messages: [
      {
        role: "user" as const,
        content: [
          { type: "text" as const, text: "What is this?" },
          image("AAAA"),
          { type: "text" as const, text: " " },
        ],
        timestamp: 1,
      },
      answer([
        { type: "thinking", thinking: "Look first", thinkingSignature: "sig" },
        { type: "thinking", thinking: "", thinkingSignature: "sig of a thought that is not shown" },
        { type: "thinking", thinking: "[Reasoning redacted]", thinkingSignature: "opaque", redacted: true },
        { type: "text", text: "Reading." },
        { type: "toolCall", id: "call|1", name: "read", arguments: { path: "a" } },
        { type: "toolCall", id: "call_2", name: "ls", arguments: {} },
      ]),
      result("call|1", { content: [image("BBBB", "image/jpg")] }),
      result("call_2", { isError: true }),
      { role: "user" as const, content: "And now?", timestamp: 4 },
    ],
  };
  expect(golden(request)).toEqual({
    url: "https://api.anthropic.com/v1/messages",
    headers: { "anthropic-version": "2023-06-01", "x-api-key": "key-1" },
    body: {
      model: "claude-test",
      stream: true,
      max_tokens: 32_000,
      system: [{ type: "text", text: "Be brief.", cache_control }],
      tools: [
        { name: "ls", description: "Lists", input_schema: { type: "object" } },
        { name: "now", input_schema: { type: "object" } },
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
            { ...wireImage("AAAA"), cache_control },
          ],
        },
        {
          role: "assistant",
          content: [
            { type: "thinking", thinking: "Look first", signature: "sig" },
            { type: "thinking", thinking: "", signature: "sig of a thought that is not shown" },
            { type: "redacted_thinking", data: "opaque" },
            { type: "text", text: "Reading." },
            { type: "tool_use", id: "call", name: "read", input: { path: "a" } },
            { type: "tool_use", id: "call_2", name: "ls", input: {} },
          ],
        },
        {
          role: "user",
          content: [
            { type: "tool_result", tool_use_id: "call", content: [wireImage("BBBB", "image/jpeg")] },
            {
              type: "tool_result",
              tool_use_id: "call_2",
              content: [{ type: "text", text: "(no output)" }],
              is_error: true,
            },
            { type: "text", text: "And now?", cache_control },
          ],
        },
      ],
    },
  });
});

const hello = { role: "user", content: [{ type: "text", text: "Hello", cache_control }] };

test("golden: a model with a budget for its thoughts", () => {
  const model = testModel({ reasoning: true, compat: { interleavedThinking: true } });
  expect(golden({ model, thinkingLevel: "high", apiKey: "key-1" })).toEqual({
    url: "https://api.anthropic.com/v1/messages",
    headers: {
      "anthropic-version": "2023-06-01",
      "x-api-key": "key-1",
      "anthropic-beta": "interleaved-thinking-2025-05-14",
    },
    body: {
      model: "claude-test",
      stream: true,
      max_tokens: 52_480,
      thinking: { type: "enabled", budget_tokens: 20_480 },
      messages: [hello],
    },
  });
});

test("golden: a model that decides for itself, and checks its thoughts", () => {
  const model = testModel({ reasoning: true, compat: { thinking: "adaptive", preservedThinking: true } });
  expect(golden({ model, thinkingLevel: "high", apiKey: "key-1" })).toEqual({
    url: "https://api.anthropic.com/v1/messages",
    headers: {
      "anthropic-version": "2023-06-01",
      "x-api-key": "key-1",
      "anthropic-beta": "thinking-binding-controls-2026-08-01",
    },
    body: {
      model: "claude-test",
      stream: true,
      max_tokens: 64_000,
      thinking: {
        type: "adaptive",
        display: "summarized",
        block_binding: { prefix_mismatch_behavior: "drop_block" },
      },
      output_config: { effort: "high" },
      messages: [hello],
    },
  });
});

test("golden: a prompt that is kept for an hour", () => {
  const long = { type: "ephemeral", ttl: "1h" };
  const tools = [{ name: "ls", description: "Lists", parameters: { type: "object" } }];
  expect(golden({ cacheRetention: "long", systemPrompt: "Be brief.", tools }).body).toEqual({
    model: "claude-test",
    stream: true,
    max_tokens: 32_000,
    system: [{ type: "text", text: "Be brief.", cache_control: long }],
    tools: [{ name: "ls", description: "Lists", input_schema: { type: "object" }, cache_control: long }],
    messages: [{ role: "user", content: [{ type: "text", text: "Hello", cache_control: long }] }],
  });
});

test("golden: a login token and own headers; betas are joined", () => {
  const headers = { "Anthropic-Beta": "context-1m-2025-08-07, oauth-2025-04-20", "X-Team": "blue" };
  expect(golden({ apiKey: "sk-ant-oat01-x", headers })).toEqual({
    url: "https://api.anthropic.com/v1/messages",
    headers: {
      "anthropic-version": "2023-06-01",
      authorization: "Bearer sk-ant-oat01-x",
      "anthropic-beta": "oauth-2025-04-20,context-1m-2025-08-07",
      "x-team": "blue",
    },
    body: { model: "claude-test", stream: true, max_tokens: 32_000, messages: [hello] },
  });
  expect(buildRequest(testRequest()).headers).toEqual({ "anthropic-version": "2023-06-01" });
});

test("own headers win over ours", () => {
  const headers = { "X-API-Key": "other", "Anthropic-Version": "2099-01-01" };
  expect(buildRequest(testRequest({ apiKey: "key-1", headers })).headers).toEqual({
    "anthropic-version": "2099-01-01",
    "x-api-key": "other",
  });
});

test.each<[story: string, fields: Parameters<typeof testRequest>[0]]>([
  ["nothing is to be kept", { cacheRetention: "none" }],
  ["the server refuses marks", { model: testModel({ compat: { cacheControl: false } }) }],
])("no marks for the cache: %s", (_story, fields) => {
  const tools = [{ name: "ls", description: "Lists", parameters: { type: "object" } }];
  const { body } = buildRequest(testRequest({ systemPrompt: "Be brief.", tools, ...fields }));
  expect(bodyText(body)).not.toContain("cache_control");
});

test("there are never more than four marks, and the last round of tools is among them", () => {
  const rounds = Array.from({ length: 5 }, (_, i) => [answer([call(`c${i}`)]), result(`c${i}`)]).flat();
  const tools = [
    { name: "ls", description: "Lists", parameters: { type: "object" } },
    { name: "read", description: "Reads", parameters: { type: "object" } },
  ];
  const messages = [{ role: "user" as const, content: "Go", timestamp: 0 }, ...rounds];
  const body = bodyText(buildRequest(testRequest({ systemPrompt: "Be brief.", tools, messages })).body);
  expect(body.match(/cache_control/g)).toHaveLength(4);
  const sent = (JSON.parse(body) as { messages: { role: string; content: { cache_control?: object }[] }[] }).messages;
  const ends = sent
    .filter(({ role }) => role === "user")
    .map(({ content }) => content.at(-1)?.cache_control !== undefined);
  expect(ends).toEqual([false, false, false, false, true, true]);
});

function messagesOf(messages: LlmMessage[], fields: Parameters<typeof testRequest>[0] = {}): unknown {
  return bodyOf({ messages, cacheRetention: "none", ...fields }).messages;
}
const say = (content: string): LlmMessage => ({ role: "user", content, timestamp: 0 });
const text = (words: string) => ({ type: "text" as const, text: words });

test("what is empty is left out", () => {
  const body = bodyOf({ systemPrompt: "  ", tools: [] });
  expect(Object.keys(body)).toEqual(["model", "stream", "max_tokens", "messages"]);
});

test("user and assistant speak by turns, and the user begins", () => {
  expect(messagesOf([answer([text("a")]), answer([text("b")]), say("c"), say("d")])).toEqual([
    { role: "user", content: [text("(The beginning of this conversation is not available.)")] },
    { role: "assistant", content: [text("a"), text("b")] },
    { role: "user", content: [text("c"), text("d")] },
  ]);
});

test.each<[story: string, messages: LlmMessage[]]>([
  ["no message", []],
  ["an empty prompt", [say("")]],
  ["nothing after the last answer", [say("a"), answer([text("b")])]],
  ["only what failed", [answer([text("half")], { stopReason: "error" })]],
])("nothing to send: %s", (_story, messages) => {
  expect(() => buildRequest(testRequest({ messages }))).toThrow(
    /^Nothing to ask anthropic\/claude-test: .*some text\.$/,
  );
});

test("an image of a kind the API does not read is named instead of sent", () => {
  const messages: LlmMessage[] = [
    { role: "user", content: [image("AAAA", "image/svg+xml"), image("BBBB")], timestamp: 0 },
  ];
  expect(messagesOf(messages)).toEqual([
    {
      role: "user",
      content: [text("(image left out: image/svg+xml is none of JPEG, PNG, GIF and WebP)"), wireImage("BBBB")],
    },
  ]);
});

test("a failed tool may show an image, but is then not called failed", () => {
  const shown = result("x", { content: [text("no"), image("AAAA")], isError: true });
  expect(messagesOf([say("go"), answer([call("x")]), shown])).toMatchObject([
    {},
    {},
    { content: [{ type: "tool_result", tool_use_id: "x", content: [text("no"), wireImage("AAAA")] }] },
  ]);
  expect(JSON.stringify(messagesOf([say("go"), answer([call("x")]), shown]))).not.toContain("is_error");
});

test("a tool that is put into the same list goes with the next request", () => {
  const tool = (name: string) => ({ name, description: "", parameters: { type: "object" } });
  const tools = [tool("ls")];
  const model = testModel();
  bodyOf({ tools, model });
  tools.push(tool("read"));
  expect(bodyOf({ tools, model }).tools).toMatchObject([{ name: "ls" }, { name: "read" }]);
});

test("names of tools: those of this request as they are, others made harmless", () => {
  const tools = [{ name: "my.tool", description: "", parameters: { type: "object" } }];
  const history = [say("go"), answer([call("a", "my.tool"), call("b", "repo.read"), call("c", "")])];
  expect(messagesOf(history, { tools })).toMatchObject([
    {},
    { content: [{ name: "my.tool" }, { name: "repo_read" }, { name: "unknown" }] },
    {},
  ]);
});

test("arguments come as they are written where that is wanted", () => {
  const tools = [{ name: "ls", description: "Lists", parameters: { type: "object" } }];
  const model = testModel({ compat: { eagerInputStreaming: true } });
  expect(bodyOf({ tools, model }).tools).toMatchObject([{ eager_input_streaming: true }]);
});

test.each([
  ["https://api.anthropic.com", "https://api.anthropic.com/v1/messages"],
  ["http://127.0.0.1:8080/", "http://127.0.0.1:8080/v1/messages"],
  ["http://127.0.0.1:8080/v1", "http://127.0.0.1:8080/v1/messages"],
  ["https://proxy/anthropic/v1/", "https://proxy/anthropic/v1/messages"],
])("base URL %s", (baseUrl, url) => {
  expect(messagesUrl(baseUrl)).toBe(url);
});

test.each([
  ["nothing to think", testModel(), "off", 1],
  ["a budget has to fit in", testModel({ reasoning: true }), "low", 4097],
  ["a model that decides for itself", testModel({ reasoning: true, compat: { thinking: "adaptive" } }), "high", 1],
] as const)(
  "where no answer is wanted, only the limit is another one: %s",
  (_what, model, thinkingLevel, max_tokens) => {
    const asked = { model, thinkingLevel, systemPrompt: "Be brief." };
    expect(bodyOf({ ...asked, wantsNoAnswer: true })).toEqual({ ...bodyOf(asked), max_tokens });
  },
);
