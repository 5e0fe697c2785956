import { createServer, type IncomingMessage, type RequestListener, type Server, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";
import { afterEach, expect, test } from "vitest";
import { ProviderError } from "../errors.ts";
import { fakeClock } from "../testing.ts";
import type { HttpBody } from "./body.ts";
import { type EventStreamRequest, postForEvents } from "./request.ts";

const servers: Server[] = [];

afterEach(async () => {
  for (const server of servers.splice(0)) {
    server.closeAllConnections();
    await new Promise((resolve) => server.close(resolve));
  }
});

/** A server on the loopback; gives its address. */
async function serve(listener: RequestListener): Promise<string> {
  const server = createServer(listener);
  servers.push(server);
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  return `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
}

function request(url: string, fields: Partial<EventStreamRequest> = {}): EventStreamRequest {
  return { url, headers: {}, body: "{}", clock: fakeClock(), signal: new AbortController().signal, ...fields };
}

async function failureOf(promise: Promise<unknown>): Promise<ProviderError> {
  const error: unknown = await promise.then(
    () => undefined,
    (reason: unknown) => reason,
  );
  if (!(error instanceof ProviderError)) throw new Error(`expected a ProviderError, got ${String(error)}`);
  return error;
}

async function readAll(body: HttpBody): Promise<string> {
  let text = "";
  for (let piece = await body.next(); piece; piece = await body.next()) text += piece.toString();
  return text;
}

const asStream = { "content-type": "text/event-stream" };
const nextTurn = () => new Promise((resolve) => setImmediate(resolve));

/** Lets sockets work until something has happened. */
async function until(happened: () => boolean): Promise<void> {
  while (!happened()) await nextTurn();
}

test("posts JSON and gives the pieces of the answer", async () => {
  const seen: { method?: string; headers?: IncomingMessage["headers"]; body: string } = { body: "" };
  const url = await serve((req, res) => {
    seen.method = req.method;
    seen.headers = req.headers;
    req.on("data", (piece) => {
      seen.body += String(piece);
    });
    req.on("end", () => {
      res.writeHead(200, asStream);
      res.write("data: 1\n\n");
      res.end("data: ✓\n\n");
    });
  });
  const body = await postForEvents(request(url, { headers: { "x-api-key": "k" }, body: '{"é":1}' }));
  expect(await readAll(body)).toBe("data: 1\n\ndata: ✓\n\n");
  expect(seen).toMatchObject({
    method: "POST",
    body: '{"é":1}',
    headers: {
      "x-api-key": "k",
      "content-type": "application/json",
      "content-length": "8",
      accept: "text/event-stream",
      "accept-encoding": "identity",
    },
  });
  expect(await body.next()).toBeUndefined();
});

test("a status that is no success becomes an error with the provider's words", async () => {
  const url = await serve((_req, res) => {
    res.writeHead(429, { "content-type": "application/json", "retry-after": "7" });
    res.end('{"error":{"type":"rate_limit_error","message":"Slow down"}}');
  });
  expect(await failureOf(postForEvents(request(url)))).toMatchObject({
    kind: "rate_limit",
    status: 429,
    retryAfterMs: 7000,
    message: "429 rate_limit_error: Slow down",
  });
});

test("of an endless error page only the beginning is read", async () => {
  let closed = false;
  const url = await serve((_req, res) => {
    res.writeHead(500, { "content-type": "text/plain" });
    res.on("close", () => {
      closed = true;
    });
    const more = (): void => {
      if (!closed) res.write("x".repeat(16_384), () => setImmediate(more));
    };
    more();
  });
  const error = await failureOf(postForEvents(request(url)));
  expect(error.kind).toBe("server");
  expect(error.message.length).toBeLessThan(3000);
  await until(() => closed);
});

test("a success that is no event stream is an error that quotes it", async () => {
  const url = await serve((_req, res) => {
    res.writeHead(200, { "content-type": "text/html" });
    res.end("<h1>Please log in</h1>");
  });
  const error = await failureOf(postForEvents(request(url)));
  expect(error.kind).toBe("malformed");
  expect(error.message).toMatch(/answered with text\/html instead of an event stream: Please log in$/);
});

test.each([
  ["not a url", "bad_request", /must begin with http/],
  ["ftp://example.invalid/x", "bad_request", /must begin with http/],
  ["http://127.0.0.1:1/", "network", /^Connection error: cannot reach http:\/\/127\.0\.0\.1:1 \(.*ECONNREFUSED/],
])("an address that leads nowhere: %s", async (url, kind, message) => {
  const error = await failureOf(postForEvents(request(url)));
  expect(error.kind).toBe(kind);
  expect(error.message).toMatch(message);
});

test("an abort before, during the wait and during the stream closes the connection", async () => {
  const closings: string[] = [];
  const url = await serve((req, res) => {
    res.on("close", () => closings.push(req.url ?? ""));
    if (req.url === "/streaming") {
      res.writeHead(200, asStream);
      res.write("data: 1\n\n");
    }
  });
  const before = AbortSignal.abort();
  expect(await failureOf(postForEvents(request(`${url}/never`, { signal: before })))).toMatchObject({
    kind: "aborted",
  });

  const waiting = new AbortController();
  const unanswered = failureOf(postForEvents(request(`${url}/silent`, { signal: waiting.signal })));
  for (let turn = 0; turn < 20; turn++) await nextTurn();
  waiting.abort();
  expect(await unanswered).toMatchObject({ kind: "aborted", message: "Request was aborted" });

  const streaming = new AbortController();
  const body = await postForEvents(request(`${url}/streaming`, { signal: streaming.signal }));
  expect(String(await body.next())).toBe("data: 1\n\n");
  const next = failureOf(body.next());
  streaming.abort();
  expect(await next).toMatchObject({ kind: "aborted" });
  await until(() => closings.includes("/streaming"));
  expect(closings).not.toContain("/never");
});

test("silence before the first byte is a stall", async () => {
  const clock = fakeClock();
  let asked = false;
  const url = await serve((_req, res) => {
    asked = true;
    // Headers alone are no answer yet.
    res.writeHead(200, asStream);
    res.flushHeaders();
  });
  const body = await postForEvents(request(url, { clock, timeouts: { firstByteMs: 5000 } }));
  await until(() => asked);
  const next = failureOf(body.next());
  clock.advance(4999);
  clock.advance(1);
  expect(await next).toMatchObject({ kind: "stalled", retryable: true });
  expect((await next).message).toMatch(/^Timed out: waited 5 s for an answer from 127\.0\.0\.1/);
});

test("silence in the middle is a stall, but every piece starts the wait anew", async () => {
  const clock = fakeClock();
  let response: ServerResponse | undefined;
  const url = await serve((_req, res) => {
    response = res;
    res.writeHead(200, asStream);
    res.write("a");
  });
  const body = await postForEvents(request(url, { clock, timeouts: { idleMs: 1000 } }));
  expect(String(await body.next())).toBe("a");
  const second = body.next();
  clock.advance(999);
  response?.write("b");
  expect(String(await second)).toBe("b");
  const third = failureOf(body.next());
  clock.advance(999);
  const early = await Promise.race([third, nextTurn().then(() => "still waiting")]);
  expect(early).toBe("still waiting");
  clock.advance(1);
  expect((await third).message).toMatch(/^Timed out: waited 1 s for the next piece from/);
});

test("a reader that takes its time is not taken for a silent server", async () => {
  const clock = fakeClock();
  let response: ServerResponse | undefined;
  const url = await serve((_req, res) => {
    response = res;
    res.writeHead(200, asStream);
    res.write("a");
  });
  const body = await postForEvents(request(url, { clock, timeouts: { idleMs: 1000 } }));
  await body.next();
  clock.advance(60_000);
  const next = body.next();
  response?.end("b");
  expect(String(await next)).toBe("b");
});

test("a connection that breaks in the middle is a network error", async () => {
  const url = await serve((req, res) => {
    res.writeHead(200, asStream);
    res.write("data: 1\n\n", () => req.socket.destroy());
  });
  const body = await postForEvents(request(url));
  expect(await failureOf(readAll(body))).toMatchObject({ kind: "network", retryable: true });
});

test("a released body leaves its connection to the next request, a destroyed one does not", async () => {
  const ports: (number | undefined)[] = [];
  const url = await serve((req, res) => {
    ports.push(req.socket.remotePort);
    res.writeHead(200, asStream);
    res.write("data: end\n\n");
    if (req.url !== "/endless") res.end();
  });
  for (const path of ["/first", "/second", "/endless", "/last"]) {
    const body = await postForEvents(request(url + path));
    await body.next();
    if (path === "/endless") body.destroy();
    else body.release();
    expect(await body.next()).toBeUndefined();
    await nextTurn();
    await nextTurn();
  }
  expect(ports[1]).toBe(ports[0]);
  expect(ports[2]).toBe(ports[0]);
  expect(ports[3]).not.toBe(ports[0]);
});

test("a kept connection that the server has closed meanwhile is replaced without a word", async () => {
  let requests = 0;
  const url = await serve((req, res) => {
    requests++;
    // The second request meets a connection that dies under it.
    if (requests === 2) {
      req.socket.resetAndDestroy();
      return;
    }
    res.writeHead(200, asStream);
    res.end("ok");
  });
  expect(await readAll(await postForEvents(request(url)))).toBe("ok");
  await nextTurn();
  expect(await readAll(await postForEvents(request(url)))).toBe("ok");
  expect(requests).toBe(3);
});

test("a slow reader holds the server back", async () => {
  let sent = 0;
  let stopped = false;
  const url = await serve((_req, res) => {
    res.writeHead(200, asStream);
    const piece = Buffer.alloc(64 * 1024, "x");
    const more = (): void => {
      while (sent < 64 * 1024 * 1024) {
        sent += piece.length;
        if (!res.write(piece)) {
          res.once("drain", more);
          return;
        }
      }
      stopped = true;
      res.end();
    };
    more();
  });
  const body = await postForEvents(request(url));
  for (let turn = 0; turn < 2000; turn++) await nextTurn();
  expect(stopped).toBe(false);
  let received = 0;
  for (let piece = await body.next(); piece; piece = await body.next()) received += piece.length;
  expect(received).toBe(sent);
});
