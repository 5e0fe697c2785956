import type { ThinkingLevel } from "@tiller/protocol/model";
import { describe, expect, test } from "vitest";
import type { ModelRequest } from "../../provider.ts";
import { answer, testModel, testRequest } from "../../testing.ts";
import { bodyText } from "../test-histories.ts";
import { compatOf } from "./compat.ts";
import { buildRequest, chatUrl } from "./request.ts";

const chatModel = (fields: Parameters<typeof testModel>[0] = {}) =>
  testModel({
    id: "gpt-test",
    name: "GPT Test",
    api: "openai-completions",
    provider: "openai",
    baseUrl: "https://api.openai.com/v1",
    contextWindow: 128_000,
    maxTokens: 16_384,
    ...fields,
  });

const bodyOf = (fields: Partial<ModelRequest>) =>
  JSON.parse(bodyText(buildRequest(testRequest({ model: chatModel(), ...fields })).body)) as Record<string, unknown>;
const messagesOf = (fields: Partial<ModelRequest>) => bodyOf(fields).messages as Record<string, unknown>[];

/** The whole request, as it would go out. */
function golden(fields: Partial<ModelRequest>) {
  const { url, headers, body } = buildRequest(testRequest(fields));
  return { url, headers, body: JSON.parse(bodyText(body)) as unknown };
}

const tools = [{ name: "read", description: "Reads", parameters: { type: "object" } }];
const pixel = { type: "image" as const, data: "AAAA", mimeType: "image/png" };
const call = (id: string, args = {}) => ({ type: "toolCall" as const, id, name: "read", arguments: args });
const result = (toolCallId: string, content: (typeof pixel | { type: "text"; text: string })[], isError = false) => ({
  role: "toolResult" as const,
  toolCallId,
  toolName: "read",
  content,
  isError,
  timestamp: 0,
});
const user = (content: string) => ({ role: "user" as const, content, timestamp: 0 });
const words = (text: string) => ({ type: "text" as const, text });

