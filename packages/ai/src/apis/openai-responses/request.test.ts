import type { AssistantMessage, LlmMessage } from "@tiller/protocol/message";
import type { Model, ThinkingLevel } from "@tiller/protocol/model";
import { expect, test } from "vitest";
import type { ModelRequest } from "../../provider.ts";
import { answer, testModel, testRequest } from "../../testing.ts";
import { bodyText, HISTORIES, RESPONSES_HISTORY } from "../test-histories.ts";
import { buildRequest, responsesUrl } from "./request.ts";

const AUTHOR = { api: "openai-responses", provider: "openai", model: "gpt-test" };

function gpt(fields: Partial<Model> = {}): Model {
  const { model: id, ...author } = AUTHOR;
  return testModel({ id, ...author, baseUrl: "https://api.openai.com/v1", ...fields });
}

function reasoner(fields: Partial<Model> = {}): Model {
  return gpt({ reasoning: true, ...fields });
}

function azure(fields: Partial<Model> = {}): Model {
  return gpt({ api: "azure-openai-responses", baseUrl: "https://res.openai.azure.com/openai/v1", ...fields });
}

function bodyOf(fields: Partial<ModelRequest> = {}): Record<string, unknown> {
  return JSON.parse(bodyText(buildRequest(testRequest({ model: gpt(), ...fields })).body)) as Record<string, unknown>;
}

type Item = Record<string, unknown>;

function inputOf(messages: readonly LlmMessage[], model = reasoner()): Item[] {
  return bodyOf({ model, messages }).input as Item[];
}

const own = (content: AssistantMessage["content"], fields: Partial<AssistantMessage> = {}) =>
  answer(content, { ...AUTHOR, ...fields });
const hello = { role: "user", content: [{ type: "input_text", text: "Hello" }] };

test("a plain question", () => {
  const call = buildRequest(
    testRequest({ model: gpt(), systemPrompt: "Be brief.", apiKey: "key-1", headers: { "X-Team": "blue" } }),
  );
  expect(call.url).toBe("https://api.openai.com/v1/responses");
  expect(call.headers).toEqual({ authorization: "Bearer key-1", "x-team": "blue" });
  expect(JSON.parse(bodyText(call.body))).toEqual({
    model: "gpt-test",
    stream: true,
    store: false,
    instructions: "Be brief.",
    input: [hello],
  });
});

const reasoning = {
  type: "reasoning",
  id: "rs_1",
  summary: [{ type: "summary_text", text: "Look first" }],
  encrypted_content: "gAAA",
};
const thought = (fields: Item = {}) => ({
  type: "thinking" as const,
  thinking: "Look first",
  thinkingSignature: JSON.stringify({ ...reasoning, status: null, ...fields }),
});
const call = (id: string) => ({ type: "toolCall" as const, id, name: "read", arguments: { path: "a" } });
const result = (toolCallId: string, text = "contents"): LlmMessage => ({
  role: "toolResult",
  toolCallId,
  toolName: "read",
  content: [{ type: "text", text }],
  isError: false,
  timestamp: 2,
});

test("a model that reasons gets back what it thought, said and called, as the items they were", () => {
  const request = testRequest({
    model: reasoner(),
    thinkingLevel: "high",
    maxTokens: 9000,
    sessionId: "session-1",
    tools: [
      { name: "ls", description: "Lists", parameters: { type: "object" } },
      { name: "read", description: "Reads", parameters: { type: "object", properties: { path: { type: "string" } } } },
    ],
    messages: [
      { role: "user", content: "Read a", timestamp: 1 },
      own([
        thought(),
        { type: "text", text: "Reading.", textSignature: '{"id":"msg_1","phase":"commentary"}' },
        call("call_1|fc_1"),
        call("call_2|fc_2"),
      ]),
      result("call_1|fc_1"),
      { ...result("call_2|fc_2", "no such file"), isError: true } as LlmMessage,
      own([{ type: "text", text: "Done.", textSignature: "msg_2" }]),
      { role: "user", content: "Hello", timestamp: 4 },
    ],
  });
  const args = '{"path":"a"}';
  expect(JSON.parse(bodyText(buildRequest(request).body))).toEqual({
    model: "gpt-test",
    stream: true,
    store: false,
    tools: [
      {
        type: "function",
        name: "ls",
        description: "Lists",
        parameters: { type: "object", properties: {} },
        strict: false,
      },
      {
        type: "function",
        name: "read",
        description: "Reads",
        parameters: { type: "object", properties: { path: { type: "string" } } },
        strict: false,
      },
    ],
    reasoning: { effort: "high", summary: "auto" },
    include: ["reasoning.encrypted_content"],
    max_output_tokens: 9000,
    prompt_cache_key: "session-1",
    input: [
      { role: "user", content: [{ type: "input_text", text: "Read a" }] },
      reasoning,
      {
        type: "message",
        id: "msg_1",
        role: "assistant",
        status: "completed",
        content: [{ type: "output_text", text: "Reading.", annotations: [] }],
        phase: "commentary",
      },
      { type: "function_call", id: "fc_1", call_id: "call_1", name: "read", arguments: args },
      { type: "function_call", id: "fc_2", call_id: "call_2", name: "read", arguments: args },
      { type: "function_call_output", call_id: "call_1", output: "contents" },
      { type: "function_call_output", call_id: "call_2", output: "Error: no such file" },
      {
        type: "message",
        id: "msg_2",
        role: "assistant",
        status: "completed",
        content: [{ type: "output_text", text: "Done.", annotations: [] }],
      },
      hello,
    ],
  });
});

