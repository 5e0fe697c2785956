import type { Transform } from "node:stream";
import type { AnswerHeaders } from "./answer-reader.ts";
import type { BodySource } from "./body-source.ts";

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
export function encodingOf(headers: AnswerHeaders): string | undefined {
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
export function decoded(answer: BodySource, encoding: string): BodySource {
  const decoder = DECODERS[encoding]!(process.getBuiltinModule("node:zlib"));
  // An empty write waits for those before it; the end itself would be taken together with the last of them, and lose it.
  const afterWrites = (then: () => void): void => void decoder.write(Buffer.alloc(0), then);
  return {
    listen({ piece, end, lost }) {
      let isCut = false;
      decoder.on("data", piece);
      decoder.on("end", end);
      decoder.on("error", (error) => {
        answer.destroy();
        lost(error);
      });
      decoder.on("drain", () => answer.resume());
      answer.listen({
        piece(bytes) {
          if (!decoder.write(bytes)) answer.pause();
        },
        end: () => afterWrites(() => decoder.end()),
        lost(cause) {
          if (isCut || decoder.destroyed) return;
          isCut = true;
          afterWrites(() => {
            decoder.destroy();
            lost(cause);
          });
        },
      });
    },
    pause: () => void decoder.pause(),
    resume: () => void decoder.resume(),
    destroy() {
      decoder.destroy();
      answer.destroy();
    },
  };
}

/** Is it the data that is wrong, and not the connection? */
export function isBrokenData(error: NodeJS.ErrnoException | undefined): boolean {
  return /^(Z_|ERR__|ERR_BROTLI|BROTLI)/.test(error?.code ?? "");
}