describe("golden requests", () => {
  test("OpenAI, plain", () => {
    expect(
      golden({
        model: chatModel(),
        systemPrompt: "Be brief.",
        apiKey: "sk-1",
        sessionId: "session-1",
        headers: { "X-Team": "blue" },
      }),
    ).toEqual({
      url: "https://api.openai.com/v1/chat/completions",
      headers: { authorization: "Bearer sk-1", "x-team": "blue" },
      body: {
        model: "gpt-test",
        stream: true,
        stream_options: { include_usage: true },
        max_completion_tokens: 16_384,
        store: false,
        prompt_cache_key: "session-1",
        messages: [
          { role: "system", content: "Be brief." },
          { role: "user", content: "Hello" },
        ],
      },
    });
  });

  test("OpenAI, a reasoning model", () => {
    const model = chatModel({ reasoning: true, maxTokens: 128_000, contextWindow: 400_000 });
    expect(golden({ model, systemPrompt: "Be brief.", thinkingLevel: "minimal" }).body).toEqual({
      model: "gpt-test",
      stream: true,
      stream_options: { include_usage: true },
      max_completion_tokens: 32_000,
      reasoning_effort: "minimal",
      store: false,
      messages: [
        { role: "developer", content: "Be brief." },
        { role: "user", content: "Hello" },
      ],
    });
  });

  test("OpenAI, with tools, images and results", () => {
    const long = `call_${"x".repeat(60)}`;
    const { body } = golden({
      model: chatModel(),
      tools,
      messages: [
        { role: "user", content: [words("What is this?"), pixel, words(" ")], timestamp: 0 },
        answer([words("Reading."), call("call_1|fc_9", { path: "a" }), call(long)]),
        result("call_1|fc_9", [words("one"), pixel]),
        result(long, [], true),
        answer([call("call_3")]),
        result("call_3", [pixel]),
        { role: "user", content: [words("And"), words("now?")], timestamp: 0 },
      ],
    });
    const { messages, tools: sent } = body as { messages: Record<string, unknown>[]; tools: unknown };
    expect(sent).toEqual([
      {
        type: "function",
        function: { name: "read", description: "Reads", parameters: { type: "object" }, strict: false },
      },
    ]);
    const longId = (messages[1]!.tool_calls as { id: string }[])[1]!.id;
    expect(longId).toMatch(/^call_x+_\w{7}$/);
    expect(longId).toHaveLength(40);
    const image_url = { url: "data:image/png;base64,AAAA" };
    const fn = (args: string) => ({ name: "read", arguments: args });
    expect(messages).toEqual([
      {
        role: "user",
        content: [
          { type: "text", text: "What is this?" },
          { type: "image_url", image_url },
        ],
      },
      {
        role: "assistant",
        content: "Reading.",
        tool_calls: [
          { id: "call_1", type: "function", function: fn('{"path":"a"}') },
          { id: longId, type: "function", function: fn("{}") },
        ],
      },
      { role: "tool", tool_call_id: "call_1", content: "one" },
      { role: "tool", tool_call_id: longId, content: "Error: (no output)" },
      {
        role: "user",
        content: [
          { type: "text", text: "Images from the tool results above:" },
          { type: "image_url", image_url },
        ],
      },
      { role: "assistant", content: null, tool_calls: [{ id: "call_3", type: "function", function: fn("{}") }] },
      { role: "tool", tool_call_id: "call_3", content: "(image: see the next message)" },
      {
        role: "user",
        content: [
          { type: "text", text: "Images from the tool results above:" },
          { type: "image_url", image_url },
          { type: "text", text: "And\nnow?" },
        ],
      },
    ]);
  });

  test("DeepSeek gets its thinking back, and a blank where another model answered", () => {
    const author = { api: "openai-completions", provider: "deepseek", model: "deepseek-v4" };
    const model = chatModel({
      id: "deepseek-v4",
      provider: "deepseek",
      baseUrl: "https://api.deepseek.com",
      reasoning: true,
    });
    expect(
      golden({
        model,
        apiKey: "k",
        thinkingLevel: "medium",
        tools,
        messages: [
          user("Go"),
          answer([{ type: "thinking", thinking: "foreign", thinkingSignature: "sig" }, call("toolu_1")]),
          result("toolu_1", [words("error: none")], true),
          answer([{ type: "thinking", thinking: "own", thinkingSignature: "reasoning_content" }, call("c2")], author),
          result("c2", [words("two")]),
        ],
      }),
    ).toEqual({
      url: "https://api.deepseek.com/v1/chat/completions",
      headers: { authorization: "Bearer k" },
      body: {
        model: "deepseek-v4",
        stream: true,
        stream_options: { include_usage: true },
        max_tokens: 16_384,
        thinking: { type: "enabled" },
        reasoning_effort: "high",
        tools: [{ type: "function", function: { name: "read", description: "Reads", parameters: { type: "object" } } }],
        messages: [
          { role: "user", content: "Go" },
          {
            role: "assistant",
            content: "foreign",
            reasoning_content: " ",
            tool_calls: [{ id: "toolu_1", type: "function", function: { name: "read", arguments: "{}" } }],
          },
          { role: "tool", tool_call_id: "toolu_1", content: "error: none" },
          {
            role: "assistant",
            content: null,
            reasoning_content: "own",
            tool_calls: [{ id: "c2", type: "function", function: { name: "read", arguments: "{}" } }],
          },
          { role: "tool", tool_call_id: "c2", content: "two" },
        ],
      },
    });
  });

  test("Mistral: ids of nine letters and digits, names of tools, an answer before the user speaks again", () => {
    const model = chatModel({
      id: "mistral-small-latest",
      provider: "mistral",
      baseUrl: "https://api.mistral.ai/v1",
      reasoning: true,
    });
    const own = { api: model.api, provider: model.provider, model: model.id };
    const request = golden({
      model,
      apiKey: "k",
      thinkingLevel: "low",
      messages: [
        user("Go"),
        answer([call("call_1|fc_1"), call("toolu_01"), call("abcDEF123")]),
        result("call_1|fc_1", [words("1")]),
        result("toolu_01", [words("2")]),
        result("abcDEF123", [words("3")]),
        user("More"),
        answer([{ type: "thinking", thinking: "hm", thinkingSignature: "thinking" }, words("Yes.")], own),
        user("Go on"),
      ],
    });
    const { messages, ...body } = request.body as { messages: Record<string, unknown>[] };
    expect({ ...request, body }).toEqual({
      url: "https://api.mistral.ai/v1/chat/completions",
      headers: { authorization: "Bearer k" },
      body: { model: model.id, stream: true, max_tokens: 16_384, reasoning_effort: "high" },
    });
    const ids = (messages[1]!.tool_calls as { id: string }[]).map(({ id }) => id);
    expect(ids[2]).toBe("abcDEF123");
    expect(new Set(ids).size).toBe(3);
    for (const id of ids) expect(id).toMatch(/^[a-zA-Z0-9]{9}$/);
    expect(messages.slice(2)).toEqual([
      { role: "tool", tool_call_id: ids[0], name: "read", content: "1" },
      { role: "tool", tool_call_id: ids[1], name: "read", content: "2" },
      { role: "tool", tool_call_id: ids[2], name: "read", content: "3" },
      { role: "assistant", content: "I have read the tool results." },
      { role: "user", content: "More" },
      {
        role: "assistant",
        content: [
          { type: "thinking", thinking: [{ type: "text", text: "hm" }] },
          { type: "text", text: "Yes." },
        ],
      },
      { role: "user", content: "Go on" },
    ]);
  });

  test("OpenRouter with a model of Anthropic: cache marks, routing, details of the thinking", () => {
    const model = chatModel({
      id: "anthropic/claude-test",
      provider: "openrouter",
      baseUrl: "https://openrouter.ai/api/v1",
      reasoning: true,
      compat: { openRouterRouting: { order: ["anthropic"] } },
    });
    const details = [
      { type: "reasoning.text", text: "hm", signature: "sig", index: 0 },
      { type: "reasoning.encrypted", data: "b3Bh", index: 1 },
    ];
    const own = { api: model.api, provider: model.provider, model: model.id };
    const thinking = (list: unknown[], redacted = false) => ({
      type: "thinking" as const,
      thinking: "hm",
      thinkingSignature: JSON.stringify(list),
      ...(redacted ? { redacted } : {}),
    });
    expect(
      golden({
        model,
        apiKey: "k",
        headers: { "HTTP-Referer": "https://example.com" },
        systemPrompt: "Be brief.",
        thinkingLevel: "high",
        messages: [
          user("Go"),
          answer([thinking(details.slice(0, 1)), call("toolu_1"), thinking(details.slice(1), true)], own),
          result("toolu_1", [words("one")]),
        ],
      }),
    ).toEqual({
      url: "https://openrouter.ai/api/v1/chat/completions",
      headers: { authorization: "Bearer k", "http-referer": "https://example.com" },
      body: {
        model: "anthropic/claude-test",
        stream: true,
        stream_options: { include_usage: true },
        max_tokens: 16_384,
        reasoning: { effort: "high" },
        provider: { order: ["anthropic"] },
        messages: [
          { role: "system", content: [{ type: "text", text: "Be brief.", cache_control: { type: "ephemeral" } }] },
          { role: "user", content: "Go" },
          {
            role: "assistant",
            content: null,
            reasoning_details: details,
            tool_calls: [{ id: "toolu_1", type: "function", function: { name: "read", arguments: "{}" } }],
          },
          {
            role: "tool",
            tool_call_id: "toolu_1",
            content: [{ type: "text", text: "one", cache_control: { type: "ephemeral" } }],
          },
        ],
      },
    });
  });

  test("Ollama: no key, no limit, thinking can be turned off", () => {
    const model = chatModel({ id: "qwen3", provider: "ollama", baseUrl: "http://127.0.0.1:11434", reasoning: true });
    expect(golden({ model })).toEqual({
      url: "http://127.0.0.1:11434/v1/chat/completions",
      headers: {},
      body: {
        model: "qwen3",
        stream: true,
        stream_options: { include_usage: true },
        reasoning_effort: "none",
        messages: [{ role: "user", content: "Hello" }],
      },
    });
  });

  test("Azure, with a deployment and a version", () => {
    const model = chatModel({
      provider: "azure-openai",
      baseUrl: "https://mine.openai.azure.com/openai/deployments/gpt-test",
      compat: { apiVersion: "2024-10-21" },
    });
    expect(golden({ model, apiKey: "k", sessionId: "s" })).toEqual({
      url: "https://mine.openai.azure.com/openai/deployments/gpt-test/chat/completions?api-version=2024-10-21",
      headers: { "api-key": "k" },
      body: {
        model: "gpt-test",
        stream: true,
        stream_options: { include_usage: true },
        max_completion_tokens: 16_384,
        messages: [{ role: "user", content: "Hello" }],
      },
    });
  });
});

