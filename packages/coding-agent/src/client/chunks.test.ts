import { describe, expect, it } from "vitest";
import { createReassembly } from "./chunks.ts";

const TEXT = '{"type":"notice","message":"größer als ein Stück"}';
const BYTES = Buffer.from(TEXT, "utf8");

function pieces(size: number, chunkId = "rpc-1") {
  const count = Math.ceil(BYTES.length / size);
  return Array.from({ length: count }, (_, index) => ({
    type: "rpc_chunk",
    chunkId,
    index,
    count,
    byteLength: BYTES.length,
    data: BYTES.subarray(index * size, (index + 1) * size).toString("base64"),
  }));
}

function putTogether(frames: object[], maxBytes?: number): string[] {
  const reassembly = createReassembly(maxBytes);
  return frames.flatMap((frame) => reassembly.add(frame as ReturnType<typeof pieces>[0]) ?? []);
}

describe("frames in pieces", () => {
  it.each([1, 7, 1000])("become one again, also cut inside a character (%i bytes a piece)", (size) => {
    expect(putTogether([...pieces(size), ...pieces(size, "rpc-2")])).toEqual([TEXT, TEXT]);
  });

  const [first, second, ...rest] = pieces(20);
  const cases: [name: string, frames: object[], why: string][] = [
    ["out of order", [second as object, first as object], "piece 1 of rpc-1 came when 0 was due"],
    ["one twice", [first as object, first as object], "piece 0 of rpc-1 came when 1 was due"],
    ["one missing", [first as object, ...rest], "piece 2 of rpc-1 came when 1 was due"],
    ["two frames mixed", [first as object, pieces(20, "rpc-2")[1] as object], "rpc-2 began within rpc-1"],
    ["another count", [first as object, { ...second, count: 9 }], "rpc-1 has 3 pieces, or 9"],
    ["another length", pieces(20).map((piece) => ({ ...piece, byteLength: 7 })), "53 bytes came, 7 were announced"],
    ["no index", [{ ...first, index: "0" }], "not a piece"],
    ["an index behind the end", [{ ...first, index: 3 }], "not a piece"],
  ];
  it.each(cases)("%s is refused", (_, frames, why) => {
    expect(() => putTogether(frames)).toThrow(why);
  });

  it("more than the most is refused as soon as that is known", () => {
    expect(() => putTogether(pieces(20), 30)).toThrow("rpc-1 is larger than 30 bytes");
  });
});
