import { Writable } from "node:stream";
import { describe, expect, it } from "vitest";
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
    take?.(error);
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