test.each([
  ["https://api.openai.com/v1", "https://api.openai.com/v1/chat/completions"],
  ["https://api.openai.com/v1/", "https://api.openai.com/v1/chat/completions"],
  ["http://127.0.0.1:8080", "http://127.0.0.1:8080/v1/chat/completions"],
  ["http://127.0.0.1:8080/", "http://127.0.0.1:8080/v1/chat/completions"],
  ["https://mine.openai.azure.com", "https://mine.openai.azure.com/openai/v1/chat/completions"],
  ["https://models.github.ai/inference", "https://models.github.ai/inference/chat/completions"],
  ["https://proxy/chat/completions", "https://proxy/chat/completions"],
  ["https://proxy/api?team=blue", "https://proxy/api/chat/completions?team=blue"],
])("base URL %s", (baseUrl, url) => {
  const model = chatModel({ baseUrl, provider: "custom" });
  expect(chatUrl(model, compatOf(model))).toBe(url);
});

test("a server whose API lies at its root", () => {
  const model = chatModel({ baseUrl: "https://proxy.example", provider: "custom", compat: { rootPath: "" } });
  expect(chatUrl(model, compatOf(model))).toBe("https://proxy.example/chat/completions");
});

test("a base URL that is none is told", () => {
  expect(() => buildRequest(testRequest({ model: chatModel({ baseUrl: "localhost" }) }))).toThrow(
    'The base URL "localhost" of openai/gpt-test is not a URL',
  );
});

