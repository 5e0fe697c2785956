import { Writable } from "node:stream";
import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { createFrameCutter } from "./chunked-frames.ts";
import { createFrameWriter } from "./frame-writer.ts";

/** A host that takes what was written only when it is told to read. */
function slowHost() {
  const writes: string[] = [];
  let take: ((error?: Error) => void) | undefined;
  const output = new Writable({
    decodeStrings: false,
    write(chunk, _encoding, callback) {
      writes.push(String(chunk));
      take = callback;
    },
  });
  const settle = async (error?: Error) => {
    const taken = take;
    take = undefined;
    taken?.(error);
    await new Promise((resolve) => setImmediate(resolve));
  };
  return { output, writes, read: () => settle(), leave: () => settle(new Error("EPIPE")) };
}

const tick = () => new Promise((resolve) => setImmediate(resolve));

describe("frame writer", () => {
  it("writes all frames of one tick at once, in order, one per line", async () => {
    const host = slowHost();
    const writer = createFrameWriter(host.output, () => undefined);
    writer.frame({ type: "a" });
    writer.raw('{"type":"b"}');
    expect(host.writes).toEqual([]);
    await tick();
    expect(host.writes).toEqual(['{"type":"a"}\n{"type":"b"}\n']);
  });

  it("writes behind all that follows from what was said, and what follows goes along", async () => {
    const host = slowHost();
    const writer = createFrameWriter(host.output, () => undefined);
    const order: string[] = [];
    writer.frame({ type: "a" });
    await Promise.resolve().then(() => process.nextTick(() => order.push(`next, ${host.writes.length} writes`)));
    writer.frame({ type: "b" });
    await tick();
    expect(order).toEqual(["next, 0 writes"]);
    expect(host.writes).toEqual(['{"type":"a"}\n{"type":"b"}\n']);
  });

  it("lets no more gather in one turn than a good write takes", () => {
    const host = slowHost();
    const writer = createFrameWriter(host.output, () => undefined);
    writer.frame({ text: "x".repeat(10_000) });
    expect(host.writes).toEqual([]);
    writer.frame({ text: "y".repeat(10_000) });
    expect(host.writes).toHaveLength(1);
  });

  it("writes at once what somebody is waiting for, and the rest when it is its turn", async () => {
    const host = slowHost();
    const writer = createFrameWriter(host.output, () => undefined);
    writer.frame({ n: 1 });
    writer.hurry();
    expect(host.writes).toEqual(['{"n":1}\n']);
    writer.frame({ n: 2 });
    writer.hurry();
    await tick();
    expect(host.writes).toHaveLength(1);
    await host.read();
    expect(host.writes).toEqual(['{"n":1}\n', '{"n":2}\n']);
  });

  it("puts what is given while a write is prepared behind it, however much waits", async () => {
    const host = slowHost();
    const writer = createFrameWriter(host.output, () => undefined);
    writer.frame({ n: 1 });
    writer.hurry();
    for (const n of [2, 3]) writer.frame({ n, text: "x".repeat(100_000) });
    writer.beforeWrite = () => {
      writer.beforeWrite = undefined;
      writer.frame({ n: 4 });
    };
    const frames = (await readAll(host)) as { n: number }[];
    expect(frames.map(({ n }) => n)).toEqual([1, 2, 3, 4]);
  });

  it("keeps one write under way and gathers the rest", async () => {
    const host = slowHost();
    const writer = createFrameWriter(host.output, () => undefined);
    writer.frame({ n: 1 });
    await tick();
    writer.frame({ n: 2 });
    await tick();
    writer.frame({ n: 3 });
    await tick();
    expect(host.writes).toHaveLength(1);
    expect(writer.busy).toBe(true);
    await host.read();
    expect(host.writes).toEqual(['{"n":1}\n', '{"n":2}\n{"n":3}\n']);
  });

  it("has no room while a lot waits, and room again once the host has read", async () => {
    const host = slowHost();
    const writer = createFrameWriter(host.output, () => undefined);
    expect(writer.room()).toBeUndefined();
    writer.frame({});
    await tick();
    writer.frame({ big: "x".repeat(300_000) });
    const room = writer.room();
    expect(room).toBeInstanceOf(Promise);
    await host.read();
    await host.read();
    await room;
    expect(writer.room()).toBeUndefined();
  });

  it("tells when only so much waits, and counts what it gives away", async () => {
    const host = slowHost();
    const writer = createFrameWriter(host.output, () => undefined);
    const line = JSON.stringify({ big: "x".repeat(200_000) });
    const size = line.length + 1;
    writer.raw(line);
    for (let n = 0; n < 4; n++) writer.raw(line);
    expect(writer.waiting).toBe(4 * size);
    const woken: number[] = [];
    for (const bytes of [500_000, 0]) void writer.drainedTo(bytes).then(() => woken.push(bytes));
    await host.read();
    expect([woken, writer.waiting]).toEqual([[], 3 * size]);
    await host.read();
    expect([woken, writer.waiting]).toEqual([[500_000], 2 * size]);
    for (let n = 0; n < 3; n++) await host.read();
    expect([woken, writer.waiting]).toEqual([[500_000, 0], 0]);
    await writer.drainedTo(0);
  });

  it("escapes U+2028 and U+2029, which careless readers take for line ends", async () => {
    const host = slowHost();
    const writer = createFrameWriter(host.output, () => undefined);
    writer.frame({ text: "a\u2028b\u2029c" });
    await tick();
    expect(host.writes).toEqual(['{"text":"a\\u2028b\\u2029c"}\n']);
  });

  it("says once that the host is gone, and lets nobody wait for it", async () => {
    const host = slowHost();
    const gone: string[] = [];
    const writer = createFrameWriter(host.output, (error) => gone.push(error.message));
    writer.frame({});
    await tick();
    writer.frame({ big: "x".repeat(300_000) });
    const room = writer.room();
    await host.leave();
    await room;
    await writer.flushed();
    writer.frame({ more: true });
    await tick();
    expect(gone).toEqual(["EPIPE"]);
    expect(host.writes).toHaveLength(1);
  });
});

