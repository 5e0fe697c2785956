import type { Socket } from "node:net";
import { Duplex } from "node:stream";
import { expect, test } from "vitest";
import { type Connection, createConnection } from "./connection.ts";
import { nextTurn } from "./test-servers.ts";

/** A socket whose other end is the test. */
function socketPair() {
  const sent: string[] = [];
  const stream = new Duplex({
    read: () => undefined,
    write(piece: Buffer, _encoding, done) {
      sent.push(piece.toString("latin1"));
      done();
    },
  });
  const socket = Object.assign(stream, { ref: () => stream, unref: () => stream }) as unknown as Socket;
  const kept = new Set<Connection>();
  const connection = createConnection(socket, {
    isMade: true,
    onFree: (free) => void kept.add(free),
    onGone: (gone) => void kept.delete(gone),
  });
  const hear = (text: string): boolean => socket.emit("data", Buffer.from(text, "latin1"));
  return { socket, sent, connection, kept, hear };
}

/** What becomes of one request, in order. */
function ask(connection: Connection, payload: readonly string[] = []) {
  const heard: string[] = [];
  connection.send("POST / HTTP/1.1\r\n\r\n", payload, {
    failed: ({ message }) => void heard.push(`failed: ${message}`),
    answer({ status }, body) {
      heard.push(String(status));
      body.listen({
        piece: (bytes) => void heard.push(bytes.toString("latin1")),
        end: () => void heard.push("end"),
        lost: () => void heard.push("lost"),
      });
    },
  });
  return heard;
}

const ANSWER = "HTTP/1.1 200 OK\r\ncontent-length: 2\r\n\r\nok";

test("carries one request after the other", async () => {
  const { sent, connection, kept, hear } = socketPair();
  for (const isOld of [false, true]) {
    expect(connection.isOld).toBe(isOld);
    const heard = ask(connection, ["{}"]);
    await nextTurn();
    kept.clear();
    hear(ANSWER);
    expect(heard).toEqual(["200", "ok", "end"]);
    expect(kept.has(connection)).toBe(true);
  }
  expect(sent.join("")).toBe("POST / HTTP/1.1\r\n\r\n{}".repeat(2));
});

test.each([
  ["says something that nobody asked for", "HTTP/1.1 408 Request Timeout\r\n\r\n"],
  ["says a word too much", "x"],
])("one on which the server %s is gone at once: nobody may be given it meanwhile", async (_story, text) => {
  const { socket, connection, kept, hear } = socketPair();
  ask(connection);
  await nextTurn();
  hear(ANSWER);
  expect(kept.has(connection)).toBe(true);
  hear(text);
  expect(kept.has(connection)).toBe(false);
  expect(socket.destroyed).toBe(true);
});

test.each<[story: string, text: string, heard: string[]]>([
  ["more behind the answer", `${ANSWER}more`, ["200", "ok", "end"]],
  ["the last answer", "HTTP/1.1 200 OK\r\nconnection: close\r\ncontent-length: 2\r\n\r\nok", ["200", "ok", "end"]],
  ["what is no answer", "hello\r\n", ['failed: "hello" is no HTTP/1.1 status line']],
  ["what is no chunk", "HTTP/1.1 200 OK\r\ntransfer-encoding: chunked\r\n\r\n1\r\na\r\nx\r\n", ["200", "a", "lost"]],
])("after %s it is not used again", async (_story, text, expected) => {
  const { socket, connection, kept, hear } = socketPair();
  const heard = ask(connection);
  await nextTurn();
  hear(text);
  expect(heard).toEqual(expected);
  expect(kept.has(connection)).toBe(false);
  expect(socket.destroyed).toBe(true);
});

test("an answer to a request that was not sent to its end leaves nothing to use again", () => {
  const { connection, kept, hear } = socketPair();
  const heard = ask(connection, ["{}"]);
  hear(ANSWER);
  expect(heard).toEqual(["200", "ok", "end"]);
  expect(kept.has(connection)).toBe(false);
});

test.each<[story: string, before: string, heard: string[]]>([
  ["before the answer", "", ["failed: socket hang up"]],
  ["in the head", "HTTP/1.1 200 OK\r\n", ["failed: socket hang up"]],
  ["in the body", "HTTP/1.1 200 OK\r\ncontent-length: 5\r\n\r\nab", ["200", "ab", "lost"]],
  ["as the end of the body", "HTTP/1.1 200 OK\r\n\r\nab", ["200", "ab", "end"]],
])("the server closes the connection %s", (_story, before, expected) => {
  const { socket, connection, hear } = socketPair();
  const heard = ask(connection);
  if (before !== "") hear(before);
  socket.emit("end");
  expect(heard).toEqual(expected);
});

test("a body that breaks off with an error is lost, also where its end is that of the connection", () => {
  const { socket, connection, hear } = socketPair();
  const heard = ask(connection);
  hear("HTTP/1.1 200 OK\r\n\r\nab");
  socket.emit("error", new Error("read ECONNRESET"));
  expect(heard).toEqual(["200", "ab", "lost"]);
});
