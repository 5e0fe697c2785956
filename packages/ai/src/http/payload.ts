import type { Writable } from "node:stream";

/** What is sent with a request, piece by piece. Bytes go out as they are: what was sent before is neither made nor joined again. */
export type Payload = readonly (string | Buffer)[];

/** As much as this may wait for a slow receiver; the rest is not handed over before. */
const UNDER_WAY_BYTES = 1024 * 1024;

export function payloadBytes(payload: Payload): number {
  let size = 0;
  for (const piece of payload) size += Buffer.byteLength(piece);
  return size;
}

/**
 * Sends `head`, the headers of a request, and what belongs to it; in one call of the system where that is possible. Goes on by
 * itself when the receiver has taken something, and stops when the connection is destroyed. `done`: the receiver has all.
 */
export function writePayload(connection: Writable, head: string, payload: Payload, done: () => void): void {
  connection.cork();
  connection.write(head, "latin1", payload.length === 0 ? done : undefined);
  writePieces(connection, payload, 0, done);
  connection.uncork();
}

function writePieces(connection: Writable, payload: Payload, from: number, done: () => void): void {
  let underWay = 0;
  for (let at = from; at < payload.length; at++) {
    const piece = payload[at]!;
    underWay += piece.length;
    const isTaken = connection.write(piece, "utf8", at === payload.length - 1 ? done : undefined);
    if (isTaken || underWay < UNDER_WAY_BYTES) continue;
    connection.once("drain", () => writePieces(connection, payload, at + 1, done));
    return;
  }
}

export function joinedPayload(payload: Payload): Buffer {
  return Buffer.concat(payload.map((piece) => (typeof piece === "string" ? Buffer.from(piece) : piece)));
}

/** One that is JSON, as a value. Costs as much as making it: only for those who want to look inside. */
export function parsedPayload(payload: Payload): unknown {
  return JSON.parse(joinedPayload(payload).toString("utf8"));
}

/** The value that a text stands for; the text itself when it is no JSON. */
export function parsedText(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return text;
  }
}
