import { createHash } from "node:crypto";
import type { IncomingMessage } from "node:http";
import { Writable } from "node:stream";
import { afterEach, expect, test } from "vitest";
import { joinedPayload, type Payload, payloadBytes, writePayload } from "./payload.ts";
import { postForEvents } from "./request.ts";
import { asStream, eventRequest, failureFrom, readAll, testServers, until } from "./test-servers.ts";

const servers = testServers();
afterEach(servers.closeAll);

const MEGABYTE = 1024 * 1024;
const large: Payload = ['{"é":"', ...Array.from({ length: 24 }, (_, i) => Buffer.alloc(300_000, 97 + i)), '✓"}'];
const digest = (bytes: Buffer): string => createHash("sha256").update(bytes).digest("hex");

test("its size is counted in bytes", () => {
  expect(payloadBytes(['"é"', Buffer.from("✓")])).toBe(7);
  expect(payloadBytes([])).toBe(0);
});

test("many pieces arrive as one body, whose length was said before", async () => {
  const url = await servers.http((req, res) => {
    const pieces: Buffer[] = [];
    req.on("data", (piece: Buffer) => pieces.push(piece));
    req.on("end", () => {
      res.writeHead(200, asStream);
      res.end(`data: ${req.headers["content-length"]} ${digest(Buffer.concat(pieces))}\n\n`);
    });
  });
  const whole = joinedPayload(large);
  // Twice: on a new connection, and on one that is kept.
  for (let i = 0; i < 2; i++) {
    const body = await postForEvents(eventRequest(url, { body: large }));
    expect(await readAll(body)).toBe(`data: ${whole.length} ${digest(whole)}\n\n`);
  }
});

/** Takes a piece each time it is told to. */
function slowReceiver() {
  const taken: Buffer[] = [];
  let goOn: (() => void) | undefined;
  const stream = new Writable({
    write(piece: Buffer, _encoding, done) {
      taken.push(piece);
      goOn = done;
    },
  });
  const take = (): void => {
    const done = goOn;
    goOn = undefined;
    done?.();
  };
  return { stream, taken, take };
}

test("a slow receiver is not handed more than it can take", async () => {
  const { stream, taken, take } = slowReceiver();
  let isDone = false;
  writePayload(stream, "", large, () => {
    isDone = true;
  });
  let most = 0;
  while (!isDone) {
    most = Math.max(most, stream.writableLength);
    take();
    await new Promise((resolve) => setImmediate(resolve));
  }
  expect(digest(Buffer.concat(taken))).toBe(digest(joinedPayload(large)));
  expect(most).toBeLessThan(2 * MEGABYTE);
});

test("nothing more is written after the end of the request", async () => {
  const { stream, taken, take } = slowReceiver();
  writePayload(stream, "", large, () => undefined);
  stream.destroy();
  take();
  await new Promise((resolve) => setImmediate(resolve));
  expect(taken).toHaveLength(1);
});

test("an abort while a server does not take the body closes the connection", async () => {
  let unread: IncomingMessage | undefined;
  const url = await servers.http((req) => {
    unread = req;
  });
  const controller = new AbortController();
  const body = Array.from({ length: 64 }, () => Buffer.alloc(MEGABYTE, 97));
  const failure = failureFrom(postForEvents(eventRequest(url, { body, signal: controller.signal })));
  await until(() => unread !== undefined);
  controller.abort();
  expect(await failure).toMatchObject({ kind: "aborted" });
  unread?.resume();
  await until(() => unread?.socket.destroyed === true);
});

test("a server that refuses before it has read everything is heard", async () => {
  const url = await servers.http((_req, res) => {
    res.writeHead(413, { "content-type": "application/json", connection: "close" });
    res.end('{"error":{"message":"too large"}}');
  });
  const failure = await failureFrom(postForEvents(eventRequest(url, { body: large })));
  expect(failure.status).toBe(413);
});