test("headers of the request win", () => {
  const { headers } = buildRequest(
    testRequest({ model: chatModel(), apiKey: "k", headers: { Authorization: "Basic abc" } }),
  );
  expect(headers).toEqual({ authorization: "Basic abc" });
});

test.each<[story: string, request: Partial<ModelRequest>, limit: Record<string, number>]>([
  ["Groq, which counts it against the minute", { model: chatModel({ baseUrl: "https://api.groq.com/openai/v1" }) }, {}],
  ["Cerebras likewise", { model: chatModel({ baseUrl: "https://api.cerebras.ai/v1" }) }, {}],
  [
    "Groq, when it is asked for",
    { maxTokens: 500, model: chatModel({ baseUrl: "https://api.groq.com/openai/v1" }) },
    { max_completion_tokens: 500 },
  ],
  ["what was asked", { maxTokens: 500 }, { max_completion_tokens: 500 }],
  ["never more than the model has", { maxTokens: 99_999 }, { max_completion_tokens: 16_384 }],
  [
    "half of a small context",
    { model: chatModel({ provider: "custom", baseUrl: "http://box:1/v1", contextWindow: 8192, maxTokens: 8192 }) },
    { max_tokens: 4096 },
  ],
  ["a local server limits itself", { model: chatModel({ provider: "vllm", baseUrl: "http://box:1/v1" }) }, {}],
  [
    "but does what it is told",
    { model: chatModel({ provider: "vllm", baseUrl: "http://box:1/v1" }), maxTokens: 100 },
    { max_tokens: 100 },
  ],
])("length of the answer: %s", (_story, request, limit) => {
  const { max_tokens, max_completion_tokens } = bodyOf(request);
  expect(JSON.parse(JSON.stringify({ max_tokens, max_completion_tokens }))).toEqual(limit);
});

const THINKING_KEYS = ["reasoning_effort", "reasoning", "thinking", "enable_thinking", "chat_template_kwargs"];

function thinkingOf(fields: Parameters<typeof testModel>[0], thinkingLevel: ThinkingLevel): Record<string, unknown> {
  const model = chatModel({ reasoning: true, provider: "custom", baseUrl: "http://box/v1", ...fields });
  const body = bodyOf({ model, thinkingLevel });
  return Object.fromEntries(Object.entries(body).filter(([key]) => THINKING_KEYS.includes(key)));
}

