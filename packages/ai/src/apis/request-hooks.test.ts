import { createServer, type Server } from "node:http";
import type { AddressInfo } from "node:net";
import { afterEach, describe, expect, test } from "vitest";
import type { HttpResponse } from "../provider.ts";
import { streamAssistant } from "../stream.ts";
import { collect, testModel, testRequest } from "../testing.ts";

/** Who looks at what is sent and at what comes back, over real connections, in all four dialects. */

let server: Server | undefined;

afterEach(async () => {
  server?.closeAllConnections();
  await new Promise((resolve) => (server ? server.close(resolve) : resolve(undefined)));
  server = undefined;
});

const FAMILIES = ["anthropic-messages", "openai-completions", "openai-responses", "google-generative-ai"];

interface Seen {
  bodies: string[];
  url: string;
}

async function listening(status = 500, words = "{}"): Promise<Seen> {
  const seen: Seen = { bodies: [], url: "" };
  const started = createServer((request, response) => {
    const pieces: Buffer[] = [];
    request.on("data", (piece: Buffer) => pieces.push(piece));
    request.on("end", () => {
      seen.bodies.push(Buffer.concat(pieces).toString("utf8"));
      response.writeHead(status, { "content-type": "application/json", "X-Trace": "t1", "set-cookie": ["a=1", "b=2"] });
      response.end(words);
    });
  });
  server = started;
  await new Promise<void>((resolve) => started.listen(0, "127.0.0.1", resolve));
  seen.url = `http://127.0.0.1:${(started.address() as AddressInfo).port}`;
  return seen;
}

describe.each(FAMILIES)("%s", (api) => {
  const modelAt = (baseUrl: string) => testModel({ api, provider: "own", baseUrl });

  test("what is about to be sent can be seen and replaced", async () => {
    const seen = await listening();
    const payloads: unknown[] = [];
    const model = modelAt(seen.url);
    await collect(
      streamAssistant(
        testRequest({
          model,
          apiKey: "key-of-this-test",
          async onPayload(payload, asked) {
            payloads.push(payload);
            expect(asked).toBe(model);
            return { instead: true };
          },
        }),
      ),
    );
    expect(seen.bodies).toEqual(['{"instead":true}']);
    expect(JSON.stringify(payloads)).toContain("Hello");
  });

  test("without an answer it goes out as it is", async () => {
    const seen = await listening();
    const ask = (onPayload?: () => Promise<unknown>) =>
      collect(streamAssistant(testRequest({ model: modelAt(seen.url), apiKey: "key-of-this-test", onPayload })));
    await ask();
    await ask(async () => undefined);
    expect(seen.bodies).toHaveLength(2);
    expect(seen.bodies[1]).toBe(seen.bodies[0]);
  });

  test("the head of an answer is told before its body is read, also when it says no", async () => {
    const seen = await listening(529, '{"error":{"message":"busy"}}');
    const heads: HttpResponse[] = [];
    const deltas = await collect(
      streamAssistant(
        testRequest({
          model: modelAt(seen.url),
          apiKey: "key-of-this-test",
          async onResponse(head) {
            heads.push(head);
          },
        }),
      ),
    );
    expect(heads).toHaveLength(1);
    expect(heads[0]).toMatchObject({ status: 529, headers: { "x-trace": "t1", "set-cookie": "a=1, b=2" } });
    expect(deltas).toMatchObject([{ type: "error", error: { kind: "overloaded" } }]);
  });
});

test("a failure of who looks is the failure of the request", async () => {
  const seen = await listening(200);
  const model = testModel({ baseUrl: seen.url });
  const ask = (fields: Parameters<typeof testRequest>[0]) =>
    collect(streamAssistant(testRequest({ model, ...fields })));
  expect(await ask({ onPayload: () => Promise.reject(new Error("cannot look")) })).toMatchObject([
    { type: "error", error: { kind: "bad_request", message: expect.stringContaining("cannot look") as string } },
  ]);
  expect(await ask({ onResponse: () => Promise.reject(new Error("cannot listen")) })).toMatchObject([
    { type: "error", error: { message: expect.stringContaining("cannot listen") as string } },
  ]);
  expect(await ask({ onPayload: async () => () => 1 })).toMatchObject([
    { type: "error", error: { kind: "bad_request", message: expect.stringContaining("not JSON") as string } },
  ]);
});

test("an abort while somebody looks ends the stream, and nothing is sent", async () => {
  const seen = await listening();
  const controller = new AbortController();
  let goOn = (_: unknown): void => undefined;
  const deltas = collect(
    streamAssistant(
      testRequest({
        model: testModel({ baseUrl: seen.url }),
        signal: controller.signal,
        onPayload() {
          setImmediate(() => controller.abort());
          return new Promise((resolve) => {
            goOn = resolve;
          });
        },
      }),
    ),
  );
  expect(await deltas).toMatchObject([{ type: "error", error: { kind: "aborted" } }]);
  goOn(undefined);
  await new Promise((resolve) => setImmediate(resolve));
  expect(seen.bodies).toEqual([]);
});

describe("the events of an answer", () => {
  const BODY = 'data: {"type":"ping"}\n\ndata: [DONE]\n\n';
  const started = async () => {
    const plain = createServer((_request, response) => {
      response.writeHead(200, { "content-type": "text/event-stream" });
      response.end(BODY);
    });
    server = plain;
    await new Promise<void>((resolve) => plain.listen(0, "127.0.0.1", resolve));
    return `http://127.0.0.1:${(plain.address() as AddressInfo).port}`;
  };

  test("are shown as they came, each before the next, and are waited for", async () => {
    const model = testModel({ api: "openai-completions", provider: "own", baseUrl: await started() });
    const seen: unknown[] = [];
    let isBusy = false;
    const onEvent = async (data: unknown, asked: unknown) => {
      expect([isBusy, asked]).toEqual([false, model]);
      isBusy = true;
      await new Promise((resolve) => setImmediate(resolve));
      isBusy = false;
      seen.push(data);
    };
    await collect(streamAssistant(testRequest({ model, apiKey: "key-of-this-test", onEvent })));
    expect(seen).toEqual([{ type: "ping" }, "[DONE]"]);
  });
});
