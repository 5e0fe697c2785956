import type { LlmMessage } from "@tiller/protocol/message";
import type { Model, ThinkingLevel } from "@tiller/protocol/model";
import { describe, expect, test } from "vitest";
import { answer, testModel, testRequest } from "../../testing.ts";
import { HISTORIES } from "../test-histories.ts";
import { callOptions } from "./call-options.ts";
import type { CallOptions, LanguageModel, PromptPart, SpecVersion } from "./spec.ts";

const author = { api: "ai-sdk", provider: "bedrock", model: "model-1" };

function bridged(fields: Partial<Model> = {}): Model {
  return testModel({ id: author.model, api: author.api, provider: author.provider, baseUrl: "", ...fields });
}

function optionsOf(
  fields: Parameters<typeof testRequest>[0],
  version: SpecVersion = "v3",
  provider = "amazon-bedrock",
): CallOptions {
  const target: LanguageModel = { specificationVersion: version, provider, doStream: () => Promise.reject() };
  const request = testRequest({ model: bridged(), cacheRetention: "none", ...fields });
  return callOptions(request, target, new AbortController().signal);
}

const conversation: LlmMessage[] = [
  {
    role: "user",
    content: [
      { type: "text", text: "What is this?" },
      { type: "image", data: "AAAA", mimeType: "image/png" },
      { type: "text", text: " " },
    ],
    timestamp: 1,
  },
  answer(
    [
      { type: "thinking", thinking: "Look first", thinkingSignature: '{"bedrock":{"signature":"c2ln"}}' },
      { type: "thinking", thinking: "Unsigned" },
      { type: "text", text: "Reading.", textSignature: '{"bedrock":{"itemId":"1"}}' },
      { type: "toolCall", id: "c1", name: "read", arguments: { path: "a" }, thoughtSignature: "not JSON" },
      { type: "toolCall", id: "c2", name: "ls", arguments: {} },
    ],
    author,
  ),
  {
    role: "toolResult",
    toolCallId: "c1",
    toolName: "read",
    content: [
      { type: "text", text: "a picture" },
      { type: "image", data: "BBBB", mimeType: "image/jpeg" },
    ],
    isError: false,
    timestamp: 2,
  },
  { role: "toolResult", toolCallId: "c2", toolName: "ls", content: [], isError: true, timestamp: 3 },
  { role: "user", content: "And now?", timestamp: 4 },
];

test("a whole conversation for a model of version 3", () => {
  const { prompt, tools, maxOutputTokens } = optionsOf({
    systemPrompt: "Be brief.",
    messages: conversation,
    tools: [{ name: "ls", description: "Lists", parameters: { type: "object" } }],
  });
  expect(maxOutputTokens).toBe(32_000);
  expect(tools).toEqual([{ type: "function", name: "ls", description: "Lists", inputSchema: { type: "object" } }]);
  expect(prompt).toEqual([
    { role: "system", content: "Be brief." },
    {
      role: "user",
      content: [
        { type: "text", text: "What is this?" },
        { type: "file", data: "AAAA", mediaType: "image/png" },
      ],
    },
    {
      role: "assistant",
      content: [
        { type: "reasoning", text: "Look first", providerOptions: { bedrock: { signature: "c2ln" } } },
        { type: "reasoning", text: "Unsigned" },
        { type: "text", text: "Reading.", providerOptions: { bedrock: { itemId: "1" } } },
        { type: "tool-call", toolCallId: "c1", toolName: "read", input: { path: "a" } },
        { type: "tool-call", toolCallId: "c2", toolName: "ls", input: {} },
      ],
    },
    {
      role: "tool",
      content: [
        {
          type: "tool-result",
          toolCallId: "c1",
          toolName: "read",
          output: {
            type: "content",
            value: [
              { type: "text", text: "a picture" },
              { type: "image-data", data: "BBBB", mediaType: "image/jpeg" },
            ],
          },
        },
        { type: "tool-result", toolCallId: "c2", toolName: "ls", output: { type: "error-text", value: "(no output)" } },
      ],
    },
    { role: "user", content: [{ type: "text", text: "And now?" }] },
  ]);
});