const reasoningOf = (items: Item[]) => items.filter((item) => item.type === "reasoning");

test("reasoning is carried back without a summary, with open thoughts, and never empty", () => {
  const hidden = { ...thought({ summary: [] }), thinking: "[Reasoning redacted]", redacted: true };
  const open = thought({ encrypted_content: null, summary: [], content: [{ type: "reasoning_text", text: "Hm" }] });
  const said = { type: "text" as const, text: "Hi", textSignature: "msg_1" };
  expect(reasoningOf(inputOf([own([hidden, said])]))).toEqual([{ ...reasoning, summary: [] }]);
  expect(reasoningOf(inputOf([own([open, said])]))).toEqual([
    { type: "reasoning", id: "rs_1", summary: [], content: [{ type: "reasoning_text", text: "Hm" }] },
  ]);
  expect(reasoningOf(inputOf([own([thought({ encrypted_content: undefined }), said])]))).toEqual([]);
});

test("reasoning that led to nothing is left out", () => {
  const said = { type: "text" as const, text: "Hi", textSignature: "msg_1" };
  expect(inputOf([own([thought()], { stopReason: "length" })])).toEqual([]);
  const items = inputOf([own([thought(), said, thought({ id: "rs_2" }), { ...said, text: " " }])]);
  expect(items.map((item) => item.id)).toEqual(["rs_1", "msg_1"]);
});

test("the ids of an answer go back all or none", () => {
  const said = { type: "text" as const, text: "Hi", textSignature: "msg_1" };
  const ids = (content: AssistantMessage["content"]) => inputOf([own(content)]).map((item) => item.id);
  expect(ids([thought(), said])).toEqual(["rs_1", "msg_1"]);
  expect(inputOf([own([thought(), { type: "text", text: "Hi" }])])).toEqual([
    { ...reasoning, id: undefined },
    { role: "assistant", content: "Hi" },
  ]);
  const unreadable = [{ ...thought(), thinkingSignature: "{broken" }, said];
  expect(inputOf([own(unreadable)])).toEqual([{ role: "assistant", content: "Hi" }]);
  for (const id of ["call_1", "call_1|item_1", `call_1|fc_${"x".repeat(62)}`]) {
    const [first, second] = inputOf([own([thought(), call(id)]), result(id)]);
    expect([first?.type, first?.id, second?.id, second?.call_id]).toEqual([
      "reasoning",
      undefined,
      undefined,
      "call_1",
    ]);
  }
});

test("images, in a question and in a result", () => {
  const png = { type: "image" as const, data: "AAAA", mimeType: "image/png" };
  const image = { type: "input_image", detail: "auto", image_url: "data:image/png;base64,AAAA" };
  const items = inputOf([
    { role: "user", content: [{ type: "text", text: "What?" }, png, { type: "text", text: " " }], timestamp: 1 },
    own([call("call_1|fc_1"), call("call_2|fc_2"), call("call_3|fc_3"), call("call_4|fc_4")]),
    { ...result("call_1|fc_1"), content: [{ type: "text", text: "a.png" }, png] } as LlmMessage,
    { ...result("call_2|fc_2"), content: [png], isError: true } as LlmMessage,
    { ...result("call_3|fc_3"), content: [] } as LlmMessage,
    { ...result("call_4|fc_4"), content: [], isError: true } as LlmMessage,
  ]);
  expect(items[0]).toEqual({ role: "user", content: [{ type: "input_text", text: "What?" }, image] });
  expect(items.slice(5).map((item) => item.output)).toEqual([
    [{ type: "input_text", text: "a.png" }, image],
    [{ type: "input_text", text: "Error:" }, image],
    "(no output)",
    "Error: (no output)",
  ]);
});

