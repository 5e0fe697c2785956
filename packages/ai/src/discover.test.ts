import type { Model } from "@tiller/protocol/model";
import { expect, test } from "vitest";
import { discoverModels, type Get, showModel } from "./discover.ts";
import { providerRow } from "./providers/index.ts";

/** Bodies are composed from the servers' documentation. */

const answering =
  (body: unknown, status = 200): Get =>
  async () => ({ status, body: typeof body === "string" ? body : JSON.stringify(body) });

async function models(provider: string, body: unknown): Promise<Model[]> {
  const found = await discoverModels(providerRow(provider)!, { get: answering(body) });
  if ("problem" in found) throw new Error(found.problem);
  return found.models;
}

const openAiList = (...data: object[]) => ({ object: "list", data });

test("Ollama: its tags, without the models that only embed", async () => {
  const found = await models("ollama", {
    models: [
      {
        name: "qwen3:8b",
        model: "qwen3:8b",
        size: 5_200_000_000,
        details: { family: "qwen3", parameter_size: "8.2B" },
      },
      { name: "nomic-embed-text:latest", model: "nomic-embed-text:latest", details: { family: "nomic-bert" } },
    ],
  });
  expect(found).toEqual([
    {
      id: "qwen3:8b",
      name: "qwen3:8b",
      api: "openai-completions",
      provider: "ollama",
      baseUrl: "http://127.0.0.1:11434/v1",
      reasoning: false,
      input: ["text"],
      cost: { input: 0, output: 0, cacheRead: 0, cacheWrite: 0 },
      contextWindow: 32_768,
      maxTokens: 16_384,
      compat: providerRow("ollama")?.compat,
    },
  ]);
});

test("LM Studio: the window that is loaded counts, not the one that could be", async () => {
  const found = await models("lmstudio", {
    models: [
      {
        type: "llm",
        key: "qwen/qwen3.5-9b",
        display_name: "Qwen3.5 9B",
        max_context_length: 262_144,
        loaded_instances: [{ id: "qwen/qwen3.5-9b", config: { context_length: 8192 } }],
        capabilities: { vision: true, trained_for_tool_use: true, reasoning: { default: "on" } },
      },
      {
        type: "llm",
        key: "google/gemma-3-4b",
        display_name: "Gemma 3 4B",
        max_context_length: 131_072,
        loaded_instances: [],
      },
      { type: "embedding", key: "nomic", display_name: "Nomic" },
    ],
  });
  expect(found).toMatchObject([
    {
      id: "qwen/qwen3.5-9b",
      name: "Qwen3.5 9B",
      contextWindow: 8192,
      maxTokens: 8192,
      input: ["text", "image"],
      reasoning: true,
    },
    { id: "google/gemma-3-4b", contextWindow: 131_072, input: ["text"], reasoning: false },
  ]);
});

test("LM Studio before 0.4, which knows the older list", async () => {
  const seen: string[] = [];
  const get: Get = async (url) => {
    seen.push(url);
    if (url.endsWith("/api/v1/models")) return { status: 404, body: "not found" };
    return { status: 200, body: JSON.stringify(openAiList({ id: "granite", type: "llm", max_context_length: 4096 })) };
  };
  const found = await discoverModels(providerRow("lmstudio")!, { get });
  expect(seen).toEqual(["http://127.0.0.1:1234/api/v1/models", "http://127.0.0.1:1234/v1/models"]);
  expect(found).toMatchObject({ models: [{ id: "granite", contextWindow: 4096, maxTokens: 4096 }] });
});

test("llama.cpp: the context it was started with goes before the one it was trained with", async () => {
  const meta = { n_ctx_train: 131_072, n_ctx: 16_384, n_params: 8_000_000_000 };
  expect(
    await models("llamacpp", openAiList({ id: "llama-3", object: "model", owned_by: "llamacpp", meta })),
  ).toMatchObject([{ id: "llama-3", contextWindow: 16_384 }]);
});

test("vLLM: max_model_len", async () => {
  const body = openAiList({ id: "meta/llama", object: "model", owned_by: "vllm", max_model_len: 40_960 });
  expect(await models("vllm", body)).toMatchObject([{ id: "meta/llama", contextWindow: 40_960, maxTokens: 16_384 }]);
});

test("OpenRouter: prices for one token become prices for a million", async () => {
  const found = await models("openrouter", {
    data: [
      {
        id: "acme/clever-1",
        name: "Acme: Clever 1",
        context_length: 200_000,
        architecture: { input_modalities: ["text", "image"], output_modalities: ["text"] },
        pricing: {
          prompt: "0.0000003",
          completion: "0.000015",
          input_cache_read: "0.00000003",
          input_cache_write: "0",
        },
        top_provider: { context_length: 200_000, max_completion_tokens: 64_000 },
        supported_parameters: ["tools", "reasoning"],
      },
      { id: "acme/painter", name: "Painter", architecture: { output_modalities: ["image"] } },
    ],
  });
  expect(found).toMatchObject([
    {
      id: "acme/clever-1",
      name: "Acme: Clever 1",
      contextWindow: 200_000,
      maxTokens: 64_000,
      reasoning: true,
      input: ["text", "image"],
      cost: { input: 0.3, output: 15, cacheRead: 0.03, cacheWrite: 0 },
    },
  ]);
});