test.each<[story: string, model: Parameters<typeof testModel>[0], level: ThinkingLevel, sent: Record<string, unknown>]>(
  [
    ["a model that does not reason", { reasoning: false }, "high", {}],
    ["an effort", {}, "high", { reasoning_effort: "high" }],
    ["a level few servers know", {}, "minimal", { reasoning_effort: "low" }],
    ["off, where no word is known", {}, "off", {}],
    [
      "the words of the model",
      { thinkingLevelMap: { off: "none", xhigh: "max" } },
      "off",
      { reasoning_effort: "none" },
    ],
    ["the words of the model", { thinkingLevelMap: { xhigh: "max" } }, "xhigh", { reasoning_effort: "max" }],
    ["no efforts", { compat: { supportsReasoningEffort: false } }, "high", {}],
    ["words in the settings", { compat: { reasoningEffortMap: { low: "tiny" } } }, "low", { reasoning_effort: "tiny" }],
    ["OpenRouter", { compat: { thinkingFormat: "openrouter" } }, "low", { reasoning: { effort: "low" } }],
    [
      "OpenRouter, off",
      { provider: "openrouter", baseUrl: "https://openrouter.ai/api/v1" },
      "off",
      { reasoning: { effort: "none" } },
    ],
    [
      "OpenRouter, off, a model that cannot stop",
      { baseUrl: "https://openrouter.ai/api/v1", thinkingLevelMap: { off: null } },
      "off",
      {},
    ],
    [
      "Vercel, off",
      { provider: "vercel-ai-gateway", compat: { thinkingFormat: "openrouter" } },
      "off",
      { reasoning: { enabled: false } },
    ],
    ["Fireworks, off", { baseUrl: "https://api.fireworks.ai/inference/v1" }, "off", { reasoning_effort: "none" }],
    ["Fireworks", { baseUrl: "https://api.fireworks.ai/inference/v1" }, "minimal", { reasoning_effort: "low" }],
    [
      "OpenRouter without efforts",
      { compat: { thinkingFormat: "openrouter", supportsReasoningEffort: false } },
      "low",
      { reasoning: { enabled: true } },
    ],
    [
      "DeepSeek",
      { compat: { thinkingFormat: "deepseek" } },
      "high",
      { thinking: { type: "enabled" }, reasoning_effort: "high" },
    ],
    ["DeepSeek, off", { compat: { thinkingFormat: "deepseek" } }, "off", { thinking: { type: "disabled" } }],
    ["cannot be turned off", { compat: { thinkingFormat: "deepseek" }, thinkingLevelMap: { off: null } }, "off", {}],
    ["Z.ai", { baseUrl: "https://api.z.ai/api/paas/v4" }, "low", { thinking: { type: "enabled" } }],
    ["Qwen", { compat: { thinkingFormat: "qwen" } }, "low", { enable_thinking: true }],
    ["Qwen, off", { compat: { thinkingFormat: "qwen" } }, "off", { enable_thinking: false }],
    [
      "Qwen behind a template",
      { compat: { thinkingFormat: "qwen-chat-template" } },
      "off",
      { chat_template_kwargs: { enable_thinking: false } },
    ],
    [
      "Together",
      { compat: { thinkingFormat: "together" } },
      "high",
      { reasoning: { enabled: true }, reasoning_effort: "high" },
    ],
    ["Qwen at Groq", { id: "qwen/qwen3-32b", provider: "groq" }, "high", { reasoning_effort: "default" }],
    ["Qwen at Groq, off", { id: "qwen/qwen3-32b", provider: "groq" }, "off", { reasoning_effort: "none" }],
    ["an old Grok", { id: "grok-4", provider: "xai" }, "high", {}],
    ["a new Grok", { id: "grok-4.3", provider: "xai" }, "high", { reasoning_effort: "high" }],
  ],
)("thinking: %s at level %s", (_story, model, level, sent) => {
  expect(thinkingOf(model, level)).toEqual(sent);
});

