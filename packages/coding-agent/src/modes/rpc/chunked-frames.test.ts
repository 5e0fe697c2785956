import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { createFrameCutter } from "./chunked-frames.ts";

const LIMITS = { frameBytes: 64, reassembledBytes: 400, chunkBytes: 16 };

interface Line {
  type: string;
  [field: string]: unknown;
}

function cut(cutter: ReturnType<typeof createFrameCutter>, ...pieces: (string | Buffer)[]): Line[] {
  const text = Buffer.concat([...cutter(pieces)].map((piece) => Buffer.from(piece as Buffer))).toString();
  expect(text.endsWith("\n")).toBe(true);
  return text
    .slice(0, -1)
    .split("\n")
    .map((line) => JSON.parse(line));
}

function joined(lines: Line[]): string {
  return Buffer.concat(lines.map(({ data }) => Buffer.from(String(data), "base64"))).toString();
}

describe("frames in chunks", () => {
  it("leaves alone what is short enough, its LF counted", () => {
    const cutter = createFrameCutter(LIMITS);
    const fits = JSON.stringify({ type: "a", text: "x".repeat(63 - 22) });
    expect(Buffer.byteLength(fits)).toBe(63);
    expect(cut(cutter, fits)).toEqual([JSON.parse(fits)]);
    expect(cut(cutter, fits.replace("x", "xx")).map(({ type }) => type)).toEqual(Array(4).fill("rpc_chunk"));
  });

  it("cuts by bytes: joined, the chunks are the frame, whatever its characters and pieces", () => {
    const cutter = createFrameCutter(LIMITS);
    let number = 0;
    const property = fc.property(
      fc.array(fc.string({ unit: "grapheme", minLength: 8, maxLength: 20 }), { minLength: 4, maxLength: 6 }),
      (texts) => {
        const frame = JSON.stringify({ type: "a", texts });
        const at = frame.length >> 1;
        const lines = cut(cutter, frame.slice(0, at), Buffer.from(frame.slice(at)));
        const bytes = Buffer.byteLength(frame);
        // Halves of a character that was cut in two are no longer the same text.
        fc.pre(Buffer.byteLength(frame.slice(0, at)) + Buffer.byteLength(frame.slice(at)) === bytes);
        fc.pre(bytes >= LIMITS.frameBytes && bytes <= LIMITS.reassembledBytes);
        number = Number(String(lines[0]?.chunkId).replace("rpc-", ""));
        expect(joined(lines)).toBe(frame);
        for (const [index, line] of lines.entries()) {
          expect(line).toMatchObject({ chunkId: `rpc-${number}`, index, count: lines.length, byteLength: bytes });
        }
      },
    );
    fc.assert(property, { numRuns: 200 });
    expect(number).toBeGreaterThan(1);
  });

  it("a buffer that is used again does not change what was cut", () => {
    const buffer = Buffer.from("y".repeat(60));
    function* pieces() {
      yield '{"type":"a","text":"';
      yield buffer;
      buffer.fill("z");
      yield '"}';
    }
    const lines = [...createFrameCutter(LIMITS)(pieces())].map((line) => JSON.parse(String(line)));
    expect(joined(lines)).toBe(`{"type":"a","text":"${"y".repeat(60)}"}`);
  });

  it("an answer that is too long becomes a failure of the same command", () => {
    const long = "x".repeat(500);
    const head = { type: "response", command: "get_messages", success: true };
    const why =
      "The answer to get_messages has more than 400 bytes, which is the longest frame that can be sent in chunks";
    for (const id of ['a"b', 7, -1.5e-7, undefined]) {
      const json = JSON.stringify({ id, ...head, data: { long } });
      const expected = { ...(id === undefined ? {} : { id }), ...head, success: false, error: why };
      const frameError = { type: "rpc_frame_error", originalType: "response", error: why };
      expect(cut(createFrameCutter(LIMITS), json)).toEqual([frameError, expected]);
      // In pieces, the rest is not even made.
      function* pieces() {
        yield json.slice(0, 450);
        throw new Error("asked for more");
      }
      const lines = [...createFrameCutter(LIMITS)(pieces())].map((line) => JSON.parse(String(line)));
      expect(lines).toEqual([frameError, expected]);
    }
  });

  it("of events only agent_end is told in another form: hosts wait for it", () => {
    const text = '],"willRetry":true,"x'.repeat(30);
    const end = { type: "agent_end", messages: [{ text }], willRetry: false, promptId: "prompt-1", seq: 9 };
    expect(cut(createFrameCutter(LIMITS), JSON.stringify(end))).toEqual([
      {
        type: "rpc_frame_error",
        originalType: "agent_end",
        error: "agent_end has more than 400 bytes, which is the longest frame that can be sent in chunks",
      },
      { ...end, messages: [] },
    ]);
    const turn = JSON.stringify({ type: "turn_end", text, seq: 8 });
    expect(cut(createFrameCutter(LIMITS), turn)).toMatchObject([{ originalType: "turn_end" }]);
  });
});
