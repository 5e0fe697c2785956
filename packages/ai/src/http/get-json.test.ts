import type { IncomingMessage, ServerResponse } from "node:http";
import { gzipSync } from "node:zlib";
import { afterEach, expect, test } from "vitest";
import { fakeClock } from "../testing.ts";
import { configureTransport } from "./environment.ts";
import { getJson, type JsonRequest } from "./get-json.ts";
import { failureFrom, testServers, until } from "./test-servers.ts";

const servers = testServers();
afterEach(servers.closeAll);

function request(url: string, fields: Partial<JsonRequest> = {}): JsonRequest {
  return { url, clock: fakeClock(), signal: new AbortController().signal, ...fields };
}

test("gets what is asked for", async () => {
  let seen: IncomingMessage | undefined;
  const url = await servers.http((req, res) => {
    seen = req;
    res.setHeader("content-encoding", "gzip");
    res.end(gzipSync('{"data":[{"id":"model"}]}'));
  });
  const answer = await getJson(request(`${url}/v1/models`, { headers: { authorization: "Bearer k" } }));
  expect(answer).toEqual({ status: 200, body: { data: [{ id: "model" }] } });
  expect(seen).toMatchObject({ method: "GET", url: "/v1/models" });
  expect(seen?.headers).toMatchObject({ accept: "application/json", authorization: "Bearer k" });
  expect(seen?.headers).not.toHaveProperty("content-length");
});

test("a bare list is an answer too", async () => {
  const url = await servers.http((_req, res) => res.end("[1]"));
  expect((await getJson(request(url))).body).toEqual([1]);
});

test.each<[story: string, answer: (res: ServerResponse) => void, kind: string, message: RegExp]>([
  ["a status", (res) => res.writeHead(401).end('{"error":{"message":"Bad key"}}'), "auth", /^401 Bad key$/],
  ["a page", (res) => res.end("<html>Hi</html>"), "malformed", /answered with "<html>Hi<\/html>" instead of JSON/],
  ["nothing", (res) => res.writeHead(204).end(), "malformed", /answered with an empty body instead of JSON/],
  ["a number", (res) => res.end("5"), "malformed", /answered with "5" instead of JSON/],
  ["a redirect", (res) => res.writeHead(301, { location: "/x" }).end(), "bad_request", /to \/x; redirects are not/],
])("an answer that is of no use: %s", async (_story, answer, kind, message) => {
  const url = await servers.http((_req, res) => answer(res));
  const error = await failureFrom(getJson(request(url)));
  expect(error.kind).toBe(kind);
  expect(error.message).toMatch(message);
});

test("too much is not read", async () => {
  let closed = false;
  const url = await servers.http((_req, res) => {
    res.on("close", () => {
      closed = true;
    });
    const more = (): void => {
      if (!closed) res.write("[".repeat(10_000), () => setImmediate(more));
    };
    more();
  });
  const error = await failureFrom(getJson(request(url, { maxBytes: 100_000 })));
  expect(error.message).toMatch(/is longer than 100000 bytes$/);
  await until(() => closed);
});

test("too late is not waited for: before the answer and in the middle of it", async () => {
  for (const opening of ["", "[1,\n"]) {
    const clock = fakeClock();
    let asked = false;
    const url = await servers.http((_req, res) => {
      if (opening) res.write(opening);
      asked = true;
    });
    const failure = failureFrom(getJson(request(url, { clock, timeoutMs: 5000 })));
    await until(() => asked);
    clock.advance(5000);
    expect((await failure).kind).toBe("stalled");
    expect((await failure).message).toMatch(/^Timed out: /);
  }
});

test("an abort is an abort", async () => {
  const controller = new AbortController();
  let asked = false;
  const url = await servers.http(() => {
    asked = true;
  });
  const failure = failureFrom(getJson(request(url, { signal: controller.signal })));
  await until(() => asked);
  controller.abort();
  expect(await failure).toMatchObject({ kind: "aborted" });
});

test("goes through the proxy", async () => {
  const proxy = await servers.proxy({ refuse: "403 Forbidden" });
  configureTransport({ env: { HTTPS_PROXY: `http://127.0.0.1:${proxy.port}` } });
  expect((await failureFrom(getJson(request("https://api.test/v1/models")))).message).toMatch(/^The proxy http/);
});
