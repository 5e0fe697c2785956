import type { LlmMessage } from "@tiller/protocol/message";
import type { Model, ThinkingLevel } from "@tiller/protocol/model";
import { expect, test } from "vitest";
import { answer, testModel, testRequest } from "../../testing.ts";
import { bodyText, GOOGLE_AUTHOR, GOOGLE_HISTORY, HISTORIES } from "../test-histories.ts";
import type { Content, Part } from "./contents.ts";
import { buildRequest, streamUrl } from "./request.ts";

const author = { api: "google-generative-ai", provider: "google", model: "gemini-2.5-flash" };

function gemini(fields: Partial<Model> = {}): Model {
  const { model: id, ...rest } = author;
  return testModel({ id, ...rest, baseUrl: "https://generativelanguage.googleapis.com/v1beta", ...fields });
}

interface Body {
  contents: Content[];
  tools?: unknown;
  generationConfig: { maxOutputTokens: number; thinkingConfig?: unknown };
}

function bodyOf(fields: Parameters<typeof testRequest>[0]): Body {
  return JSON.parse(bodyText(buildRequest(testRequest({ model: gemini(), ...fields })).body)) as Body;
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
      { type: "thinking", thinking: "Look first" },
      { type: "thinking", thinking: "Signed", thinkingSignature: "c2lnMQ==" },
      { type: "text", text: "Reading.", textSignature: "c2lnMg==" },
      { type: "toolCall", id: "r1_0", name: "read", arguments: { path: "a" }, thoughtSignature: "c2lnMw==" },
      { type: "toolCall", id: "r1_1", name: "ls", arguments: {} },
    ],
    author,
  ),
  {
    role: "toolResult",
    toolCallId: "r1_0",
    toolName: "read",
    content: [
      { type: "text", text: "a picture" },
      { type: "image", data: "BBBB", mimeType: "image/jpeg" },
    ],
    isError: false,
    timestamp: 2,
  },
  {
    role: "toolResult",
    toolCallId: "r1_1",
    toolName: "ls",
    content: [{ type: "text", text: "no such folder" }],
    isError: true,
    timestamp: 3,
  },
  { role: "user", content: "And now?", timestamp: 4 },
];

test("a whole conversation with a model of the second generation", () => {
  const call = buildRequest(
    testRequest({
      model: gemini(),
      systemPrompt: "Be brief.",
      apiKey: "key-1",
      headers: { "X-Team": "blue" },
      tools: [
        {
          name: "read",
          description: "Reads",
          parameters: { type: "object", properties: { path: { type: "string" } } },
        },
      ],
      messages: conversation,
    }),
  );
  expect(call.url).toBe(
    "https://generativelanguage.googleapis.com/v1beta/models/gemini-2.5-flash:streamGenerateContent?alt=sse",
  );
  expect(call.headers).toEqual({ "x-goog-api-key": "key-1", "x-team": "blue" });
  expect(JSON.parse(bodyText(call.body))).toEqual({
    systemInstruction: { parts: [{ text: "Be brief." }] },
    contents: [
      {
        role: "user",
        parts: [{ text: "What is this?" }, { inlineData: { mimeType: "image/png", data: "AAAA" } }],
      },
      {
        role: "model",
        parts: [
          { text: "Signed", thought: true, thoughtSignature: "c2lnMQ==" },
          { text: "Reading.", thoughtSignature: "c2lnMg==" },
          { functionCall: { name: "read", args: { path: "a" } }, thoughtSignature: "c2lnMw==" },
          { functionCall: { name: "ls", args: {} } },
        ],
      },
      {
        role: "user",
        parts: [
          { functionResponse: { name: "read", response: { output: "a picture" } } },
          { functionResponse: { name: "ls", response: { error: "no such folder" } } },
          { text: "Images from the tool read:" },
          { inlineData: { mimeType: "image/jpeg", data: "BBBB" } },
          { text: "And now?" },
        ],
      },
    ],
    tools: [
      {
        functionDeclarations: [
          {
            name: "read",
            description: "Reads",
            parametersJsonSchema: { type: "object", properties: { path: { type: "string" } } },
          },
        ],
      },
    ],
    generationConfig: { maxOutputTokens: 32_000 },
  });
});