test("of the answers of other models the words remain", () => {
  const args = "{}";
  expect(inputOf(RESPONSES_HISTORY, reasoner({ id: "gpt-other" }))).toEqual([
    { role: "user", content: [{ type: "input_text", text: "Run the tests, please." }] },
    { role: "assistant", content: "**Finding the tests**" },
    { role: "assistant", content: "Running them." },
    { type: "function_call", call_id: "call_abc", name: "bash", arguments: '{"command":"npm test"}' },
    { type: "function_call", call_id: "call_xyz", name: "ls", arguments: args },
    { type: "function_call_output", call_id: "call_abc", output: "12 passed" },
    { type: "function_call_output", call_id: "call_xyz", output: "package.json" },
    { role: "assistant", content: "All 12 pass." },
    { role: "user", content: [{ type: "input_text", text: "Thanks. And the linter?" }] },
  ]);
});

test.each(Object.keys(HISTORIES))("the API's rules hold for the history of %s", (name) => {
  const items = inputOf(HISTORIES[name]!);
  const open = new Set<unknown>();
  const seen = new Set<unknown>();
  for (const [at, item] of items.entries()) {
    if (item.id !== undefined) expect(String(item.id)).toMatch(/^(rs|msg|fc)[\w-]{0,61}$/);
    if (item.type === "reasoning")
      expect(items[at + 1]?.role ?? items[at + 1]?.type).toMatch(/^(assistant|function_call|reasoning)$/);
    if (item.type === "function_call") {
      expect(item.call_id).toMatch(/^[\w-]{1,64}$/);
      expect(seen).not.toContain(item.call_id);
      open.add(item.call_id);
      seen.add(item.call_id);
    }
    if (item.type === "function_call_output") expect(open.delete(item.call_id)).toBe(true);
  }
  expect(open.size).toBe(0);
  expect(items.length).toBeGreaterThan(3);
});

const medium = { effort: "medium", summary: "auto" };
const include = ["reasoning.encrypted_content"];

test.each<[what: string, model: Model, level: ThinkingLevel, reasoning: unknown, include: unknown]>([
  ["not reasoning", gpt(), "high", undefined, undefined],
  ["by its own name", reasoner(), "medium", medium, include],
  ["minimal", reasoner(), "minimal", { effort: "minimal", summary: "auto" }, include],
  ["off, and no word for it", reasoner(), "off", undefined, include],
  ["off by a word", reasoner({ thinkingLevelMap: { off: "none" } }), "off", { effort: "none" }, include],
  ["off is not there", reasoner({ thinkingLevelMap: { off: null, minimal: null } }), "off", low(), include],
  ["another name", reasoner({ thinkingLevelMap: { xhigh: "max" } }), "xhigh", { ...medium, effort: "max" }, include],
  ["xhigh is not there", reasoner(), "xhigh", { ...medium, effort: "high" }, include],
  ["no effort", reasoner({ compat: { supportsReasoningEffort: false } }), "medium", undefined, include],
  ["no summary", reasoner({ compat: { reasoningSummary: "none" } }), "medium", { effort: "medium" }, include],
  ["detailed", reasoner({ compat: { reasoningSummary: "detailed" } }), "medium", detailed(), include],
  ["not encrypted", reasoner({ compat: { supportsEncryptedReasoning: false } }), "medium", medium, undefined],
])("reasoning: %s", (_what, model, thinkingLevel, expected, included) => {
  const body = bodyOf({ model, thinkingLevel });
  expect([body.reasoning, body.include]).toEqual([expected, included]);
});

function low() {
  return { effort: "low", summary: "auto" };
}

function detailed() {
  return { effort: "medium", summary: "detailed" };
}

test.each<[maxTokens: number | undefined, model: Model, limit: number | undefined]>([
  [undefined, gpt(), undefined],
  [500, gpt(), 500],
  [4, gpt(), 16],
  [90_000, gpt({ maxTokens: 64_000 }), 64_000],
])("at most %s tokens", (maxTokens, model, limit) => {
  expect(bodyOf({ model, ...(maxTokens ? { maxTokens } : {}) }).max_output_tokens).toBe(limit);
});

