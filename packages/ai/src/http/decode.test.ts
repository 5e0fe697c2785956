import type { ServerResponse } from "node:http";
import {
  brotliCompressSync,
  constants,
  createBrotliCompress,
  createDeflate,
  createGzip,
  deflateSync,
  gzipSync,
} from "node:zlib";
import { afterEach, expect, test } from "vitest";
import { fakeClock } from "../testing.ts";
import type { HttpBody } from "./body.ts";
import { postForEvents } from "./request.ts";
import { asStream, eventRequest, failureFrom, nextTurn, readAll, testServers } from "./test-servers.ts";

const servers = testServers();
afterEach(servers.closeAll);

const compressed = (encoding: string) => ({ ...asStream, "content-encoding": encoding });

test.each([
  ["gzip", () => createGzip(), constants.Z_SYNC_FLUSH],
  ["x-gzip", () => createGzip(), constants.Z_SYNC_FLUSH],
  ["deflate", () => createDeflate(), constants.Z_SYNC_FLUSH],
  ["BR", () => createBrotliCompress(), constants.BROTLI_OPERATION_FLUSH],
])("events that come compressed with %s are given as they arrive", async (encoding, create, flush) => {
  const compressor = create();
  const url = await servers.http((_req, res) => {
    res.writeHead(200, compressed(encoding));
    compressor.pipe(res);
    compressor.write("data: 1\n\n");
    compressor.flush(flush);
  });
  const body = await postForEvents(eventRequest(url));
  // The second is not written before the first was read: nothing waits for more.
  expect(String(await body.next())).toBe("data: 1\n\n");
  compressor.end("data: 2\n\n");
  expect(await readAll(body)).toBe("data: 2\n\n");
});

test("an error that comes compressed is read", async () => {
  const url = await servers.http((_req, res) => {
    res.writeHead(429, { "content-encoding": "br", "content-type": "application/json" });
    res.end(brotliCompressSync('{"error":{"type":"rate_limit_error","message":"Slow down"}}'));
  });
  expect((await failureFrom(postForEvents(eventRequest(url)))).message).toBe("429 rate_limit_error: Slow down");
});

/** What can be read, and how it ends. */
async function readUntilFailure(body: HttpBody) {
  let text = "";
  const failure = await failureFrom(
    (async () => {
      for (let piece = await body.next(); piece; piece = await body.next()) text += piece.toString();
    })(),
  );
  return { text, failure };
}

/** The first event, complete for a decoder, but not the end of the data. */
const beginning = gzipSync("data: 1\n\n", { finishFlush: constants.Z_SYNC_FLUSH });

test.each<[story: string, end: (res: ServerResponse) => void, message: RegExp]>([
  [
    "broken in the middle",
    (res) => res.end(Buffer.alloc(64, 0xff)),
    /^Connection error: the gzip data from 127\.0\.0\.1:\d+ is broken \(.+\)$/,
  ],
  [
    "cut off by the connection",
    (res) => res.socket?.destroy(),
    /^Connection lost: 127\.0\.0\.1:\d+ closed the stream early/,
  ],
  [
    "ended too early, but politely",
    (res) => res.end(),
    /^Connection error: the gzip data from .* is broken \(unexpected end of file\)$/,
  ],
])("compressed data that is %s: what came before is kept", async (_story, end, message) => {
  let response: ServerResponse | undefined;
  const url = await servers.http((_req, res) => {
    response = res;
    res.writeHead(200, compressed("gzip")).write(beginning);
  });
  const body = await postForEvents(eventRequest(url));
  expect(String(await body.next())).toBe("data: 1\n\n");
  if (response) end(response);
  const { text, failure } = await readUntilFailure(body);
  expect(text).toBe("");
  expect(failure.kind).toBe("network");
  expect(failure.message).toMatch(message);
});

test("what comes in one piece with an early end is kept too", async () => {
  const url = await servers.http((_req, res) => {
    res.writeHead(200, compressed("gzip")).end(beginning);
  });
  const { text, failure } = await readUntilFailure(await postForEvents(eventRequest(url)));
  expect(text).toBe("data: 1\n\n");
  expect(failure.message).toContain("unexpected end of file");
});