describe("compat", () => {
  test("the host tells more than the id, and what is written wins over both", () => {
    const odd = chatModel({ provider: "deepseek", baseUrl: "https://openrouter.ai/api/v1" });
    expect(compatOf(odd).thinkingFormat).toBe("openrouter");
    expect(compatOf({ ...odd, baseUrl: "http://127.0.0.1:1/v1" }).thinkingFormat).toBe("deepseek");
    expect(compatOf({ ...odd, compat: { thinkingFormat: "qwen" } }).thinkingFormat).toBe("qwen");
    expect(compatOf(chatModel({ provider: "mine", baseUrl: "https://notopenai.com/v1" })).supportsStore).toBe(false);
    expect(compatOf(chatModel({ provider: "mine", baseUrl: "https://eu.api.openai.com/v1" })).supportsStore).toBe(true);
  });

  test("everything that can be written is done", () => {
    const compat = {
      supportsStore: false,
      supportsDeveloperRole: false,
      supportsUsageInStreaming: false,
      supportsStrictMode: false,
      supportsPromptCacheKey: false,
      maxTokensField: "max_tokens",
      thinking: "adaptive",
      requiresThinkingAsText: true,
    };
    const model = chatModel({ reasoning: true, compat });
    const own = { api: model.api, provider: model.provider, model: model.id };
    const body = bodyOf({
      model,
      tools,
      systemPrompt: "S",
      sessionId: "s",
      messages: [
        user("Go"),
        answer([{ type: "thinking", thinking: "hm", thinkingSignature: "reasoning" }, words("Yes")], own),
      ],
    });
    expect(body).toEqual({
      model: "gpt-test",
      stream: true,
      max_tokens: 16_384,
      tools: [{ type: "function", function: { name: "read", description: "Reads", parameters: { type: "object" } } }],
      messages: [
        { role: "system", content: "S" },
        { role: "user", content: "Go" },
        { role: "assistant", content: "hm\n\nYes" },
      ],
    });
  });

  test.each([
    [
      "thinkingFormat",
      "telepathy",
      'compat.thinkingFormat of openai/gpt-test is "telepathy"; it can be openai, openrou',
    ],
    ["supportsStore", "yes", 'compat.supportsStore of openai/gpt-test is "yes"; it must be true or false'],
    ["openRouterRouting", [], "compat.openRouterRouting of openai/gpt-test is []; it must be an object"],
  ])("a value that makes no sense: %s", (key, value, message) => {
    expect(() => compatOf(chatModel({ compat: { [key]: value } }))).toThrow(message);
  });

  test("Cerebras does not get its thinking back, others in the field it came in", () => {
    const sent = (provider: string) => {
      const model = chatModel({ provider, baseUrl: "http://box/v1", reasoning: true });
      const own = { api: model.api, provider, model: model.id };
      const thinking = { type: "thinking" as const, thinking: "hm", thinkingSignature: "reasoning" };
      return messagesOf({ model, messages: [user("Go"), answer([thinking, words("Yes")], own)] })[1];
    };
    expect(sent("cerebras")).toEqual({ role: "assistant", content: "Yes" });
    expect(sent("groq")).toEqual({ role: "assistant", content: "Yes", reasoning: "hm" });
  });
});

describe("prompt cache", () => {
  const anthropic = chatModel({ provider: "openrouter", id: "anthropic/x", baseUrl: "https://openrouter.ai/api/v1" });

  test("kept for an hour when asked", () => {
    const [message] = messagesOf({ model: anthropic, cacheRetention: "long" });
    expect(message?.content).toEqual([
      { type: "text", text: "Hello", cache_control: { type: "ephemeral", ttl: "1h" } },
    ]);
  });

  test("nothing of it when not wanted", () => {
    expect(messagesOf({ model: anthropic, cacheRetention: "none" })[0]?.content).toBe("Hello");
    expect(bodyOf({ sessionId: "s", cacheRetention: "none" })).not.toHaveProperty("prompt_cache_key");
  });
});

test("an answer of thoughts alone is not sent", () => {
  const model = chatModel({ reasoning: true });
  const own = { api: model.api, provider: model.provider, model: model.id };
  const thinking = { type: "thinking" as const, thinking: "hm", thinkingSignature: "reasoning" };
  expect(messagesOf({ model, messages: [user("Go"), answer([thinking], own), user("?")] })).toEqual([
    { role: "user", content: "Go\n\n?" },
  ]);
});