test("a model of the third generation gets ids, and images inside the results", () => {
  const model = gemini({ id: "gemini-3-flash-preview" });
  const own = conversation.map((message) => (message.role === "assistant" ? { ...message, model: model.id } : message));
  const { contents } = bodyOf({ model, messages: own });
  expect(contents[1]?.parts.slice(-2)).toEqual([
    { functionCall: { id: "r1_0", name: "read", args: { path: "a" } }, thoughtSignature: "c2lnMw==" },
    { functionCall: { id: "r1_1", name: "ls", args: {} } },
  ]);
  expect(contents[2]?.parts).toEqual([
    {
      functionResponse: {
        id: "r1_0",
        name: "read",
        response: { output: "a picture" },
        parts: [{ inlineData: { mimeType: "image/jpeg", data: "BBBB" } }],
      },
    },
    { functionResponse: { id: "r1_1", name: "ls", response: { error: "no such folder" } } },
    { text: "And now?" },
  ]);
});

test("a kind of image that results cannot hold comes after them", () => {
  const gif: LlmMessage[] = [
    answer([{ type: "toolCall", id: "c", name: "read", arguments: {} }], author),
    {
      role: "toolResult",
      toolCallId: "c",
      toolName: "read",
      content: [{ type: "image", data: "R0lG", mimeType: "image/gif" }],
      isError: false,
      timestamp: 1,
    },
  ];
  const { contents } = bodyOf({ model: gemini({ id: "gemini-3-flash-preview" }), messages: gif });
  expect(contents.at(-1)?.parts.map((part) => Object.keys(part)[0])).toEqual([
    "functionResponse",
    "text",
    "inlineData",
  ]);
  expect(contents.at(-1)?.parts[0]?.functionResponse?.response).toEqual({ output: "(see the image)" });
});

test("calls of another model: the documented word instead of a signature, on the first of a step, and no ids", () => {
  const foreign = conversation.map((message) =>
    message.role === "assistant" ? { ...message, api: "openai-responses", provider: "openai" } : message,
  );
  const third = bodyOf({ model: gemini({ id: "gemini-3.1-pro-preview" }), messages: foreign });
  expect(third.contents[1]?.parts).toEqual([
    { text: "Look first" },
    { text: "Signed" },
    { text: "Reading." },
    {
      functionCall: { name: "read", args: { path: "a" } },
      thoughtSignature: "skip_thought_signature_validator",
    },
    { functionCall: { name: "ls", args: {} } },
  ]);
  expect(third.contents[2]?.parts[0]?.functionResponse).not.toHaveProperty("id");
  const second = bodyOf({ messages: foreign });
  expect(second.contents[1]?.parts.at(-2)).toEqual({ functionCall: { name: "read", args: { path: "a" } } });
});

test("signatures come back on the part they came with, also on an empty one", () => {
  const { contents } = bodyOf({ model: gemini({ id: GOOGLE_AUTHOR.model }), messages: GOOGLE_HISTORY });
  const signatures = contents.flatMap(({ parts }) => parts.flatMap((part) => part.thoughtSignature ?? []));
  expect(signatures).toEqual(["Q2FsbFNpZ25hdHVyZQ==", "VGV4dFNpZ25hdHVyZQ==", "TGFzdFNpZ25hdHVyZQ=="]);
  expect(contents[3]?.parts.at(-1)).toEqual({ text: "", thoughtSignature: "TGFzdFNpZ25hdHVyZQ==" });
  expect(JSON.stringify(contents)).not.toContain("Two files.");
});

const stories = Object.entries(HISTORIES).flatMap(([name, messages]) =>
  ["gemini-2.5-pro", "gemini-3-flash-preview"].map((id) => [name, id, messages] as const),
);

