import { ClientError } from "./errors.ts";
import type { Frame } from "./events.ts";

/** The most that the pieces of one frame may make together. */
export const MAX_REASSEMBLED_BYTES = 67_108_864;
/** Above this an agent that speaks version 2 sends a frame in pieces. */
export const MAX_FRAME_BYTES = 1_048_576;

/** Puts frames together that came in pieces. Pieces of one frame follow each other, nothing stands between them. */
export interface Reassembly {
  /** Takes a piece; returns the whole frame's JSON when it was the last one. Throws when it does not fit. */
  add(piece: Frame): string | undefined;
  /** A frame that is whole has come: between pieces that is a mistake. */
  interrupted(): void;
  readonly isOpen: boolean;
}

interface Piece {
  chunkId: string;
  index: number;
  count: number;
  byteLength: number | undefined;
  data: string;
}

export function createReassembly(maxBytes: number = MAX_REASSEMBLED_BYTES): Reassembly {
  let open: { chunkId: string; count: number } | undefined;
  let parts: Buffer[] = [];
  let bytes = 0;

  const forget = (): void => {
    open = undefined;
    parts = [];
    bytes = 0;
  };
  const refuse = (why: string): never => {
    forget();
    throw new ClientError("protocol", `A frame came in pieces that do not fit together: ${why}`);
  };
  const finish = (byteLength: number | undefined, last: number): string => {
    const isRight = byteLength === undefined || byteLength === bytes || byteLength === last;
    if (!isRight) refuse(`${bytes} bytes came, ${byteLength} were announced`);
    const whole = Buffer.concat(parts, bytes).toString("utf8");
    forget();
    return whole;
  };

  return {
    add(frame) {
      const piece = readPiece(frame);
      if (piece === undefined) return refuse(`not a piece: ${JSON.stringify(frame).slice(0, 200)}`);
      const { chunkId, index, count } = piece;
      if (open !== undefined && open.chunkId !== chunkId) return refuse(`${chunkId} began within ${open.chunkId}`);
      if (index !== parts.length) return refuse(`piece ${index} of ${chunkId} came when ${parts.length} was due`);
      if (open !== undefined && open.count !== count) return refuse(`${chunkId} has ${open.count} pieces, or ${count}`);
      open = { chunkId, count };
      const data = Buffer.from(piece.data, "base64");
      parts.push(data);
      bytes += data.length;
      if (bytes > maxBytes) return refuse(`${chunkId} is larger than ${maxBytes} bytes`);
      return parts.length === count ? finish(piece.byteLength, data.length) : undefined;
    },
    interrupted() {
      if (open !== undefined) refuse(`another frame came after ${parts.length} of ${open.count} pieces`);
    },
    get isOpen() {
      return open !== undefined;
    },
  };
}

function readPiece({ chunkId, index, count, byteLength, data }: Frame): Piece | undefined {
  const isPiece =
    typeof chunkId === "string" &&
    typeof data === "string" &&
    Number.isInteger(index) &&
    Number.isInteger(count) &&
    (index as number) >= 0 &&
    (index as number) < (count as number);
  if (!isPiece) return undefined;
  return {
    chunkId,
    index: index as number,
    count: count as number,
    byteLength: typeof byteLength === "number" ? byteLength : undefined,
    data,
  };
}
