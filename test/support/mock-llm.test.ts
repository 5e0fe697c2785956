import { request } from "node:http";
import { gunzipSync } from "node:zlib";
import { streamAssistant } from "@tiller/ai/stream";
import { collect, testModel, testRequest } from "@tiller/ai/testing";
import { afterEach, beforeEach, describe, expect, test } from "vitest";
import { DIALECTS, emptyBody, fail, htmlPage, type MockLlm, redirect, say, startMockLlm, useTool } from "./mock-llm.ts";

let llm: MockLlm;
beforeEach(async () => {
  llm = await startMockLlm();
});
afterEach(() => llm.close());

const ANTHROPIC = "/v1/messages";
const PATHS: Record<string, string> = {
  "anthropic-messages": ANTHROPIC,
  "openai-completions": "/v1/chat/completions",
  "openai-responses": "/v1/responses",
  "google-generative-ai": "/v1beta/models/mock-1:streamGenerateContent?alt=sse",
};

interface Answer {
  status: number | undefined;
  headers: Record<string, unknown>;
  text: string;
  bytes: Buffer;
  pieces: number;
  broken: boolean;
}

function ask(body: object, path = ANTHROPIC, method = "POST", headers: Record<string, string> = {}): Promise<Answer> {
  return new Promise((resolve, reject) => {
    const outgoing = request(llm.baseUrl + path, { method, headers }, (response) => {
      const parts: Buffer[] = [];
      const done = (broken: boolean): void => {
        const bytes = Buffer.concat(parts);
        const { statusCode: status, headers } = response;
        resolve({ status, headers, text: bytes.toString("utf8"), bytes, pieces: parts.length, broken });
      };
      response.on("data", (part: Buffer) => void parts.push(part));
      response.on("end", () => done(false));
      response.on("error", () => done(true));
    });
    outgoing.on("error", reject);
    outgoing.end(method === "GET" ? undefined : JSON.stringify(body));
  });
}

const eventTypes = (text: string): string[] => [...text.matchAll(/^event: (.*)$/gm)].map((match) => match[1] ?? "");

test("replies come in order, requests are recorded", async () => {
  llm.reply(say("hello", 3), useTool("read", { path: "a" }));
  const first = await ask({ model: "mock-1" });
  expect(eventTypes(first.text)).toEqual([
    "message_start",
    "content_block_start",
    "content_block_delta",
    "content_block_delta",
    "content_block_stop",
    "message_delta",
    "message_stop",
  ]);
  expect((await ask({})).text).toContain('"stop_reason":"tool_use"');
  expect(llm.requests.map((seen) => [seen.method, seen.path, seen.body])).toEqual([
    ["POST", "/v1/messages", { model: "mock-1" }],
    ["POST", "/v1/messages", {}],
  ]);
});

test("a request too many is told so", async () => {
  expect((await ask({})).text).toContain("no reply for request 1");
});

test("a path of no dialect is told so, and uses up no reply", async () => {
  llm.reply(say("still there"));
  expect(await ask({}, "/v1/embeddings")).toMatchObject({
    status: 404,
    text: expect.stringContaining("/v1/embeddings"),
  });
  expect((await ask({})).text).toContain("still there");
});