test.each(stories)("a conversation by %s is valid for %s", (_name, id, messages) => {
  const { contents } = bodyOf({ model: gemini({ id }), messages: [...messages] });
  expect(contents[0]?.role).toBe("user");
  contents.forEach((content, i) => {
    expect(content.parts.length).toBeGreaterThan(0);
    if (i > 0) expect(content.role).not.toBe(contents[i - 1]?.role);
    for (const part of content.parts) expect(part.text !== "" || part.thoughtSignature !== undefined).toBe(true);
    const calls = content.parts.flatMap((part) => part.functionCall ?? []);
    if (calls.length === 0) return;
    // As many results as calls, in the same order, at the head of the next turn.
    const results = contents[i + 1]?.parts.slice(0, calls.length) ?? [];
    expect(results.map((part) => part.functionResponse?.name)).toEqual(calls.map((call) => call.name));
    expect(results.map((part) => part.functionResponse?.id)).toEqual(calls.map((call) => call.id));
    if (id.startsWith("gemini-3")) expect(firstCall(content.parts)?.thoughtSignature).toBeTruthy();
  });
});

function firstCall(parts: readonly Part[]): Part | undefined {
  return parts.find((part) => part.functionCall);
}

test("what is empty is left out", () => {
  expect(Object.keys(bodyOf({ systemPrompt: "  ", tools: [] }))).toEqual(["generationConfig", "contents"]);
  expect(buildRequest(testRequest({ model: gemini() })).headers).toEqual({});
});

test.each([
  ["", "gemini-2.5-pro", "https://generativelanguage.googleapis.com/v1beta/models/gemini-2.5-pro"],
  ["https://generativelanguage.googleapis.com", "g", "https://generativelanguage.googleapis.com/v1beta/models/g"],
  ["http://127.0.0.1:8080/", "g", "http://127.0.0.1:8080/v1beta/models/g"],
  ["https://proxy/gemini/v1/", "models/g", "https://proxy/gemini/v1/models/g"],
  ["https://proxy/v1beta", "tunedModels/mine", "https://proxy/v1beta/tunedModels/mine"],
  ["https://proxy/v1beta", "odd id?", "https://proxy/v1beta/models/odd%20id%3F"],
])("base URL %s, model %s", (baseUrl, id, url) => {
  expect(streamUrl(baseUrl, id)).toBe(`${url}:streamGenerateContent?alt=sse`);
});

test.each([
  ["https://proxy/v1beta?key=k", "https://proxy/v1beta/models/g:streamGenerateContent?alt=sse&key=k"],
  ["http://127.0.0.1:8080/?a=1&b=2", "http://127.0.0.1:8080/v1beta/models/g:streamGenerateContent?alt=sse&a=1&b=2"],
  ["https://proxy/v1?key=a?b=c", "https://proxy/v1/models/g:streamGenerateContent?alt=sse&key=a?b=c"],
  ["http://127.0.0.1:8080?", "http://127.0.0.1:8080/v1beta/models/g:streamGenerateContent?alt=sse"],
])("the query of the base URL %s stays one", (baseUrl, url) => {
  expect(streamUrl(baseUrl, "g")).toBe(url);
});

test.each<[id: string, level: ThinkingLevel, config: unknown, maxTokens: number]>([
  ["gemini-2.5-flash", "off", { thinkingBudget: 0 }, 32_000],
  ["gemini-2.5-pro", "off", { thinkingBudget: 128 }, 32_000],
  ["gemini-2.5-flash-lite", "minimal", { includeThoughts: true, thinkingBudget: 512 }, 32_512],
  ["gemini-2.5-flash", "medium", { includeThoughts: true, thinkingBudget: 8192 }, 40_192],
  ["gemini-2.5-pro", "high", { includeThoughts: true, thinkingBudget: 24_576 }, 56_576],
  ["gemini-3-flash-preview", "off", { thinkingLevel: "MINIMAL" }, 32_000],
  ["gemini-3.1-pro-preview", "off", { thinkingLevel: "LOW" }, 32_000],
  ["gemini-3.1-pro-preview", "minimal", { includeThoughts: true, thinkingLevel: "LOW" }, 64_000],
  ["gemini-3.1-pro-preview", "medium", { includeThoughts: true, thinkingLevel: "MEDIUM" }, 64_000],
  ["gemini-3-pro-preview", "medium", { includeThoughts: true, thinkingLevel: "HIGH" }, 64_000],
  ["gemini-flash-latest", "low", { includeThoughts: true, thinkingLevel: "LOW" }, 64_000],
  ["gemma-4-27b", "low", { includeThoughts: true, thinkingBudget: 2048 }, 34_048],
])("%s at level %s", (id, thinkingLevel, config, maxTokens) => {
  const { generationConfig } = bodyOf({ model: gemini({ id, reasoning: true }), thinkingLevel });
  expect(generationConfig).toEqual({ maxOutputTokens: maxTokens, thinkingConfig: config });
});

