import type { IncomingMessage, ServerResponse } from "node:http";
import { createServer } from "node:net";
import { afterEach, expect, test } from "vitest";
import type { ProviderError } from "../errors.ts";
import { fakeClock } from "../testing.ts";
import { openBody } from "./body.ts";
import type { BodyListener, BodySource } from "./body-source.ts";
import { postForEvents } from "./request.ts";
import { asStream, eventRequest, failureFrom, nextTurn, readAll, testServers, until } from "./test-servers.ts";
import { putBetween } from "./traffic.ts";
import { createWatchdog } from "./watchdog.ts";

const servers = testServers();
afterEach(servers.closeAll);

test("posts JSON and gives the pieces of the answer", async () => {
  const seen: { method?: string; headers?: IncomingMessage["headers"]; body: string } = { body: "" };
  const url = await servers.http((req, res) => {
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
  const body = await postForEvents(eventRequest(url, { headers: { "x-api-key": "k" }, body: ['{"é":1}'] }));
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

test.each<[given: Record<string, string>, host: (url: string) => string]>([
  [{}, (url) => new URL(url).host],
  [{ host: "models.example" }, () => "models.example"],
])("the server is named once, with headers %j", async (headers, host) => {
  let names: string[] = [];
  const url = await servers.http((req, res) => {
    names = req.rawHeaders.flatMap((name, at) =>
      /^host$/i.test(name) && at % 2 === 0 ? [req.rawHeaders[at + 1]!] : [],
    );
    res.writeHead(200, asStream);
    res.end("data: 1\n\n");
  });
  await readAll(await postForEvents(eventRequest(url, { headers })));
  expect(names).toEqual([host(url)]);
});

/** A server that remembers the names and values of the last request as they were written. */
async function listener(): Promise<{ url: string; sent(name: string): string[] }> {
  let raw: string[] = [];
  const url = await servers.http((req, res) => {
    raw = req.rawHeaders;
    res.writeHead(200, asStream);
    res.end("data: 1\n\n");
  });
  const sent = (name: string): string[] =>
    raw.filter((_, at) => at % 2 === 1 && raw[at - 1]!.toLowerCase() === name.toLowerCase());
  return { url, sent };
}

test.each<[given: Record<string, string>, name: string, sent: string[]]>([
  [{ "Content-Type": "application/json; own" }, "content-type", ["application/json; own"]],
  [{ authorization: "Bearer one", Authorization: "Bearer two" }, "authorization", ["Bearer two"]],
  [{ Host: "models.example" }, "host", ["models.example"]],
  [{ "Accept-Encoding": "gzip" }, "accept-encoding", ["gzip"]],
  [{ "Content-Length": "3" }, "content-length", ["2"]],
  [{ "Transfer-Encoding": "chunked" }, "transfer-encoding", []],
  [{ Connection: "close" }, "connection", ["close"]],
  [{ "x-own": undefined as unknown as string }, "x-own", []],
])("with the headers %j there is one %s, or none", async (headers, name, values) => {
  const { url, sent } = await listener();
  await readAll(await postForEvents(eventRequest(url, { headers })));
  expect(sent(name)).toEqual(values);
});

test.each<[login: string, given: Record<string, string>, sent: string]>([
  ["me:p%40ss", {}, `Basic ${btoa("me:p@ss")}`],
  ["me:50%", {}, `Basic ${btoa("me:50%")}`],
  [":pass", {}, `Basic ${btoa(":pass")}`],
  ["me:pass", { Authorization: "Bearer key" }, "Bearer key"],
])("the login %s of an address is a header, with headers %j", async (login, headers, value) => {
  const { url, sent } = await listener();
  await readAll(await postForEvents(eventRequest(url.replace("//", `//${login}@`), { headers })));
  expect(sent("authorization")).toEqual([value]);
});

test("a status that is no success becomes an error with the provider's words", async () => {
  const url = await servers.http((_req, res) => {
    res.writeHead(429, { "content-type": "application/json", "retry-after": "7" });
    res.end('{"error":{"type":"rate_limit_error","message":"Slow down"}}');
  });
  expect(await failureFrom(postForEvents(eventRequest(url)))).toMatchObject({
    kind: "rate_limit",
    status: 429,
    retryAfterMs: 7000,
    message: "429 rate_limit_error: Slow down",
  });
});

test("of an endless error page only the beginning is read", async () => {
  let closed = false;
  const url = await servers.http((_req, res) => {
    res.writeHead(500, { "content-type": "text/plain" });
    res.on("close", () => {
      closed = true;
    });
    const more = (): void => {
      if (!closed) res.write("x".repeat(16_384), () => setImmediate(more));
    };
    more();
  });
  const error = await failureFrom(postForEvents(eventRequest(url)));
  expect(error.kind).toBe("server");
  expect(error.message.length).toBeLessThan(3000);
  await until(() => closed);
});

test("an error whose words never end is told with what has come after a few seconds", async () => {
  const clock = fakeClock();
  let isClosed = false;
  const url = await servers.http((_req, res) => {
    res.on("close", () => {
      isClosed = true;
    });
    res.writeHead(401, { "content-type": "text/plain" });
    res.write("No such key");
  });
  let error: ProviderError | undefined;
  const asking = failureFrom(postForEvents(eventRequest(url, { clock }))).then((failure) => {
    error = failure;
  });
  for (let second = 0; second < 10 && !error; second++) {
    for (let turn = 0; turn < 50; turn++) await nextTurn();
    clock.advance(1000);
  }
  await asking;
  expect(error).toMatchObject({ kind: "auth", status: 401, message: "401 No such key" });
  await until(() => isClosed);
});

test("a success that is no event stream is an error that quotes it", async () => {
  const url = await servers.http((_req, res) => {
    res.writeHead(200, { "content-type": "text/html" });
    res.end("<h1>Please log in</h1>");
  });
  const error = await failureFrom(postForEvents(eventRequest(url)));
  expect(error.kind).toBe("bad_request");
  expect(error.message).toMatch(/answered with text\/html instead of an event stream: Please log in$/);
});

test.each([
  ["not a url", "bad_request", /must begin with http/],
  ["ftp://example.invalid/x", "bad_request", /must begin with http/],
  [
    "http://127.0.0.1:1/",
    "network",
    /^Connection error: cannot reach http:\/\/127\.0\.0\.1:1 \(.*ECONNREFUSED.*\): is the server running\?$/,
  ],
  [
    "http://localhost:1/",
    "network",
    /^Connection error: cannot reach http:\/\/localhost:1 \(.*ECONNREFUSED.*\): is the server running\?$/,
  ],
])("an address that leads nowhere: %s", async (url, kind, message) => {
  const error = await failureFrom(postForEvents(eventRequest(url)));
  expect(error.kind).toBe(kind);
  expect(error.message).toMatch(message);
});

test.each<[story: string, answer: (res: ServerResponse) => void, kind: string, message: RegExp]>([
  [
    "a redirect",
    (res) => res.writeHead(302, { location: "https://login.test/" }).end("<html>Found</html>"),
    "bad_request",
    /^302 Found to https:\/\/login\.test\/; redirects are not followed/,
  ],
  [
    "a page from a proxy",
    (res) => res.writeHead(502, { "content-type": "text/html" }).end("<html><h1>Bad Gateway</h1></html>"),
    "server",
    /^502 Bad Gateway \(an HTML page, not the API/,
  ],
  ["no content", (res) => res.writeHead(204).end(), "bad_request", /answered 204 with an empty body/],
  [
    "a success of no length",
    (res) => res.writeHead(200, { ...asStream, "content-length": 0 }).end(),
    "malformed",
    /answered 200 with an empty body/,
  ],
  [
    "an error in the clothes of a success",
    (res) =>
      res
        .writeHead(200, { "content-type": "application/json" })
        .end('{"error":{"code":"invalid_api_key","message":"Bad"}}'),
    "auth",
    /^invalid_api_key: Bad$/,
  ],
])("an answer that is of no use: %s", async (_story, answer, kind, message) => {
  const url = await servers.http((_req, res) => answer(res));
  const error = await failureFrom(postForEvents(eventRequest(url)));
  expect(error.kind).toBe(kind);
  expect(error.message).toMatch(message);
});

test("an abort before, during the wait and during the stream closes the connection", async () => {
  const closings: string[] = [];
  const url = await servers.http((req, res) => {
    res.on("close", () => closings.push(req.url ?? ""));
    if (req.url === "/streaming") {
      res.writeHead(200, asStream);
      res.write("data: 1\n\n");
    }
  });
  const before = AbortSignal.abort();
  expect(await failureFrom(postForEvents(eventRequest(`${url}/never`, { signal: before })))).toMatchObject({
    kind: "aborted",
  });

  const waiting = new AbortController();
  const unanswered = failureFrom(postForEvents(eventRequest(`${url}/silent`, { signal: waiting.signal })));
  for (let turn = 0; turn < 20; turn++) await nextTurn();
  waiting.abort();
  expect(await unanswered).toMatchObject({ kind: "aborted", message: "Request was aborted" });

  const streaming = new AbortController();
  const body = await postForEvents(eventRequest(`${url}/streaming`, { signal: streaming.signal }));
  expect(String(await body.next())).toBe("data: 1\n\n");
  const next = failureFrom(body.next());
  streaming.abort();
  expect(await next).toMatchObject({ kind: "aborted" });
  await until(() => closings.includes("/streaming"));
  expect(closings).not.toContain("/never");
});

test("an abort that came before is seen whoever stands between us and the network", async () => {
  putBetween(() => new Promise(() => undefined));
  try {
    const failure = failureFrom(postForEvents(eventRequest("http://127.0.0.1:1/", { signal: AbortSignal.abort() })));
    expect(await Promise.race([failure, nextTurn().then(nextTurn)])).toMatchObject({ kind: "aborted" });
  } finally {
    putBetween((request, send) => send(request));
  }
});

test("silence before the first byte is a stall", async () => {
  const clock = fakeClock();
  let asked = false;
  const url = await servers.http((_req, res) => {
    asked = true;
    // Headers alone are no answer yet.
    res.writeHead(200, asStream);
    res.flushHeaders();
  });
  const body = await postForEvents(eventRequest(url, { clock, timeouts: { firstByteMs: 5000 } }));
  await until(() => asked);
  const next = failureFrom(body.next());
  clock.advance(4999);
  clock.advance(1);
  expect(await next).toMatchObject({ kind: "stalled", retryable: true });
  expect((await next).message).toMatch(/^Timed out: waited 5 s for an answer from 127\.0\.0\.1/);
});

test("silence in the middle is a stall, but every line starts the wait anew, a comment too", async () => {
  const clock = fakeClock();
  let response: ServerResponse | undefined;
  const url = await servers.http((_req, res) => {
    response = res;
    res.writeHead(200, asStream);
    res.write("data: a\n\n");
  });
  const body = await postForEvents(eventRequest(url, { clock, timeouts: { idleMs: 1000 } }));
  expect(String(await body.next())).toBe("data: a\n\n");
  const second = body.next();
  clock.advance(999);
  response?.write(": keep-alive\n");
  expect(String(await second)).toBe(": keep-alive\n");
  const third = failureFrom(body.next());
  clock.advance(999);
  const early = await Promise.race([third, nextTurn().then(() => "still waiting")]);
  expect(early).toBe("still waiting");
  clock.advance(1);
  expect(await third).toMatchObject({ kind: "stalled", retryable: true });
  expect((await third).message).toMatch(/^Timed out: waited 1 s for the next piece from/);
});

test.each([
  ["before the first line", "", /waited 300 s for an answer from/],
  ["after it", "data: a\n\n", /waited 120 s for the next piece from/],
])("a server that drips a byte a minute is a stall: %s", async (_story, opening, message) => {
  const clock = fakeClock();
  let response: ServerResponse | undefined;
  const url = await servers.http((_req, res) => {
    response = res;
    res.writeHead(200, asStream);
    res.write(`${opening}d`);
  });
  const body = await postForEvents(eventRequest(url, { clock }));
  expect(String(await body.next())).toBe(`${opening}d`);
  let failed = false;
  const end = (async () => {
    for (;;) await body.next();
  })();
  const failure = failureFrom(end).finally(() => {
    failed = true;
  });
  let minutes = 0;
  for (; !failed && minutes < 30; minutes++) {
    clock.advance(60_000);
    response?.write("a");
    for (let turn = 0; turn < 20; turn++) await nextTurn();
  }
  expect((await failure).kind).toBe("stalled");
  expect((await failure).message).toMatch(message);
  expect(minutes).toBeLessThanOrEqual(6);
});

test("a connection that does not come about is a network error", async () => {
  const clock = fakeClock();
  // It takes the connection, but never says a word of TLS.
  let connected = false;
  const port = await servers.listen(
    createServer(() => {
      connected = true;
    }),
  );
  const request = eventRequest(`https://127.0.0.1:${port}`, { clock, timeouts: { connectMs: 3000 } });
  const failure = failureFrom(postForEvents(request));
  await until(() => connected);
  clock.advance(3000);
  expect(await failure).toMatchObject({ kind: "network" });
  expect((await failure).message).toMatch(/^Timed out: waited 3 s for a connection from 127\.0\.0\.1/);
});

test("a server that changes the protocol instead of answering is not waited for", async () => {
  const port = await servers.listen(
    createServer((socket) => {
      socket.once("data", () =>
        socket.write("HTTP/1.1 101 Switching Protocols\r\nupgrade: x\r\nconnection: upgrade\r\n\r\n"),
      );
    }),
  );
  const failure = await failureFrom(postForEvents(eventRequest(`http://127.0.0.1:${port}`)));
  expect(failure).toMatchObject({ kind: "network" });
  expect(failure.message).toMatch(
    /does not answer in HTTP\/1\.1 \(it goes on in another protocol\): check the base URL/,
  );
});

test("an abort while the name is looked up", async () => {
  const controller = new AbortController();
  const request = eventRequest("http://tiller-test.invalid/", { signal: controller.signal });
  const failure = failureFrom(postForEvents(request));
  controller.abort();
  expect(await failure).toMatchObject({ kind: "aborted", message: "Request was aborted" });
});

test("an abort while the connection is made, and while TLS is agreed", async () => {
  let open = 0;
  const port = await servers.listen(
    createServer((socket) => {
      open++;
      socket.on("close", () => open--);
      socket.resume();
    }),
  );
  for (const wait of [nextTurn, () => until(() => open === 1)]) {
    const controller = new AbortController();
    const request = eventRequest(`https://127.0.0.1:${port}`, { signal: controller.signal });
    const failure = failureFrom(postForEvents(request));
    await wait();
    controller.abort();
    expect(await failure).toMatchObject({ kind: "aborted" });
    await until(() => open === 0);
  }
});

test("a reader that takes its time is not taken for a silent server", async () => {
  const clock = fakeClock();
  let response: ServerResponse | undefined;
  const url = await servers.http((_req, res) => {
    response = res;
    res.writeHead(200, asStream);
    res.write("a\n");
  });
  const body = await postForEvents(eventRequest(url, { clock, timeouts: { idleMs: 1000 } }));
  await body.next();
  clock.advance(60_000);
  const next = body.next();
  response?.end("b");
  expect(String(await next)).toBe("b");
});

test("a connection that breaks in the middle is a network error", async () => {
  const url = await servers.http((req, res) => {
    res.writeHead(200, asStream);
    res.write("data: 1\n\n", () => req.socket.destroy());
  });
  const body = await postForEvents(eventRequest(url));
  expect(await failureFrom(readAll(body))).toMatchObject({ kind: "network", retryable: true });
});

test("a released body leaves its connection to the next request, a destroyed one does not", async () => {
  const ports: (number | undefined)[] = [];
  const url = await servers.http((req, res) => {
    ports.push(req.socket.remotePort);
    res.writeHead(200, asStream);
    res.write("data: end\n\n");
    if (req.url !== "/endless") res.end();
  });
  for (const path of ["/first", "/second", "/endless", "/last"]) {
    const body = await postForEvents(eventRequest(url + path));
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

test("what came before the connection broke is told to who comes later, then the break", async () => {
  const clock = fakeClock();
  const watchdog = createWatchdog(clock, () => undefined);
  let listener: BodyListener | undefined;
  const source: BodySource = {
    listen(given) {
      listener = given;
    },
    pause: () => undefined,
    resume: () => undefined,
    destroy: () => undefined,
  };
  const options = { host: "example", clock, watchdog, idleMs: 1000, onOver: () => undefined };
  const body = openBody(source, {}, options);
  listener?.piece(Buffer.from("data: 1\n\n"));
  listener?.lost(new Error("cut"));
  expect(String(await body.next())).toBe("data: 1\n\n");
  expect(await failureFrom(body.next())).toMatchObject({ kind: "network" });
});

test("an answer that is complete and that nobody reads leaves its connection to the next request", async () => {
  const ports: (number | undefined)[] = [];
  const url = await servers.http((req, res) => {
    ports.push(req.socket.remotePort);
    res.writeHead(200, asStream);
    res.end("data: 1\n\n");
  });
  const refuse = () => Promise.reject(new Error("no"));
  await expect(postForEvents(eventRequest(url, { onAnswer: refuse }))).rejects.toThrow("no");
  for (let turn = 0; turn < 5; turn++) await nextTurn();
  expect(await readAll(await postForEvents(eventRequest(url)))).toBe("data: 1\n\n");
  expect(ports[1]).toBe(ports[0]);
});

test("a kept connection that the server has closed meanwhile is replaced without a word", async () => {
  let requests = 0;
  const url = await servers.http((req, res) => {
    requests++;
    // The second request meets a connection that dies under it.
    if (requests === 2) {
      req.socket.resetAndDestroy();
      return;
    }
    res.writeHead(200, asStream);
    res.end("ok");
  });
  expect(await readAll(await postForEvents(eventRequest(url)))).toBe("ok");
  await nextTurn();
  expect(await readAll(await postForEvents(eventRequest(url)))).toBe("ok");
  expect(requests).toBe(3);
});

test("several kept connections that have died are all replaced", async () => {
  let requests = 0;
  const url = await servers.http((req, res) => {
    requests++;
    if (requests === 3 || requests === 4) {
      req.socket.resetAndDestroy();
      return;
    }
    res.writeHead(200, asStream);
    res.end("ok");
  });
  const both = await Promise.all([1, 2].map(() => postForEvents(eventRequest(url))));
  await Promise.all(both.map(readAll));
  await nextTurn();
  expect(await readAll(await postForEvents(eventRequest(url)))).toBe("ok");
  expect(requests).toBe(5);
});

test("a new connection that dies is told, not tried again", async () => {
  let requests = 0;
  const url = await servers.http((req) => {
    requests++;
    req.socket.resetAndDestroy();
  });
  const error = await failureFrom(postForEvents(eventRequest(url)));
  expect(error).toMatchObject({ kind: "network", retryable: true });
  expect(error.message).toMatch(/^Connection error: cannot reach http:.* \(.*(ECONNRESET|hang up).*\)$/);
  expect(requests).toBe(1);
});

test.each<[story: string, filled: (json: string) => string]>([
  ["that is whole and as long as is read", (json) => json.replace("Slow", "Slow".padEnd(64 * 1024 - json.length + 4))],
  ["with blanks behind it", (json) => json + " ".repeat(70_000)],
  ["with line ends behind it", (json) => json + "\n".repeat(70_000)],
])("the JSON of an error %s says what kind it is", async (_story, filled) => {
  const json = '{"error":{"code":"insufficient_quota","message":"Slow down"}}';
  const url = await servers.http((_req, res) => res.writeHead(429).end(filled(json)));
  const error = await failureFrom(postForEvents(eventRequest(url)));
  expect(error).toMatchObject({ kind: "bad_request", status: 429 });
  expect(error.message).toMatch(/^429 insufficient_quota: Slow/);
});

const MEGABYTE = 1024 * 1024;

test("a slow reader holds the server back: of 32 MB only a part is under way", async () => {
  const total = 32 * MEGABYTE;
  let sent = 0;
  const url = await servers.http((_req, res) => {
    res.writeHead(200, asStream);
    const piece = Buffer.alloc(64 * 1024, "x");
    const more = (): void => {
      while (sent < total) {
        sent += piece.length;
        if (!res.write(piece)) {
          res.once("drain", more);
          return;
        }
      }
      res.end();
    };
    more();
  });
  const body = await postForEvents(eventRequest(url));
  let received = 0;
  let widest = 0;
  let largest = 0;
  for (let piece = await body.next(); piece; piece = await body.next()) {
    received += piece.length;
    largest = Math.max(largest, piece.length);
    for (let turn = 0; turn < 10; turn++) await nextTurn();
    widest = Math.max(widest, sent - received);
  }
  expect(received).toBe(total);
  // What the two sockets of the system hold, and little of ours.
  expect(widest).toBeLessThan(16 * MEGABYTE);
  expect(largest).toBeLessThan(MEGABYTE);
});