test.each<[what: string, fields: Partial<ModelRequest>, expected: Item]>([
  ["short", { sessionId: "s" }, { prompt_cache_key: "s" }],
  ["a long name", { sessionId: "s".repeat(70) }, { prompt_cache_key: "s".repeat(64) }],
  ["no name taken", { sessionId: "s", model: gpt({ compat: { supportsPromptCacheKey: false } }) }, {}],
  ["long, unknown", { sessionId: "s", cacheRetention: "long" }, { prompt_cache_key: "s" }],
  [
    "long",
    { sessionId: "s", cacheRetention: "long", model: gpt({ compat: { supportsLongCacheRetention: true } }) },
    { prompt_cache_key: "s", prompt_cache_retention: "24h" },
  ],
  ["none", { sessionId: "s", cacheRetention: "none" }, {}],
  [
    "none, where it has a price",
    { sessionId: "s", cacheRetention: "none", model: gpt({ compat: { supportsPromptCacheOptions: true } }) },
    { prompt_cache_options: { mode: "explicit" } },
  ],
])("cache: %s", (_what, fields, expected) => {
  expect(Object.entries(bodyOf(fields)).filter(([name]) => name.startsWith("prompt_cache"))).toEqual(
    Object.entries(expected),
  );
});

test("what a server does not know is not sent", () => {
  const model = gpt({ compat: { supportsStore: false, supportsStrictMode: false } });
  const body = bodyOf({ model, tools: [{ name: "ls", description: "Lists", parameters: { type: "object" } }] });
  expect(Object.keys(body)).toEqual(["model", "stream", "tools", "input"]);
  expect(body.tools).toEqual([
    { type: "function", name: "ls", description: "Lists", parameters: { type: "object", properties: {} } },
  ]);
});

test("Azure: the key has its own header, the model is a deployment", () => {
  const model = azure({ compat: { deployment: "my-gpt" } });
  const call = buildRequest(testRequest({ model, apiKey: "key-1" }));
  expect(call.url).toBe("https://res.openai.azure.com/openai/v1/responses");
  expect(call.headers).toEqual({ "api-key": "key-1" });
  expect(JSON.parse(bodyText(call.body))).toEqual({ model: "my-gpt", stream: true, store: false, input: [hello] });
});

test("a token of the user's own takes the place of the key", () => {
  const headers = { Authorization: "Bearer eyJ" };
  expect(buildRequest(testRequest({ model: azure(), apiKey: "k", headers })).headers).toEqual({
    authorization: "Bearer eyJ",
  });
  expect(buildRequest(testRequest({ model: gpt() })).headers).toEqual({});
});

test.each<[baseUrl: string, apiVersion: string | undefined, url: string]>([
  ["https://res.openai.azure.com", undefined, "https://res.openai.azure.com/openai/v1/responses"],
  ["https://res.openai.azure.com/openai/", undefined, "https://res.openai.azure.com/openai/v1/responses"],
  [
    "https://res.services.ai.azure.com/openai/v1/",
    "preview",
    "https://res.services.ai.azure.com/openai/v1/responses?api-version=preview",
  ],
  [
    "https://res.openai.azure.com",
    "2025-04-01-preview",
    "https://res.openai.azure.com/openai/responses?api-version=2025-04-01-preview",
  ],
  ["https://gateway/azure/x", undefined, "https://gateway/azure/x/responses"],
  ["https://gateway/azure/x?tenant=1", "v1", "https://gateway/azure/x/responses?tenant=1&api-version=v1"],
])("Azure at %s, version %s", (baseUrl, apiVersion, url) => {
  expect(responsesUrl(azure({ baseUrl, ...(apiVersion ? { compat: { apiVersion } } : {}) }))).toBe(url);
});

test.each([
  ["https://api.openai.com/v1", "https://api.openai.com/v1/responses"],
  ["http://127.0.0.1:11434/v1/", "http://127.0.0.1:11434/v1/responses"],
  ["http://127.0.0.1:8000", "http://127.0.0.1:8000/v1/responses"],
  ["http://127.0.0.1:8000/?key=k", "http://127.0.0.1:8000/v1/responses?key=k"],
  ["https://gateway/v1/responses", "https://gateway/v1/responses"],
])("base URL %s", (baseUrl, url) => {
  expect(responsesUrl(gpt({ baseUrl }))).toBe(url);
});

test("a base URL that is none is named", () => {
  expect(() => responsesUrl(gpt({ baseUrl: "api.openai.com" }))).toThrow(
    expect.objectContaining({
      kind: "bad_request",
      message: 'The base URL of openai/gpt-test is not a URL: "api.openai.com"',
    }),
  );
});