test("data that is not compressed at all, though it says so", async () => {
  for (const encoding of ["gzip", "deflate", "br"]) {
    const url = await servers.http((_req, res) => {
      res.writeHead(200, compressed(encoding));
      res.end("data: 1\n\n".repeat(50));
    });
    const { failure } = await readUntilFailure(await postForEvents(eventRequest(url)));
    expect(failure.kind).toBe("network");
    expect(failure.message).toContain(`the ${encoding} data from 127.0.0.1`);
  }
});

test.each(["zstd", "constructor"])("a compression that nobody asked for and nobody knows: %s", async (name) => {
  const url = await servers.http((_req, res) => {
    res.writeHead(200, compressed(name));
    res.end("???");
  });
  const error = await failureFrom(postForEvents(eventRequest(url)));
  expect(error.kind).toBe("malformed");
  expect(error.message).toMatch(new RegExp(`answered with content-encoding ${name}, which was not asked for$`));
});

const MEGABYTE = 1024 * 1024;

test("64 MB in 64 KB: a slow reader decodes no more than it reads", async () => {
  const bomb = gzipSync(Buffer.alloc(64 * MEGABYTE, "x"));
  const url = await servers.http((_req, res) => {
    res.writeHead(200, compressed("gzip"));
    res.end(bomb);
  });
  const before = process.memoryUsage().arrayBuffers;
  const body = await postForEvents(eventRequest(url));
  for (let turn = 0; turn < 2000; turn++) await nextTurn();
  expect(process.memoryUsage().arrayBuffers - before).toBeLessThan(16 * MEGABYTE);
  let received = 0;
  let largest = 0;
  for (let piece = await body.next(); piece; piece = await body.next()) {
    received += piece.length;
    largest = Math.max(largest, piece.length);
  }
  expect(received).toBe(64 * MEGABYTE);
  expect(largest).toBeLessThan(MEGABYTE);
});

test("of an error page that unpacks to 64 MB only the beginning is read", async () => {
  const bomb = deflateSync(Buffer.alloc(64 * MEGABYTE, "x"));
  const url = await servers.http((_req, res) => {
    res.writeHead(500, { "content-encoding": "deflate" });
    res.end(bomb);
  });
  const error = await failureFrom(postForEvents(eventRequest(url)));
  expect(error.kind).toBe("server");
  expect(error.message.length).toBeLessThan(3000);
});

test("a compressed stream that stalls or is aborted", async () => {
  const url = await servers.http((_req, res) => {
    res.writeHead(200, compressed("gzip"));
    const compressor = createGzip();
    compressor.on("data", (piece) => res.write(piece));
    compressor.write("data: 1\n\n");
    compressor.flush(constants.Z_SYNC_FLUSH);
  });
  const clock = fakeClock();
  const stalling = await postForEvents(eventRequest(url, { clock, timeouts: { idleMs: 1000 } }));
  await stalling.next();
  const stalled = failureFrom(stalling.next());
  clock.advance(1000);
  expect(await stalled).toMatchObject({ kind: "stalled" });

  const controller = new AbortController();
  const body = await postForEvents(eventRequest(url, { signal: controller.signal }));
  await body.next();
  const aborted = failureFrom(body.next());
  controller.abort();
  expect(await aborted).toMatchObject({ kind: "aborted" });
});

test("a released compressed body leaves its connection to the next request", async () => {
  const ports: (number | undefined)[] = [];
  const url = await servers.http((req, res) => {
    ports.push(req.socket.remotePort);
    res.writeHead(200, compressed("gzip"));
    res.end(gzipSync("data: 1\n\n"));
  });
  for (let i = 0; i < 2; i++) {
    const body = await postForEvents(eventRequest(url));
    await body.next();
    body.release();
    for (let turn = 0; turn < 20; turn++) await nextTurn();
  }
  expect(ports[1]).toBe(ports[0]);
});
