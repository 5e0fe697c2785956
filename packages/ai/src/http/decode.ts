import type { IncomingMessage } from "node:http";
import type { Readable, Transform } from "node:stream";

/**
 * Compressed answers. We ask for none (`accept-encoding: identity`), as compressors hold tokens back until a block is
 * full; but some gateways compress unasked. Flushed after every piece, so that an event is not delayed further here.
 */

type Zlib = typeof import("node:zlib");

const DECODERS: Readonly<Record<string, (zlib: Zlib) => Transform>> = {
  gzip: (zlib) => zlib.createGunzip({ flush: zlib.constants.Z_SYNC_FLUSH }),
  deflate: (zlib) => zlib.createInflate({ flush: zlib.constants.Z_SYNC_FLUSH }),
  br: (zlib) => zlib.createBrotliDecompress({ flush: zlib.constants.BROTLI_OPERATION_FLUSH }),
};
const OTHER_NAMES: ReadonlyMap<string, string> = new Map([["x-gzip", "gzip"]]);

/** How an answer is compressed: undefined when it is not. The name may be one that `canDecode` does not know. */
export function encodingOf(headers: IncomingMessage["headers"]): string | undefined {
  const name = headers["content-encoding"]?.trim().toLowerCase();
  return name === undefined || name === "" || name === "identity" ? undefined : (OTHER_NAMES.get(name) ?? name);
}

export function canDecode(encoding: string): boolean {
  return Object.hasOwn(DECODERS, encoding);
}

/**
 * The plain bytes of a compressed answer. A reader that pauses holds the server back: what is decoded ahead of it stays
 * within the buffers of two streams, however well the answer was compressed. What came before a break is still given.
 */
export function decoded(answer: IncomingMessage, encoding: string): Readable {
  const decoder = DECODERS[encoding]!(process.getBuiltinModule("node:zlib"));
  // An empty write waits for those before it; the end itself would be taken together with the last of them, and lose it.
  const afterWrites = (then: () => void): void => void decoder.write(Buffer.alloc(0), then);
  const cut = (cause?: Error): void => {
    if (answer.complete || decoder.destroyed) return;
    afterWrites(() => decoder.destroy(cause));
  };
  answer.on("data", (piece: Buffer) => {
    if (!decoder.write(piece)) answer.pause();
  });
  decoder.on("drain", () => answer.resume());
  answer.on("end", () => afterWrites(() => decoder.end()));
  answer.on("error", cut);
  answer.on("close", () => cut());
  return decoder;
}

/** Is it the data that is wrong, and not the connection? */
export function isBrokenData(error: NodeJS.ErrnoException | undefined): boolean {
  return /^(Z_|ERR__|ERR_BROTLI|BROTLI)/.test(error?.code ?? "");
}
