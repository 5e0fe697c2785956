import type { ServerResponse } from "node:http";
import { gzipSync } from "node:zlib";
import { afterEach, expect, test } from "vitest";
import { fakeClock } from "../testing.ts";
import { exchangeByFetch, type Fetch } from "./bun-fetch.ts";
import type { Answer, Call } from "./call.ts";
import type { TransportEnvironment } from "./environment.ts";
import { asStream, failureFrom, nextTurn, readAll, testServers, until } from "./test-servers.ts";

/** The exchange of Bun over the `fetch` of Node, which has the same interface. */

const servers = testServers();
afterEach(servers.closeAll);

function call(url: string, fields: Partial<Call> = {}): Call {
  const signal = new AbortController().signal;
  const timeouts = { connectMs: 1000, firstByteMs: 5000, idleMs: 1000 };
  return {
    method: "POST",
    url,
    target: new URL(url),
    headers: {},
    body: ["{}"],
    clock: fakeClock(),
    signal,
    timeouts,
    ...fields,
  };
}

const send = (url: string, fields?: Partial<Call>): Promise<Answer> =>
  exchangeByFetch(call(url, fields), {}, globalThis.fetch);

test("an answer over fetch", async () => {
  let sent = "";
  const url = await servers.http((req, res) => {
    req.on("data", (piece) => {
      sent += String(piece);
    });
    req.on("end", () => {
      res.writeHead(200, { ...asStream, "content-encoding": "gzip" });
      res.end(gzipSync("data: ✓\n\n"));
    });
  });
  const answer = await send(url, { body: ['{"é":', Buffer.from("1}")], headers: { "x-api-key": "k" } });
  expect(answer).toMatchObject({ status: 200, statusText: "OK", headers: asStream });
  expect(answer.headers).not.toHaveProperty("content-encoding");
  expect(await readAll(answer.body)).toBe("data: ✓\n\n");
  expect(await answer.body.next()).toBeUndefined();
  expect(sent).toBe('{"é":1}');
});

test("a redirect is not followed, an empty answer has an empty body", async () => {
  const url = await servers.http((req, res) => {
    if (req.url === "/empty") res.writeHead(204).end();
    else res.writeHead(302, { location: "https://elsewhere.test/" }).end();
  });
  expect(await send(url)).toMatchObject({ status: 302, headers: { location: "https://elsewhere.test/" } });
  expect(await readAll((await send(`${url}/empty`)).body)).toBe("");
});

test("no connection is an error in plain words", async () => {
  const url = await servers.http((_req, res) => res.end());
  await servers.closeAll();
  const error = await failureFrom(send(url));
  expect(error.kind).toBe("network");
  expect(error.message).toMatch(
    /^Connection error: cannot reach http:\/\/127\.0\.0\.1:\d+ .*: is the server running\?$/,
  );
});

test("an abort before, while waiting and in the middle", async () => {
  let closed = 0;
  let asked = 0;
  const url = await servers.http((req, res) => {
    asked++;
    res.on("close", () => closed++);
    if (req.url === "/streaming") res.writeHead(200, asStream).write("data: 1\n\n");
  });
  // It came while this file was loaded.
  expect(await failureFrom(send(url, { signal: AbortSignal.abort() }))).toMatchObject({ kind: "aborted" });
  expect(asked).toBe(0);
  const waiting = new AbortController();
  const unanswered = failureFrom(send(url, { signal: waiting.signal }));
  await until(() => asked === 1);
  waiting.abort();
  expect(await unanswered).toMatchObject({ kind: "aborted", message: "Request was aborted" });

  const streaming = new AbortController();
  const { body } = await send(`${url}/streaming`, { signal: streaming.signal });
  expect(String(await body.next())).toBe("data: 1\n\n");
  const next = failureFrom(body.next());
  streaming.abort();
  expect(await next).toMatchObject({ kind: "aborted" });
  expect(await failureFrom(body.next())).toMatchObject({ kind: "aborted" });
  await until(() => closed === 2);
});