test.each<[story: string, fields: Partial<Model>, level: ThinkingLevel, config: unknown]>([
  [
    "a number in the map",
    { thinkingLevelMap: { xhigh: "32768" } },
    "xhigh",
    { includeThoughts: true, thinkingBudget: 31_744 },
  ],
  ["the model decides", { thinkingLevelMap: { high: "-1" } }, "high", { includeThoughts: true, thinkingBudget: -1 }],
  [
    "a name in the map",
    { thinkingLevelMap: { high: "medium" } },
    "high",
    { includeThoughts: true, thinkingLevel: "MEDIUM" },
  ],
  ["another way to be off", { thinkingLevelMap: { off: "512" } }, "off", { thinkingBudget: 512 }],
  ["levels by compat", { compat: { thinking: "level" } }, "low", { includeThoughts: true, thinkingLevel: "LOW" }],
  [
    "budgets by compat",
    { id: "gemini-3-x", compat: { thinking: "budget" } },
    "low",
    { includeThoughts: true, thinkingBudget: 2048 },
  ],
  [
    "no minimal level",
    { id: "gemini-3.8-flash", thinkingLevelMap: { minimal: null } },
    "off",
    { thinkingLevel: "LOW" },
  ],
  ["too little room to think", { maxTokens: 1100 }, "high", { thinkingBudget: 0 }],
])("thinking: %s", (_story, fields, thinkingLevel, config) => {
  const model = gemini({ reasoning: true, maxTokens: 32_768, ...fields });
  expect(bodyOf({ model, thinkingLevel }).generationConfig.thinkingConfig).toEqual(config);
});

test("a model that does not reason is not told to, and the asked length is kept", () => {
  expect(bodyOf({ thinkingLevel: "high", maxTokens: 500 }).generationConfig).toEqual({ maxOutputTokens: 500 });
});

test("servers that know only the old subset get schemas in it", () => {
  const { tools } = bodyOf({
    model: gemini({ compat: { toolSchema: "openapi" } }),
    tools: [
      { name: "now", description: "Tells the time", parameters: { type: "object", properties: {} } },
      {
        name: "edit",
        description: "Edits",
        parameters: {
          $schema: "https://json-schema.org/draft/2020-12/schema",
          type: "object",
          additionalProperties: false,
          required: ["path", "gone"],
          properties: {
            path: { type: "string", format: "uri", minLength: 1, examples: ["a"] },
            at: { type: "string", format: "date-time" },
            mode: { const: "fast" },
            level: { enum: [1, 2], type: "integer" },
            note: { type: ["string", "null"] },
            list: { type: "array", items: { type: ["string", "number"] } },
            bare: { type: "array" },
            either: { oneOf: [{ type: "string" }, { type: "boolean" }] },
            maybe: { anyOf: [{ type: "string", description: "inner" }, { type: "null" }], description: "outer" },
          },
        },
      },
    ],
  });
  expect(tools).toEqual([
    {
      functionDeclarations: [
        { name: "now", description: "Tells the time" },
        {
          name: "edit",
          description: "Edits",
          parameters: {
            type: "object",
            required: ["path"],
            properties: {
              path: { type: "string", minLength: 1 },
              at: { type: "string", format: "date-time" },
              mode: { type: "string", enum: ["fast"] },
              level: { type: "integer" },
              note: { type: "string", nullable: true },
              list: { type: "array", items: { anyOf: [{ type: "string" }, { type: "number" }] } },
              bare: { type: "array", items: { type: "string" } },
              either: { anyOf: [{ type: "string" }, { type: "boolean" }] },
              maybe: { type: "string", nullable: true, description: "outer" },
            },
          },
        },
      ],
    },
  ]);
});
