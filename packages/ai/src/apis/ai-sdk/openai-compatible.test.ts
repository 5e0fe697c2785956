import { createServer, type RequestListener, type Server } from "node:http";
import type { AddressInfo } from "node:net";
import { fileURLToPath } from "node:url";
import { afterEach, expect, test } from "vitest";
import { streamAssistant } from "../../stream.ts";
import { collect, testModel, testRequest } from "../../testing.ts";

/** The bridge with a real package of the AI SDK, against a server that speaks chat completions. */

let server: Server | undefined;

afterEach(async () => {
  server?.closeAllConnections();
  await new Promise((resolve) => (server ? server.close(resolve) : resolve(undefined)));
  server = undefined;
});

async function modelBehind(listener: RequestListener) {
  const started = createServer(listener);
  server = started;
  await new Promise<void>((resolve) => started.listen(0, "127.0.0.1", resolve));
  return testModel({
    id: "gpt-x",
    api: "ai-sdk",
    provider: "acme",
    baseUrl: `http://127.0.0.1:${(started.address() as AddressInfo).port}/v1`,
    compat: { package: "@ai-sdk/openai-compatible", from: fileURLToPath(new URL(".", import.meta.url)) },
  });
}

const chunk = (delta: object, finish_reason: string | null = null, more: object = {}): string =>
  `data: ${JSON.stringify({ id: "chat-1", model: "gpt-x-1", choices: [{ index: 0, delta, finish_reason }], ...more })}\n\n`;

test("text, reasoning and a tool call", async () => {
  const seen: { path?: string; key?: string; team?: unknown; body?: unknown } = {};
  const model = await modelBehind((req, res) => {
    const pieces: Buffer[] = [];
    req.on("data", (piece: Buffer) => pieces.push(piece));
    req.on("end", () => {
      Object.assign(seen, { path: req.url, key: req.headers.authorization, team: req.headers["x-team"] });
      seen.body = JSON.parse(Buffer.concat(pieces).toString("utf8"));
      res.writeHead(200, { "content-type": "text/event-stream" });
      res.write(chunk({ role: "assistant", reasoning_content: "Hm" }));
      res.write(chunk({ content: "Look" }) + chunk({ content: "ing." }));
      res.write(
        chunk({ tool_calls: [{ index: 0, id: "c1", type: "function", function: { name: "read", arguments: "" } }] }),
      );
      res.write(chunk({ tool_calls: [{ index: 0, function: { arguments: '{"path":' } }] }));
      res.write(chunk({ tool_calls: [{ index: 0, function: { arguments: '"a"}' } }] }));
      res.write(chunk({}, "tool_calls", { usage: { prompt_tokens: 7, completion_tokens: 5 } }));
      res.end("data: [DONE]\n\n");
    });
  });
  const request = testRequest({
    model,
    apiKey: "key-1",
    headers: { "X-Team": "blue" },
    systemPrompt: "Be brief.",
    tools: [{ name: "read", description: "Reads", parameters: { type: "object", properties: {} } }],
  });
  const deltas = await collect(streamAssistant(request));
  expect(seen).toMatchObject({ path: "/v1/chat/completions", key: "Bearer key-1", team: "blue" });
  expect(seen.body).toMatchObject({
    model: "gpt-x",
    messages: [
      { role: "system", content: "Be brief." },
      { role: "user", content: "Hello" },
    ],
    tools: [{ type: "function", function: { name: "read" } }],
  });
  const opened = deltas.flatMap((delta) => (delta.type === "open" ? [delta.block] : []));
  expect(opened).toEqual([{ type: "thinking" }, { type: "text" }, { type: "toolCall", id: "c1", name: "read" }]);
  const grown = deltas.flatMap((delta) => (delta.type === "grow" ? [delta.text] : [])).join("");
  expect(grown).toBe('HmLooking.{"path":"a"}');
  expect(deltas).toContainEqual({ type: "response", id: "chat-1", model: "gpt-x-1" });
  expect(deltas).toContainEqual(expect.objectContaining({ type: "usage", input: 7, output: 5 }));
  expect(deltas.at(-1)).toEqual({ type: "done", stopReason: "toolUse" });
});

test("a refusal keeps the server's words", async () => {
  const model = await modelBehind((_req, res) => {
    res.writeHead(429, { "content-type": "application/json", "retry-after": "3" });
    res.end(JSON.stringify({ error: { message: "Slow down", type: "rate_limit_error" } }));
  });
  expect(await collect(streamAssistant(testRequest({ model })))).toMatchObject([
    {
      type: "error",
      error: {
        kind: "rate_limit",
        status: 429,
        retryAfterMs: 3000,
        message: expect.stringMatching(/^429 .*Slow down$/) as string,
      },
    },
  ]);
});

test("a stream that is cut is an error, not an answer", async () => {
  const model = await modelBehind((_req, res) => {
    res.writeHead(200, { "content-type": "text/event-stream" });
    res.end(chunk({ content: "Half an ans" }));
  });
  const deltas = await collect(streamAssistant(testRequest({ model })));
  expect(deltas).toContainEqual({ type: "grow", index: 0, text: "Half an ans" });
  expect(deltas.at(-1)).toMatchObject({ type: "error", error: { kind: "malformed" } });
});

test("an abort in mid-answer", async () => {
  const abort = new AbortController();
  const model = await modelBehind((_req, res) => {
    res.writeHead(200, { "content-type": "text/event-stream" });
    res.write(chunk({ content: "Hi" }));
  });
  const deltas: unknown[] = [];
  for await (const batch of streamAssistant(testRequest({ model, signal: abort.signal }))) {
    deltas.push(...batch);
    if (batch.some((delta) => delta.type === "grow")) abort.abort();
  }
  expect(deltas.at(-1)).toMatchObject({ type: "error", error: { kind: "aborted" } });
});

test("nobody listens", async () => {
  const model = await modelBehind(() => undefined);
  const closed = server!;
  await new Promise((resolve) => closed.close(resolve));
  server = undefined;
  expect(await collect(streamAssistant(testRequest({ model })))).toMatchObject([
    { type: "error", error: { kind: "network", message: expect.stringMatching(/Cannot connect/) as string } },
  ]);
});
