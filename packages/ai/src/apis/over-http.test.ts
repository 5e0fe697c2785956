import { createServer, type RequestListener, type Server } from "node:http";
import type { AddressInfo } from "node:net";
import { afterEach, expect, test } from "vitest";
import type { Delta } from "../provider.ts";
import { streamAssistant } from "../stream.ts";
import { collect, fakeClock, testModel, testRequest } from "../testing.ts";

/** From the request to the deltas, against a server that speaks the real dialect. */

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
  return testModel({ baseUrl: `http://127.0.0.1:${(started.address() as AddressInfo).port}` });
}

const nextTurn = (): Promise<void> => new Promise((resolve) => setImmediate(resolve));
const sse = (event: { type: string; [key: string]: unknown }): string =>
  `event: ${event.type}\ndata: ${JSON.stringify(event)}\n\n`;
const opening = sse({ type: "content_block_start", index: 0, content_block: { type: "text", text: "" } });
const piece = (text: string): string =>
  sse({ type: "content_block_delta", index: 0, delta: { type: "text_delta", text } });
const closing =
  sse({ type: "content_block_stop", index: 0 }) +
  sse({ type: "message_delta", delta: { stop_reason: "end_turn" }, usage: { output_tokens: 2 } }) +
  sse({ type: "message_stop" });

test("an answer over the wire", async () => {
  let path = "";
  const model = await modelBehind((req, res) => {
    path = req.url ?? "";
    res.writeHead(200, { "content-type": "text/event-stream" });
    res.end(opening + piece("Hi") + piece(" there") + closing);
  });
  expect(await collect(streamAssistant(testRequest({ model })))).toEqual([
    { type: "open", index: 0, block: { type: "text" } },
    { type: "grow", index: 0, text: "Hi" },
    { type: "grow", index: 0, text: " there" },
    { type: "close", index: 0 },
    { type: "usage", output: 2 },
    { type: "done", stopReason: "stop" },
  ]);
  expect(path).toBe("/v1/messages");
});

test("the end of the message ends the stream, even when the server keeps the connection open", async () => {
  const model = await modelBehind((_req, res) => {
    res.writeHead(200, { "content-type": "text/event-stream" });
    res.write(opening + closing);
  });
  expect((await collect(streamAssistant(testRequest({ model })))).at(-1)).toEqual({ type: "done", stopReason: "stop" });
});

test("an error status is the only delta", async () => {
  const model = await modelBehind((_req, res) => {
    res.statusCode = 529;
    res.end('{"error":{"type":"overloaded_error","message":"Overloaded"}}');
  });
  expect(await collect(streamAssistant(testRequest({ model })))).toMatchObject([
    { type: "error", error: { kind: "overloaded", message: "529 overloaded_error: Overloaded" } },
  ]);
});

test("a stream that ends too early, cleanly or not, is an error after what had arrived", async () => {
  const model = await modelBehind((req, res) => {
    res.writeHead(200, { "content-type": "text/event-stream" });
    if (req.headers["x-cut"]) res.write(opening + piece("He"), () => req.socket.destroy());
    else res.end(opening + piece("He"));
  });
  const clean = await collect(streamAssistant(testRequest({ model })));
  expect(clean.slice(1)).toMatchObject([
    { type: "grow", text: "He" },
    { type: "error", error: { kind: "malformed", message: "Anthropic stream ended before message_stop" } },
  ]);
  const cut = await collect(streamAssistant(testRequest({ model, headers: { "x-cut": "1" } })));
  expect(cut.at(-1)).toMatchObject({ type: "error", error: { kind: "network" } });
});

test.each<[type: Record<string, string>, body: string, error: object]>([
  [
    { "content-type": "text/event-stream" },
    '{"error":{"type":"rate_limit_error","message":"Slow down"}}',
    { kind: "rate_limit", message: "rate_limit_error: Slow down" },
  ],
  [
    {},
    `{"error":{"code":"context_length_exceeded","message":"${"Too long. ".repeat(100)}"}}\n`,
    { kind: "overflow", message: expect.stringMatching(/^context_length_exceeded: Too long\. /) as string },
  ],
])("an error where a stream should be, said to be %j, is one by its own words", async (type, body, error) => {
  const model = await modelBehind((_req, res) => {
    res.writeHead(200, type);
    res.end(body);
  });
  expect(await collect(streamAssistant(testRequest({ model })))).toMatchObject([{ type: "error", error }]);
});

