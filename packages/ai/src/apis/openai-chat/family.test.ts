import { createServer, type Server } from "node:http";
import type { AddressInfo } from "node:net";
import { afterAll, beforeAll, expect, test } from "vitest";
import { streamAssistant } from "../../stream.ts";
import { collect, testModel, testRequest } from "../../testing.ts";

/** The family over a real socket: a server that is asked and answers, chosen by the name of the API. */

const CHUNKS = [
  { id: "c1", model: "local", choices: [{ index: 0, delta: { role: "assistant", content: "Hel" } }] },
  { id: "c1", model: "local", choices: [{ index: 0, delta: { content: "lo" } }] },
  { id: "c1", model: "local", choices: [{ index: 0, delta: {}, finish_reason: "stop" }] },
  { id: "c1", model: "local", choices: [], usage: { prompt_tokens: 3, completion_tokens: 2, total_tokens: 5 } },
];

let server: Server;
const asked: unknown[] = [];

beforeAll(async () => {
  server = createServer((request, response) => {
    let body = "";
    request.setEncoding("utf8");
    request.on("data", (piece: string) => {
      body += piece;
    });
    request.on("end", () => {
      const { authorization } = request.headers;
      asked.push([request.method, request.url, authorization, (JSON.parse(body) as { model: string }).model]);
      response.writeHead(200, { "content-type": "text/event-stream" });
      for (const chunk of CHUNKS) response.write(`data: ${JSON.stringify(chunk)}\n\n`);
      response.end("data: [DONE]\n\n");
    });
  });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
});

afterAll(() => {
  server.closeAllConnections();
  server.close();
});

test("a server on this machine answers", async () => {
  const { port } = server.address() as AddressInfo;
  const model = testModel({
    id: "local",
    api: "openai-completions",
    provider: "llamacpp",
    baseUrl: `http://127.0.0.1:${port}`,
  });
  expect(await collect(streamAssistant(testRequest({ model })))).toEqual([
    { type: "response", id: "c1", model: "local" },
    { type: "open", index: 0, block: { type: "text" } },
    { type: "grow", index: 0, text: "Hel" },
    { type: "grow", index: 0, text: "lo" },
    { type: "usage", input: 3, output: 2 },
    { type: "close", index: 0 },
    { type: "done", stopReason: "stop" },
  ]);
  expect(asked).toEqual([["POST", "/v1/chat/completions", undefined, "local"]]);
});
