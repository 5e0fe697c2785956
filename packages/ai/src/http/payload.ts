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
 * A short one is joined: Node sends a single text together with the headers, in one call of the system instead of two.
 * Goes on by itself when the receiver has taken something, and stops when the request is destroyed. */
export function writePayload(request: Writable, payload: Payload): void {
  const isText = payload.every((piece) => typeof piece === "string");
  if (isText) request.end(payload.join(""));
  else writePieces(request, payload, 0);
}

function writePieces(request: Writable, payload: Payload, from: number): void {
  let underWay = 0;
  for (let at = from; at < payload.length - 1; at++) {
    const piece = payload[at]!;
    underWay += piece.length;
    if (request.write(piece) || underWay < UNDER_WAY_BYTES) continue;
    request.once("drain", () => writePieces(request, payload, at + 1));
    return;
  }
  request.end(payload.at(-1));
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