test("silence before the answer and between two lines is a stall; a dripping server is silent", async () => {
  const clock = fakeClock();
  let response: ServerResponse | undefined;
  const url = await servers.http((req, res) => {
    response = res;
    if (req.url === "/streaming") res.writeHead(200, asStream).write("data: 1\n\n");
  });
  const unanswered = failureFrom(send(url, { clock }));
  await until(() => response !== undefined);
  clock.advance(5000);
  expect((await unanswered).message).toMatch(/^Timed out: waited 5 s for an answer from 127/);

  const { body } = await send(`${url}/streaming`, { clock });
  await body.next();
  clock.advance(60_000);
  const drop = body.next();
  clock.advance(600);
  response?.write("d");
  expect(String(await drop)).toBe("d");
  const stalled = failureFrom(body.next());
  clock.advance(400);
  expect(await stalled).toMatchObject({ kind: "stalled" });
  expect((await stalled).message).toMatch(/^Timed out: waited 1 s for the next piece from 127/);
});

test("a connection that breaks in the middle is a network error after what had arrived", async () => {
  const url = await servers.http((req, res) => {
    res.writeHead(200, asStream);
    res.write("data: 1\n\n", () => setImmediate(() => req.socket.destroy()));
  });
  const { body } = await send(url);
  expect(String(await body.next())).toBe("data: 1\n\n");
  const error = await failureFrom(body.next());
  expect(error).toMatchObject({ kind: "network", retryable: true });
  expect(error.message).toMatch(/^Connection lost: 127\.0\.0\.1:\d+ closed the stream early \(.+\)$/);
});

test("a released body runs out, a destroyed one is closed", async () => {
  const closed: string[] = [];
  const url = await servers.http((req, res) => {
    res.on("close", () => closed.push(req.url ?? ""));
    res.writeHead(200, asStream);
    res.write("data: end\n\n");
    if (req.url === "/short") setImmediate(() => res.end());
  });
  const clock = fakeClock();
  for (const path of ["/short", "/endless"]) {
    const { body } = await send(url + path, { clock });
    await body.next();
    body.release();
    expect(await body.next()).toBeUndefined();
  }
  await until(() => closed.includes("/short"));
  for (let turn = 0; turn < 20; turn++) await nextTurn();
  expect(closed).toEqual(["/short"]);
  clock.advance(1000);
  await until(() => closed.includes("/endless"));

  const { body } = await send(`${url}/destroyed`);
  await body.next();
  body.destroy();
  expect(await body.next()).toBeUndefined();
  await until(() => closed.includes("/destroyed"));
});

test("Bun is told the proxy and the certificates, and not to have time-outs of its own", async () => {
  const given: unknown[] = [];
  const recording: Fetch = (_url, init) => {
    given.push(init);
    return Promise.resolve(new Response("", { status: 200 }));
  };
  const env: TransportEnvironment = { HTTPS_PROXY: "http://me:secret@proxy.test:3128" };
  const headers = { "x-api-key": "k", "content-length": "2" };
  const answer = await exchangeByFetch(call("https://api.test/", { headers }), env, recording);
  expect(answer.proxy?.name).toBe("http://proxy.test:3128");
  expect(given[0]).toMatchObject({
    proxy: "http://me:secret@proxy.test:3128/",
    timeout: false,
    redirect: "manual",
  });
  expect(given[0]).toHaveProperty("headers", { "x-api-key": "k" });
  const unreadable = exchangeByFetch(call("https://api.test/"), { SSL_CERT_FILE: "/does/not/exist" }, recording);
  expect((await failureFrom(unreadable)).message).toContain("/does/not/exist");
});

test.each([
  [
    "Proxy refused to open a tunnel: 407 Proxy Authentication Required",
    "auth",
    /^The proxy http:\/\/proxy\.test refused the way to api\.test: 407 Proxy .*: put user/,
  ],
  [
    "ECONNREFUSED: Unable to connect.",
    "network",
    /^Connection error: cannot reach the proxy http:\/\/proxy\.test \(.*check HTTPS_PROXY$/,
  ],
  [
    "something else",
    "network",
    /^Connection error: cannot reach https:\/\/api\.test through the proxy http:\/\/proxy\.test/,
  ],
])("what Bun says of a proxy: %s", async (words, kind, message) => {
  const failing: Fetch = () => Promise.reject(new Error(words));
  const env = { HTTPS_PROXY: "http://proxy.test" };
  const error = await failureFrom(exchangeByFetch(call("https://api.test/"), env, failing));
  expect(error.kind).toBe(kind);
  expect(error.message).toMatch(message);
});
