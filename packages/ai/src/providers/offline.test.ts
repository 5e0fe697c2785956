import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { decide } from "./offline/decide.ts";
import { grownText, readAll, reading, requestOf, settle, TestClock, user } from "./offline/test-support.ts";
import { createOffline, streamOffline, wordsOf } from "./offline.ts";

describe("scout's stream", () => {
  test("opens, grows word by word, closes, and ends with usage and done", async () => {
    const request = requestOf([user("Hello!")]);
    const { deltas, batches } = await readAll(streamOffline(request));
    expect(deltas[0]).toEqual({ type: "open", index: 0, block: { type: "text" } });
    expect(grownText(deltas)).toBe(decide(request).text);
    expect(deltas.at(-3)).toEqual({ type: "close", index: 0 });
    expect(deltas.at(-2)).toEqual({ type: "usage", input: expect.any(Number), output: expect.any(Number) });
    expect(deltas.at(-1)).toEqual({ type: "done", stopReason: "stop" });
    expect(batches.length).toBeGreaterThan(5);
    const usage = deltas.at(-2) as { input: number; output: number };
    expect(usage.input).toBeGreaterThan(0);
    expect(usage.output).toBeGreaterThan(0);
  });

  test("carries tool calls as blocks of their own", async () => {
    const { deltas } = await readAll(streamOffline(requestOf([user("read README.md")])));
    expect(deltas.filter((delta) => "index" in delta && delta.index === 1)).toEqual([
      { type: "open", index: 1, block: { type: "toolCall", id: "scout_1", name: "read" } },
      { type: "grow", index: 1, text: '{"path":"README.md"}' },
      { type: "close", index: 1 },
    ]);
    expect(deltas.at(-1)).toEqual({ type: "done", stopReason: "toolUse" });
  });

  test("stops in the middle when it is aborted", async () => {
    const abort = new AbortController();
    const seen: string[] = [];
    for await (const batch of streamOffline(requestOf([user("Hello!")], { signal: abort.signal }))) {
      seen.push(...batch.map((delta) => delta.type));
      abort.abort();
    }
    expect(seen.filter((type) => type === "grow")).toHaveLength(4);
    expect(seen.at(-1)).toBe("error");
    expect(seen).not.toContain("done");
  });

  test("says nothing but the abort when it is aborted before", async () => {
    const { deltas } = await readAll(streamOffline(requestOf([user("Hello!")], { signal: AbortSignal.abort() })));
    expect(deltas).toMatchObject([{ type: "error", error: { kind: "aborted", message: "Request was aborted" } }]);
  });

  test("can speak at a human pace, on the request's clock", async () => {
    const clock = new TestClock();
    const { deltas } = reading(createOffline({ wordsPerSecond: 10 })(requestOf([user("Hello!")], { clock })));
    const words = () => deltas.filter((delta) => delta.type === "grow").length;
    await settle();
    expect(words()).toBe(1);
    await clock.advance(300);
    expect(words()).toBe(4);
    await clock.advance(60_000);
    expect(deltas.at(-1)).toEqual({ type: "done", stopReason: "stop" });
  });
});

test("word-sized pieces join to the text", () => {
  fc.assert(fc.property(fc.string({ unit: "grapheme" }), (text) => wordsOf(text).join("") === text));
});