test.each<[provider: string, body: unknown, expected: object[]]>([
  [
    "google",
    {
      models: [
        {
          name: "models/gemini-9-flash",
          displayName: "Gemini 9 Flash",
          inputTokenLimit: 1_048_576,
          outputTokenLimit: 65_536,
          supportedGenerationMethods: ["generateContent", "countTokens"],
          thinking: true,
        },
        { name: "models/gemini-embedding-001", supportedGenerationMethods: ["embedContent"] },
      ],
    },
    [{ id: "gemini-9-flash", name: "Gemini 9 Flash", contextWindow: 1_048_576, maxTokens: 65_536, reasoning: true }],
  ],
  [
    "anthropic",
    {
      data: [
        {
          type: "model",
          id: "claude-next",
          display_name: "Claude Next",
          max_input_tokens: 1_000_000,
          max_tokens: 128_000,
          capabilities: { image_input: { supported: true }, thinking: { supported: true } },
        },
      ],
      has_more: false,
    },
    [
      {
        id: "claude-next",
        name: "Claude Next",
        contextWindow: 1_000_000,
        maxTokens: 128_000,
        input: ["text", "image"],
      },
    ],
  ],
  [
    "groq",
    openAiList(
      { id: "new/model", active: true, context_window: 131_072, max_completion_tokens: 8192 },
      { id: "whisper-large-v3", active: true, context_window: 448 },
      { id: "gone/model", active: false, context_window: 131_072 },
    ),
    [{ id: "new/model", contextWindow: 131_072, maxTokens: 8192 }],
  ],
  [
    "mistral",
    openAiList(
      {
        id: "m-1",
        max_context_length: 262_144,
        capabilities: { completion_chat: true, function_calling: true, vision: true },
      },
      { id: "m-2", max_context_length: 8192, capabilities: { completion_chat: false } },
    ),
    [{ id: "m-1", contextWindow: 262_144, input: ["text", "image"] }],
  ],
  [
    "together",
    [
      {
        id: "t/chat",
        type: "chat",
        context_length: 131_072,
        pricing: { input: 0.15, output: 0.6, cached_input: 0.07 },
      },
      { id: "t/pictures", type: "image" },
    ],
    [{ id: "t/chat", contextWindow: 131_072, cost: { input: 0.15, output: 0.6, cacheRead: 0.07, cacheWrite: 0 } }],
  ],
  [
    "github-models",
    [
      {
        id: "o/one",
        name: "One",
        limits: { max_input_tokens: 100_000, max_output_tokens: 4000 },
        supported_input_modalities: ["text", "image"],
        capabilities: ["streaming", "tool-calling", "reasoning"],
      },
    ],
    [{ id: "o/one", contextWindow: 100_000, maxTokens: 4000, input: ["text", "image"], reasoning: true }],
  ],
])("%s in its own words", async (provider, body, expected) => {
  expect(await models(provider, body)).toMatchObject(expected);
});

test("a model of the catalogue keeps its figures, at the address that was asked", async () => {
  const get = answering(openAiList({ id: "gpt-6.1-sol", object: "model" }));
  const found = await discoverModels(providerRow("openai")!, { get, baseUrl: "https://proxy.example/v1" });
  expect(found).toMatchObject({
    models: [{ id: "gpt-6.1-sol", baseUrl: "https://proxy.example/v1", contextWindow: 1_050_000, cost: { input: 2 } }],
  });
});

test.each<[provider: string, key: string, url: string, headers: Record<string, string>]>([
  ["openai", "k", "https://api.openai.com/v1/models", { authorization: "Bearer k" }],
  [
    "anthropic",
    "k",
    "https://api.anthropic.com/v1/models?limit=1000",
    { "x-api-key": "k", "anthropic-version": "2023-06-01" },
  ],
  ["google", "k", "https://generativelanguage.googleapis.com/v1beta/models?pageSize=1000", { "x-goog-api-key": "k" }],
  ["ollama", "", "http://127.0.0.1:11434/api/tags", {}],
])("%s is asked for its list with the key where it belongs", async (provider, key, url, headers) => {
  const seen: unknown[] = [];
  const get: Get = async (...call) => {
    seen.push(call);
    return { status: 200, body: '{"data":[]}' };
  };
  await discoverModels(providerRow(provider)!, { get, ...(key ? { apiKey: key } : {}) });
  expect(seen).toEqual([[url, headers]]);
});