test.each<[version: SpecVersion, data: unknown, inResult: unknown]>([
  ["v2", "AAAA", { type: "media", data: "BBBB", mediaType: "image/jpeg" }],
  ["v3", "AAAA", { type: "image-data", data: "BBBB", mediaType: "image/jpeg" }],
  [
    "v4",
    { type: "data", data: "AAAA" },
    { type: "file", data: { type: "data", data: "BBBB" }, mediaType: "image/jpeg" },
  ],
])("images in the words of version %s", (version, data, inResult) => {
  const { prompt } = optionsOf({ messages: conversation }, version);
  expect(prompt[0]?.content[1]).toEqual({ type: "file", data, mediaType: "image/png" });
  const result = prompt[2]?.content[0] as PromptPart;
  expect(result.output?.value).toEqual([{ type: "text", text: "a picture" }, inResult]);
});

test.each<[provider: string, told: boolean | undefined, inside: boolean]>([
  ["acme.chat", undefined, false],
  ["acme.chat", true, true],
  ["google.vertex.chat", undefined, true],
  ["openai.responses", undefined, true],
  ["openai.responses", false, false],
])("images in results for %s (told: %s) stand inside: %s", (provider, imagesInToolResults, inside) => {
  const model = bridged(imagesInToolResults === undefined ? {} : { compat: { imagesInToolResults } });
  const { prompt } = optionsOf({ model, messages: conversation }, "v3", provider);
  const result = prompt[2]?.content[0] as PromptPart;
  expect(result.output?.type).toBe(inside ? "content" : "text");
  const after = prompt[3]?.content as PromptPart[];
  expect(after.map((part) => part.type)).toEqual(inside ? ["text"] : ["text", "file", "text"]);
});

test.each(Object.entries(HISTORIES))("a conversation by %s is valid", (_name, messages) => {
  const { prompt } = optionsOf({ messages: [...messages] });
  expect(prompt[0]?.role).toBe("user");
  prompt.forEach((message, i) => {
    const parts = message.content as PromptPart[];
    const calls = parts.flatMap((part) => (part.type === "tool-call" ? [part.toolCallId] : []));
    if (calls.length === 0) return;
    const results = prompt[i + 1]?.content as PromptPart[];
    expect(prompt[i + 1]?.role).toBe("tool");
    expect(results.map((part) => part.toolCallId)).toEqual(calls);
    expect(calls.every((id) => /^[\w-]{1,64}$/.test(id ?? ""))).toBe(true);
  });
});

describe("thinking", () => {
  const words: [level: ThinkingLevel, word: string][] = [
    ["off", "none"],
    ["low", "low"],
    ["xhigh", "max"],
  ];
  test.each(words)("version 4 has a word for level %s", (thinkingLevel, reasoning) => {
    const model = bridged({ reasoning: true, thinkingLevelMap: { xhigh: "max" } });
    expect(optionsOf({ model, thinkingLevel }, "v4").reasoning).toBe(reasoning);
    expect(optionsOf({ model, thinkingLevel }, "v3")).not.toHaveProperty("reasoning");
    expect(optionsOf({ thinkingLevel }, "v4")).not.toHaveProperty("reasoning");
  });

  test("the vendor's own options, by level and for every request", () => {
    const providerOptions = {
      openai: { store: false, effort: "none" },
      high: { openai: { effort: "high" }, anthropic: { thinking: { type: "enabled" } } },
    };
    const model = bridged({ reasoning: true, compat: { providerOptions } });
    expect(optionsOf({ model, thinkingLevel: "high" }).providerOptions).toEqual({
      openai: { store: false, effort: "high" },
      anthropic: { thinking: { type: "enabled" } },
    });
    expect(optionsOf({ model, thinkingLevel: "low" }).providerOptions).toEqual({
      openai: { store: false, effort: "none" },
    });
    expect(optionsOf({ thinkingLevel: "low" })).not.toHaveProperty("providerOptions");
  });
});

test("the system prompt and the end are marked for the cache, unless nobody wants it", () => {
  const marked = optionsOf({ systemPrompt: "Be brief.", messages: conversation, cacheRetention: "short" }).prompt;
  const mark = { anthropic: { cacheControl: { type: "ephemeral" } } };
  expect(marked.map((message) => message.providerOptions)).toEqual([mark, undefined, undefined, undefined, mark]);
  const cacheOptions = { bedrock: { cachePoint: { type: "default" } } };
  const own = optionsOf({ model: bridged({ compat: { cacheOptions } }), cacheRetention: "long" }).prompt;
  expect(own.map((message) => message.providerOptions)).toEqual([undefined]);
  const told = optionsOf({
    systemPrompt: "Be brief.",
    model: bridged({ compat: { cacheOptions } }),
    cacheRetention: "long",
  });
  expect(told.prompt[1]?.providerOptions).toEqual(cacheOptions);
});