test("an abort ends the stream and closes the connection", async () => {
  let closed = false;
  const model = await modelBehind((_req, res) => {
    res.on("close", () => {
      closed = true;
    });
    res.writeHead(200, { "content-type": "text/event-stream" });
    res.write(opening + piece("He"));
  });
  const controller = new AbortController();
  const deltas = [];
  for await (const batch of streamAssistant(testRequest({ model, signal: controller.signal }))) {
    deltas.push(...batch);
    controller.abort();
  }
  expect(deltas.at(-1)).toMatchObject({ type: "error", error: { kind: "aborted", message: "Request was aborted" } });
  while (!closed) await new Promise((resolve) => setImmediate(resolve));
});

test.each([
  ["an empty answer", "", /^127\.0\.0\.1:\d+ answered with an empty body instead of an event stream/],
  [
    "text that is no stream",
    "Please log in first",
    /^127\.0\.0\.1:\d+ sent no event stream, but: Please log in first$/,
  ],
  ["the beginning of an event", "event: mess", /^Anthropic stream ended before message_stop$/],
  ["only comments", ": ping\n\n", /^Anthropic stream ended before message_stop$/],
])("a success without an event: %s", async (_story, text, message) => {
  const model = await modelBehind((_req, res) => {
    res.writeHead(200, { "content-type": "text/event-stream" });
    res.flushHeaders();
    res.end(text);
  });
  const deltas = await collect(streamAssistant(testRequest({ model })));
  expect(deltas).toMatchObject([{ type: "error", error: { kind: "malformed" } }]);
  expect(deltas[0]?.type === "error" && deltas[0].error.message).toMatch(message);
});

test("a server that drips an event byte by byte is a stall, with what had arrived", async () => {
  const clock = fakeClock();
  let drip: (() => void) | undefined;
  const model = await modelBehind((_req, res) => {
    res.writeHead(200, { "content-type": "text/event-stream" });
    res.write(opening + piece("He"));
    drip = () => res.write("d");
  });
  const deltas: Delta[] = [];
  const patience = { firstByteMs: 300_000, idleMs: 120_000 };
  const reading = (async () => {
    for await (const batch of streamAssistant(testRequest({ model, clock, patience }))) deltas.push(...batch);
  })();
  while (deltas.length === 0) await nextTurn();
  for (let minute = 0; minute < 5; minute++) {
    drip?.();
    for (let turn = 0; turn < 20; turn++) await nextTurn();
    clock.advance(60_000);
  }
  await reading;
  expect(deltas.slice(1)).toMatchObject([
    { type: "grow", text: "He" },
    { type: "error", error: { kind: "stalled" } },
  ]);
});

test("half of an emoji does not reach the server, a literal escape does", async () => {
  let body = "";
  const model = await modelBehind((req, res) => {
    req.setEncoding("utf8").on("data", (text: string) => {
      body += text;
    });
    req.on("end", () => {
      res.writeHead(200, { "content-type": "text/event-stream" });
      res.end(opening + closing);
    });
  });
  await collect(
    streamAssistant(testRequest({ model, systemPrompt: "cut \ud83d here, not \\ud83d here, and 😀 is whole" })),
  );
  expect(body).not.toMatch(/[^\\]\\ud83d/);
  const { system } = JSON.parse(body) as { system: { text: string }[] };
  expect(system[0]?.text).toBe("cut \ufffd here, not \\ud83d here, and 😀 is whole");
});

test.each<[story: string, fields: Parameters<typeof testRequest>[0], kind: string, words: string]>([
  ["a key with a line break", { apiKey: "sk-secret\nsk-more" }, "auth", "x-api-key"],
  ["a key of other letters", { apiKey: "sk-sécret“" }, "auth", "x-api-key"],
  ["another header", { headers: { "x-note": "secret\r\nx-more: 1" } }, "bad_request", "x-note"],
  ["no name of a header", { headers: { "x note": "secret" } }, "bad_request", "x note"],
])("what cannot be sent is told without its value, and not tried again: %s", async (_story, fields, kind, words) => {
  const [delta] = await collect(
    streamAssistant(testRequest({ model: testModel({ baseUrl: "http://127.0.0.1:1" }), ...fields })),
  );
  if (delta?.type !== "error") throw new Error("expected an error");
  expect(delta.error).toMatchObject({ kind, retryable: false });
  expect(delta.error.message).toContain(words);
  expect(delta.error.message).not.toMatch(/secret|sk-|sécret/);
});

test("a request that cannot even be built is not tried again", async () => {
  const looped: Record<string, unknown> = {};
  looped.self = looped;
  const tools = [{ name: "x", description: "", parameters: looped }];
  expect(await collect(streamAssistant(testRequest({ tools })))).toMatchObject([
    { type: "error", error: { kind: "bad_request", message: expect.stringContaining("circular") } },
  ]);
});