/** An answer of many pieces that notes how many of them were asked for. The pieces share one buffer, as makers may do. */
function longAnswer(name: string, pieces: number, size = 100_000) {
  const asked = { pieces: 0, isOver: false };
  const shared = Buffer.alloc(size);
  function* json(): Generator<Buffer | string> {
    yield `{"name":"${name}","text":"`;
    for (let at = 0; at < pieces; at++) {
      asked.pieces += 1;
      shared.fill(0x61 + (at % 26));
      yield shared;
    }
    yield '"}';
    asked.isOver = true;
  }
  const text = Array.from({ length: pieces }, (_, at) => String.fromCharCode(0x61 + (at % 26)).repeat(size)).join("");
  return { json, asked, frame: { name, text } };
}

/** Reads until nothing more comes. */
async function readAll(host: ReturnType<typeof slowHost>): Promise<object[]> {
  for (let seen = -1; seen !== host.writes.length; ) {
    seen = host.writes.length;
    await host.read();
  }
  const lines = host.writes.join("").split("\n");
  expect(lines.pop()).toBe("");
  return lines.map((line) => JSON.parse(line));
}

describe("a long answer", () => {
  it("is one frame, in its place among the others", async () => {
    const host = slowHost();
    const writer = createFrameWriter(host.output, () => undefined);
    const [one, two] = [longAnswer("one", 5), longAnswer("two", 3)];
    writer.frame({ n: 1 });
    writer.pieces(one.json());
    writer.frame({ n: 2 });
    await tick();
    writer.frame({ n: 3 });
    writer.pieces(two.json());
    writer.pieces(['{"n":', Buffer.from("4"), "}"]);
    writer.frame({ n: 5 });
    expect(await readAll(host)).toEqual([{ n: 1 }, one.frame, { n: 2 }, { n: 3 }, two.frame, { n: 4 }, { n: 5 }]);
  });

  it("lets frames that come while it is written stand behind it", async () => {
    const host = slowHost();
    const writer = createFrameWriter(host.output, () => undefined);
    const { json, frame, asked } = longAnswer("x", 20);
    writer.pieces(json());
    const events: object[] = [];
    for (let n = 0; !asked.isOver; n++) {
      events.push({ n });
      writer.frame({ n });
      await host.read();
    }
    expect(events.length).toBeGreaterThan(5);
    expect(await readAll(host)).toEqual([frame, ...events]);
  });

  it("is made as fast as the host reads it, not faster", async () => {
    const host = slowHost();
    const writer = createFrameWriter(host.output, () => undefined);
    const { json, asked } = longAnswer("x", 100);
    writer.pieces(json());
    for (let read = 0; read < 50; read++) {
      await tick();
      expect(asked.pieces).toBeLessThanOrEqual(host.writes.length + 3);
      await host.read();
    }
    expect(asked.isOver).toBe(false);
    expect(writer.waiting).toBe(0);
  });

  it("of many small texts goes out in few writes", async () => {
    const host = slowHost();
    const writer = createFrameWriter(host.output, () => undefined);
    writer.pieces(['"', ...Array.from({ length: 10_000 }, () => "0123456789"), '"']);
    await readAll(host);
    expect(host.writes.length).toBeLessThan(10);
  });

  for (const pieces of [[], [""], ["", Buffer.alloc(0), ""]]) {
    it(`of ${JSON.stringify(pieces)} is an empty line, and what follows comes`, async () => {
      const host = slowHost();
      const writer = createFrameWriter(host.output, () => undefined);
      writer.pieces(pieces);
      writer.frame({ n: 1 });
      for (let turn = 0; turn < 5; turn++) await host.read();
      expect(host.writes.join("")).toBe('\n{"n":1}\n');
    });
  }

  it("leaves room for events, but none for further answers, and wakes up all who wait when it is over", async () => {
    const host = slowHost();
    const writer = createFrameWriter(host.output, () => undefined);
    writer.pieces(longAnswer("x", 3).json());
    await tick();
    expect(writer.room()).toBeUndefined();
    const woken: string[] = [];
    const waits = [
      writer.roomForAnswers()?.then(() => woken.push("answers")),
      writer.flushed().then(() => woken.push("flushed")),
    ];
    writer.frame({ big: "x".repeat(100_000) });
    waits.push(writer.room()?.then(() => woken.push("room")));
    await host.read();
    expect(woken).toEqual([]);
    await readAll(host);
    await Promise.all(waits);
    expect(woken.sort()).toEqual(["answers", "flushed", "room"]);
    expect([writer.room(), writer.roomForAnswers(), writer.busy]).toEqual([undefined, undefined, false]);
  });

  it("is given up when the host goes away in the middle; nobody waits for ever", async () => {
    const host = slowHost();
    const gone: string[] = [];
    const writer = createFrameWriter(host.output, (error) => gone.push(error.message));
    const { json, asked } = longAnswer("x", 50);
    writer.pieces(json());
    writer.frame({ big: "x".repeat(100_000) });
    await tick();
    await host.read();
    const waits = [writer.room(), writer.roomForAnswers(), writer.flushed()];
    const askedBefore = asked.pieces;
    await host.leave();
    await Promise.all(waits);
    writer.pieces(json());
    await tick();
    expect([gone, asked.pieces]).toEqual([["EPIPE"], askedBefore]);
    expect([writer.room(), writer.roomForAnswers(), writer.waiting]).toEqual([undefined, undefined, 0]);
  });
});