test.each<[what: string, get: Get, problem: string]>([
  [
    "a server that is not there",
    () => Promise.reject(new Error("connect ECONNREFUSED 127.0.0.1:8000")),
    "vLLM does not answer at 127.0.0.1:8000: connect ECONNREFUSED 127.0.0.1:8000. Is the server running?",
  ],
  ["a wrong key", answering('{"error":"bad key"}', 401), 'vLLM refuses the key (401): {"error":"bad key"}'],
  ["another server", answering("<html>", 404), "vLLM has no list of models at http://127.0.0.1:8000/v1/models"],
  ["trouble", answering("", 503), "vLLM answered 503 (http://127.0.0.1:8000/v1/models): (nothing)"],
  [
    "a page",
    answering(`<html>${"x".repeat(500)}`),
    `vLLM did not answer with JSON (http://127.0.0.1:8000/v1/models): <html>${"x".repeat(194)}…`,
  ],
  [
    "something else",
    answering({ hello: 1 }),
    "vLLM did not answer with a list of models (http://127.0.0.1:8000/v1/models)",
  ],
])("%s is a problem, told in a sentence", async (_, get, problem) => {
  expect(await discoverModels(providerRow("vllm")!, { get })).toEqual({ problem });
});

test("what cannot be asked is told, not thrown", async () => {
  const get = answering("{}");
  expect(await discoverModels(providerRow("minimax")!, { get })).toEqual({
    problem: "MiniMax has no list of models to ask for",
  });
  expect(await discoverModels(providerRow("vllm")!, { get, baseUrl: "localhost" })).toEqual({
    problem: 'The base URL of vLLM is not a URL: "localhost"',
  });
});

test.each([[null], ["text"], [{ data: [null, 3, "x", {}] }], [{ data: [{ id: "" }, { id: 7 }] }]])(
  "a list with rubbish in it (%j) gives no rubbish",
  async (body) => {
    const found = await discoverModels(providerRow("vllm")!, { get: answering(JSON.stringify(body)) });
    expect("models" in found ? found.models : []).toEqual([]);
  },
);

test.each<[story: string, shown: unknown, expected: object | undefined]>([
  [
    "what it can do, and a window that is smaller than usual",
    {
      capabilities: ["completion", "tools", "thinking", "vision"],
      model_info: { "general.architecture": "qwen3", "qwen3.context_length": 8192 },
    },
    { reasoning: true, input: ["text", "image"], contextWindow: 8192, maxTokens: 8192 },
  ],
  [
    "a window that it could have is not the one it has",
    { capabilities: ["completion"], model_info: { "general.architecture": "a", "a.context_length": 262_144 } },
    { reasoning: false, input: ["text"], contextWindow: 32_768, maxTokens: 16_384 },
  ],
  [
    "a window that its own settings give it",
    {
      parameters: 'stop "x"\nnum_ctx                        65536\n',
      model_info: { "general.architecture": "a", "a.context_length": 262_144 },
    },
    { contextWindow: 65_536 },
  ],
  ["nothing", { license: "MIT" }, undefined],
  ["no JSON object", [1], undefined],
])("Ollama tells of one model: %s", async (_story, shown, expected) => {
  const row = providerRow("ollama")!;
  const [model] = await models("ollama", { models: [{ name: "qwen3:8b" }] });
  const asked: unknown[] = [];
  const get: Get = async (url, _headers, body) => {
    asked.push(url, body);
    return { status: 200, body: JSON.stringify(shown) };
  };
  const found = await showModel(row, model!, { get, baseUrl: "http://box:1/v1" });
  expect(asked).toEqual(["http://box:1/api/show", '{"model":"qwen3:8b"}']);
  if (expected) expect(found).toMatchObject({ id: "qwen3:8b", ...expected });
  else expect(found).toBeUndefined();
});

test("a server without such a question is not asked, and one that does not know the model says nothing", async () => {
  const [model] = await models("ollama", { models: [{ name: "a" }] });
  expect(
    await showModel(providerRow("vllm")!, model!, { get: () => Promise.reject(new Error("asked")) }),
  ).toBeUndefined();
  expect(await showModel(providerRow("ollama")!, model!, { get: answering("not found", 404) })).toBeUndefined();
});

test("a key in the query of the base URL goes with the question and into no text", async () => {
  const seen: string[] = [];
  const get: Get = async (url) => {
    seen.push(url);
    return { status: 500, body: "broken" };
  };
  const found = await discoverModels(providerRow("anthropic")!, { get, baseUrl: "http://box/?key=planted" });
  expect(seen).toEqual(["http://box/v1/models?key=planted&limit=1000"]);
  expect(found).toEqual({ problem: "Anthropic answered 500 (http://box/v1/models): broken" });
  const listing = answering(openAiList({ id: "m" }));
  const listed = await discoverModels(providerRow("vllm")!, { get: listing, baseUrl: "http://me:planted@box/v1" });
  expect(listed).toMatchObject({ models: [{ id: "m", baseUrl: "http://box/v1" }] });
});