describe.each(DIALECTS.map(({ family }) => family))("in the dialect %s", (family) => {
  const path = PATHS[family];

  test("an error status has the words of the test, and its headers", async () => {
    llm.reply(fail(429, "rate_limit_error", "slow down", { "retry-after": "2" }));
    const answer = await ask({}, path);
    expect([answer.status, answer.headers["retry-after"]]).toEqual([429, "2"]);
    expect(JSON.parse(answer.text)).toMatchObject({ error: { message: "slow down" } });
  });

  test("the stream is complete, compressed or not", async () => {
    llm.reply(say("hello"), { ...say("hello"), gzip: true });
    const plain = await ask({}, path);
    const zipped = await ask({}, path);
    expect(plain).toMatchObject({ status: 200, headers: { "content-type": "text/event-stream" } });
    expect(zipped.headers).toMatchObject({ "content-encoding": "gzip" });
    expect(gunzipSync(zipped.bytes).toString("utf8")).toBe(plain.text);
  });

  test("a stream that ends early lacks its end", async () => {
    llm.reply(say("hello"), { steps: [{ type: "text", text: "hello" }, { type: "endEarly" }] });
    const [whole, early] = [await ask({}, path), await ask({}, path)];
    expect(early.broken).toBe(false);
    expect(early.text).not.toBe("");
    expect(whole.text.startsWith(early.text)).toBe(true);
    expect(early.text.length).toBeLessThan(whole.text.length);
  });

  test("our own client understands it, with the provider of the models.json", async () => {
    const { providers } = JSON.parse(llm.modelsJson());
    const [provider, entry] = Object.entries<Record<string, unknown>>(providers).find(([, { api }]) => api === family)!;
    const { baseUrl, apiKey, models } = entry as { baseUrl: string; apiKey: string; models: [object] };
    const model = testModel({ ...models[0], provider, api: family, baseUrl });
    const signature = "c2ln";
    llm.reply({
      steps: [
        { type: "thinking", text: "Hm.", signature },
        { type: "text", text: "I look." },
        { type: "toolUse", name: "read", input: { path: "a" } },
      ],
      usage: { input_tokens: 7, output_tokens: 9, cache_read_tokens: 2, reasoning_tokens: 4 },
    });
    const deltas = await collect(streamAssistant(testRequest({ model, apiKey, thinkingLevel: "high" })));
    const grown = deltas.flatMap((delta) => (delta.type === "grow" ? [delta.text] : [])).join("");
    expect(grown).toBe('Hm.I look.{"path":"a"}');
    expect(deltas.filter((delta) => delta.type === "usage").at(-1)).toMatchObject({ output: 9, reasoning: 4 });
    expect(deltas.at(-1)).toEqual({ type: "done", stopReason: "toolUse" });
    expect(llm.requests[0]?.path).toBe(path);
  });
});

describe("what can go wrong on the way", () => {
  test("a cut breaks the connection after what came before", async () => {
    llm.reply({ steps: [{ type: "text", text: "half" }, { type: "cut" }] });
    const answer = await ask({});
    expect(answer.broken).toBe(true);
    expect(answer.text).toContain("half");
  });

  test("a drip comes byte by byte", async () => {
    llm.reply({ steps: [{ type: "drip", ms: 1 }, { type: "raw", data: "ab" }, { type: "endEarly" }] });
    const answer = await ask({});
    expect(answer.text.endsWith("ab")).toBe(true);
    expect(answer.pieces).toBe(3);
  });

  test("bytes can come as often as needed", async () => {
    llm.reply({ steps: [{ type: "raw", data: new Uint8Array(65_536), times: 64 }, { type: "endEarly" }] });
    expect((await ask({})).bytes.length).toBeGreaterThan(64 * 65_536);
  });

  test("a page of a proxy, a redirect, an empty body", async () => {
    llm.reply(htmlPage(502, "<h1>Bad Gateway</h1>"), redirect("http://127.0.0.1:1/login"), emptyBody());
    expect(await ask({})).toMatchObject({
      status: 502,
      text: "<h1>Bad Gateway</h1>",
      headers: { "content-type": "text/html; charset=utf-8" },
    });
    expect(await ask({})).toMatchObject({ status: 302, headers: { location: "http://127.0.0.1:1/login" } });
    expect(await ask({})).toMatchObject({ status: 200, text: "" });
  });

  test("a client that goes away is noticed", async () => {
    llm.reply({ steps: [{ type: "stall" }] });
    const controller = new AbortController();
    const outgoing = request(llm.baseUrl + ANTHROPIC, { method: "POST", signal: controller.signal });
    outgoing.on("error", () => undefined).on("response", () => controller.abort());
    outgoing.end("{}");
    await expect.poll(() => llm.requests[0]?.aborted).toBe(true);
  });
});

test("the list of models is told in the words of whoever asks", async () => {
  const list = async (path: string, headers = {}) => JSON.parse((await ask({}, path, "GET", headers)).text);
  expect(await list("/v1/models")).toMatchObject({ object: "list", data: [{ id: "mock-1", object: "model" }] });
  expect(await list("/v1/models", { "anthropic-version": "2023-06-01" })).toMatchObject({ data: [{ type: "model" }] });
  expect(await list("/v1beta/models")).toMatchObject({ models: [{ name: "models/mock-1" }] });
  expect(llm.listings.map(({ path }) => path)).toEqual(["/v1/models", "/v1/models", "/v1beta/models"]);
  expect(llm.requests).toEqual([]);
});
