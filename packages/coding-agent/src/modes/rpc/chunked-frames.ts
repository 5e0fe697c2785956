import { MAX_FRAME_BYTES, MAX_REASSEMBLED_FRAME_BYTES } from "@tiller/protocol/frame-limits";
import type { RpcChunk, RpcFrameError } from "@tiller/protocol/transport";
import { toJson } from "../../lib/wire-json.ts";
import type { FrameCutter } from "./frame-writer.ts";

/** Bytes of a frame in one chunk: in base64, with what stands around it, far less than a frame may have. */
const CHUNK_BYTES = 256 * 1024;

/** Looked at to find out what a frame is whose end nobody has seen. */
const HEAD_LENGTH = 64 * 1024;

export interface ChunkLimits {
  frameBytes: number;
  reassembledBytes: number;
  chunkBytes: number;
}

const LIMITS: ChunkLimits = {
  frameBytes: MAX_FRAME_BYTES,
  reassembledBytes: MAX_REASSEMBLED_FRAME_BYTES,
  chunkBytes: CHUNK_BYTES,
};

/** A long frame as lines that are short enough; one that is too long for that as frames that end what it would have ended. */
export function createFrameCutter(limits: ChunkLimits = LIMITS): FrameCutter {
  let count = 0;
  return function* cut(pieces) {
    const parts: Buffer[] = [];
    let length = 0;
    for (const piece of pieces) {
      // Copied: whoever makes the pieces may use its buffer again.
      const part = Buffer.from(piece as Buffer);
      parts.push(part);
      length += part.length;
      if (length <= limits.reassembledBytes) continue;
      yield* inPlaceOf(Buffer.concat(parts).toString("utf8", 0, HEAD_LENGTH), part, limits);
      return;
    }
    const frame = Buffer.concat(parts, length);
    if (length < limits.frameBytes) {
      yield frame;
      yield "\n";
      return;
    }
    count += 1;
    yield* chunksOf(frame, `rpc-${count}`, limits.chunkBytes);
  };
}

function* chunksOf(frame: Buffer, chunkId: string, chunkBytes: number): Generator<string> {
  const count = Math.ceil(frame.length / chunkBytes);
  for (let index = 0; index < count; index++) {
    const data = frame.toString("base64", index * chunkBytes, (index + 1) * chunkBytes);
    const chunk: RpcChunk = { type: "rpc_chunk", chunkId, index, count, byteLength: frame.length, data };
    yield `${toJson(chunk)}\n`;
  }
}

const RESPONSE = /^\{(?:"id":("(?:[^"\\]|\\.)*"|[-+.\deE]+),)?"type":"response","command":"(\w+)"/;
const EVENT = /^\{"type":"(\w+)"/;

function* inPlaceOf(head: string, last: Buffer, { reassembledBytes }: ChunkLimits): Generator<string> {
  const response = RESPONSE.exec(head);
  const originalType = response ? "response" : EVENT.exec(head)?.[1];
  const what = response ? `The answer to ${response[2]}` : (originalType ?? "A frame");
  const error = `${what} has more than ${reassembledBytes} bytes, which is the longest frame that can be sent in chunks`;
  const told: RpcFrameError = { type: "rpc_frame_error", originalType, error };
  yield `${toJson(told)}\n`;
  if (response) {
    const id = response[1] === undefined ? "" : `"id":${response[1]},`;
    yield `{${id}"type":"response","command":"${response[2]}","success":false,"error":${toJson(error)}}\n`;
  }
  if (originalType === "agent_end") yield withoutMessages(last);
}

/** Hosts wait for this one, and have seen the messages. What stands behind them is short. */
function withoutMessages(frame: Buffer): string {
  const tail = frame.toString("utf8", frame.lastIndexOf('],"willRetry":'));
  return `{"type":"agent_end","messages":[${tail}\n`;
}