it("any frames and answers come out whole and in order, however the host reads", async () => {
  const piece = fc.oneof(fc.string(), fc.constantFrom("x".repeat(70_000), "ä😀"));
  const step = fc.oneof(
    fc.array(fc.tuple(piece, fc.boolean()), { maxLength: 6 }),
    fc.record({ text: fc.string() }),
    fc.record({ token: fc.oneof(fc.string(), fc.constantFrom("x".repeat(512), "ä😀")), times: fc.nat(20) }),
    fc.constant("read" as const),
  );
  await fc.assert(
    fc.asyncProperty(fc.array(step, { maxLength: 12 }), async (steps) => {
      const host = slowHost();
      const writer = createFrameWriter(host.output, () => undefined);
      const expected: unknown[] = [];
      for (const given of steps) {
        if (given === "read") await host.read();
        else if ("token" in given) {
          for (let seq = 0; seq < given.times; seq++) {
            writer.token(AROUND, given.token, seq);
            expected.push({ delta: given.token, seq });
          }
        } else if (Array.isArray(given)) {
          writer.pieces(["[", ...given.flatMap(([text, isBytes]) => partsOf(text, isBytes)), "null]"]);
          expected.push([...given.map(([text]) => text), null]);
        } else {
          writer.frame(given);
          expected.push(given);
        }
      }
      expect(await readAll(host)).toEqual(expected);
      await writer.flushed();
    }),
  );
});

const AROUND = { head: Buffer.from('{"delta":'), tail: Buffer.from(',"seq":') };

const partsOf = (text: string, isBytes: boolean): (Buffer | string)[] => {
  const json = JSON.stringify(text);
  return [isBytes ? Buffer.from(json) : json, ","];
};

it("more tokens than go out in one write come out in order, between other frames", async () => {
  const host = slowHost();
  const writer = createFrameWriter(host.output, () => undefined);
  const expected: object[] = [];
  for (let seq = 0; seq < 1000; seq++) {
    const delta = "x".repeat(seq % 500);
    writer.token(AROUND, delta, seq);
    expected.push({ delta, seq });
    if (seq % 100 === 0) writer.frame({ seq });
    if (seq % 100 === 0) expected.push({ seq });
  }
  expect(await readAll(host)).toEqual(expected);
});

describe("once long frames are to come in chunks", () => {
  const LONG = "é".repeat(600_000);

  it("only those are cut, in the order they were given; answers in pieces as well", async () => {
    const host = slowHost();
    const writer = createFrameWriter(host.output, () => undefined);
    writer.raw(JSON.stringify({ type: "before", LONG }));
    writer.cutter = createFrameCutter();
    writer.raw(JSON.stringify({ type: "short", text: "x".repeat(500_000) }));
    writer.raw(JSON.stringify({ type: "long", LONG }));
    writer.pieces(['{"type":"long pieces","LONG":"', Buffer.from(LONG), '"}']);
    writer.pieces(['{"type":"short pieces"', "}"]);
    writer.frame({ type: "last" });
    for (let read = 0; read < 30; read++) await host.read();
    const types = host.writes
      .join("")
      .split("\n")
      .filter((line) => line !== "")
      .map((line) => JSON.parse(line))
      .map(({ type, chunkId, index }) => (type === "rpc_chunk" ? `${chunkId} ${index}` : type));
    const chunks = (id: string) => [0, 1, 2, 3, 4].map((index) => `${id} ${index}`);
    expect(types).toEqual(["before", "short", ...chunks("rpc-1"), ...chunks("rpc-2"), "short pieces", "last"]);
  });
});
