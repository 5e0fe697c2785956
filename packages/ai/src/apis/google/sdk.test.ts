import { createServer, type Server } from "node:http";
import type { AddressInfo } from "node:net";
import { GoogleGenAI } from "@google/genai";
import { afterEach, expect, test } from "vitest";
import { streamAssistant } from "../../stream.ts";
import { collect, testModel, testRequest } from "../../testing.ts";

/** The streams of these tests are composed; that the vendor's own client reads the same in them shows the dialect is real. */

let server: Server | undefined;

afterEach(async () => {
  server?.closeAllConnections();
  await new Promise((resolve) => (server ? server.close(resolve) : resolve(undefined)));
  server = undefined;
});

const common = { modelVersion: "gemini-2.5-flash", responseId: "rsp-1" };
const usageMetadata = { promptTokenCount: 12, candidatesTokenCount: 9, thoughtsTokenCount: 5, totalTokenCount: 26 };
const event = (parts: unknown[], more: object = {}) => ({
  candidates: [{ content: { parts, role: "model" }, index: 0, ...more }],
  ...common,
  usageMetadata,
});
const STREAM = [
  event([{ text: "**Planning**", thought: true }]),
  event([{ text: 'I will read "a" ' }]),
  event([{ text: "and list." }]),
  event([
    { functionCall: { name: "read", args: { path: "a\n" } }, thoughtSignature: "c2lnbmF0dXJl" },
    { functionCall: { id: "own-2", name: "ls", args: {} } },
  ]),
  event([{ text: "" }], { finishReason: "STOP" }),
]
  .map((data) => `data: ${JSON.stringify(data)}\r\n\r\n`)
  .join("");

interface Seen {
  url: string;
  key: unknown;
  body: unknown;
}

async function serve(): Promise<{ baseUrl: string; seen: Seen[] }> {
  const seen: Seen[] = [];
  const started = createServer((req, res) => {
    const pieces: Buffer[] = [];
    req.on("data", (piece: Buffer) => pieces.push(piece));
    req.on("end", () => {
      const body: unknown = JSON.parse(Buffer.concat(pieces).toString("utf8"));
      seen.push({ url: req.url ?? "", key: req.headers["x-goog-api-key"], body });
      res.writeHead(200, { "content-type": "text/event-stream" });
      res.end(STREAM);
    });
  });
  server = started;
  await new Promise<void>((resolve) => started.listen(0, "127.0.0.1", resolve));
  return { baseUrl: `http://127.0.0.1:${(started.address() as AddressInfo).port}`, seen };
}

test("the vendor's client asks the same and reads the same", async () => {
  const { baseUrl, seen } = await serve();
  const client = new GoogleGenAI({ apiKey: "key-1", httpOptions: { baseUrl } });
  let text = "";
  const calls: unknown[] = [];
  const parameters = { type: "object", properties: { path: { type: "string" } } };
  const stream = await client.models.generateContentStream({
    model: "gemini-2.5-flash",
    contents: [{ role: "user", parts: [{ text: "Hello" }] }],
    config: {
      systemInstruction: { parts: [{ text: "Be brief." }] },
      tools: [{ functionDeclarations: [{ name: "read", description: "Reads", parametersJsonSchema: parameters }] }],
      maxOutputTokens: 32_000,
    },
  });
  for await (const chunk of stream) {
    for (const part of chunk.candidates?.[0]?.content?.parts ?? []) {
      if (part.text && !part.thought) text += part.text;
      if (part.functionCall) calls.push([part.functionCall.name, part.functionCall.args]);
    }
  }

  const model = testModel({ id: "gemini-2.5-flash", api: "google-generative-ai", provider: "google", baseUrl });
  const tools = [{ name: "read", description: "Reads", parameters }];
  const request = testRequest({ model, apiKey: "key-1", systemPrompt: "Be brief.", tools });
  const deltas = await collect(streamAssistant(request));
  const texts = new Map<number, string>();
  const opened = deltas.flatMap((delta) => (delta.type === "open" ? [delta] : []));
  for (const delta of deltas) {
    if (delta.type === "grow") texts.set(delta.index, (texts.get(delta.index) ?? "") + delta.text);
  }
  const said = opened.flatMap(({ index, block }) => (block.type === "text" ? [texts.get(index)] : [])).join("");
  const called = opened.flatMap(({ index, block }) =>
    block.type === "toolCall" ? [[block.name, JSON.parse(texts.get(index) ?? "{}")]] : [],
  );
  expect(said).toBe(text);
  expect(called).toEqual(calls);
  expect(said).toBe('I will read "a" and list.');
  expect(deltas.at(-1)).toEqual({ type: "done", stopReason: "toolUse" });

  const [theirs, ours] = seen;
  expect(ours?.url).toBe(theirs?.url);
  expect(ours?.key).toBe(theirs?.key);
  expect(withoutRole(ours?.body)).toEqual(withoutRole(theirs?.body));
});

/** The client gives the system prompt a role, which the API ignores. */
function withoutRole(body: unknown): unknown {
  const { systemInstruction, ...rest } = body as { systemInstruction: { parts: unknown } };
  return { ...rest, systemInstruction: { parts: systemInstruction.parts } };
}
