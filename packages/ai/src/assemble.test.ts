import type { StreamEvent } from "@tiller/protocol/stream-event";
import fc from "fast-check";
import { expect, test } from "vitest";
import { type Assembly, createAssembly, MOST_BLOCKS } from "./assemble.ts";
import { ProviderError } from "./errors.ts";
import type { Delta } from "./provider.ts";
import { testModel } from "./testing.ts";

const text = (index: number): Delta => ({ type: "open", index, block: { type: "text" } });
const thinking = (index: number): Delta => ({ type: "open", index, block: { type: "thinking" } });
const call = (index: number, id = "c1"): Delta => ({
  type: "open",
  index,
  block: { type: "toolCall", id, name: "read" },
});
const grow = (index: number, piece: string): Delta => ({ type: "grow", index, text: piece });
const close = (index: number): Delta => ({ type: "close", index });

function assemble(deltas: readonly Delta[]): { assembly: Assembly; events: StreamEvent[] } {
  const assembly = createAssembly(testModel(), 42);
  const events = deltas.map((delta) => assembly.apply(delta)).filter((event) => event !== undefined);
  return { assembly, events };
}

test("a message grows in place, and every piece is told once", () => {
  const { assembly, events } = assemble([thinking(0), grow(0, "Hm"), close(0), text(1), grow(1, "He"), grow(1, "y")]);
  expect(assembly.start()).toEqual({ type: "start" });
  assembly.refresh();
  expect(assembly.message).toMatchObject({
    role: "assistant",
    provider: "anthropic",
    model: "claude-test",
    stopReason: "stop",
    timestamp: 42,
    content: [
      { type: "thinking", thinking: "Hm" },
      { type: "text", text: "Hey" },
    ],
  });
  expect(events).toEqual([
    { type: "thinking_start", contentIndex: 0 },
    { type: "thinking_delta", contentIndex: 0, delta: "Hm" },
    { type: "thinking_end", contentIndex: 0, content: "Hm" },
    { type: "text_start", contentIndex: 1 },
    { type: "text_delta", contentIndex: 1, delta: "He" },
    { type: "text_delta", contentIndex: 1, delta: "y" },
  ]);
  const { message } = assembly;
  expect(assembly.finish("stop")).toEqual([
    { type: "text_end", contentIndex: 1, content: "Hey" },
    { type: "done", reason: "stop", message },
  ]);
  expect(assembly.message).toBe(message);
});

test("a tool call shows its arguments as far as they are readable, when asked", () => {
  const { assembly, events } = assemble([call(0), grow(0, '{"path":"a'), grow(0, ".ts")]);
  expect(events[0]).toEqual({ type: "toolcall_start", contentIndex: 0, id: "c1", toolName: "read" });
  expect(events[2]).toEqual({ type: "toolcall_delta", contentIndex: 0, delta: ".ts" });
  expect(assembly.message.content[0]).toMatchObject({ arguments: {} });
  assembly.refresh();
  expect(assembly.message.content[0]).toMatchObject({ arguments: { path: "a.ts" } });
  assembly.apply(grow(0, '","n":1}'));
  const toolCall = { type: "toolCall", id: "c1", name: "read", arguments: { path: "a.ts", n: 1 } };
  expect(assembly.apply(close(0))).toEqual({ type: "toolcall_end", contentIndex: 0, toolCall });
  expect(assembly.brokenArguments.size).toBe(0);
});

test.each<[raw: string, error: RegExp]>([
  ['{"path":', /JSON/],
  ["[1]", /expected a JSON object, got an array/],
  ["null", /got null/],
  ["3", /got a number/],
])("arguments %s cannot be used and are kept for the answer to the model", (raw, error) => {
  const { assembly } = assemble([call(0), grow(0, raw), close(0)]);
  expect(assembly.message.content[0]).toMatchObject({ arguments: {} });
  expect(assembly.brokenArguments.get("c1")).toEqual({ raw, error: expect.stringMatching(error) });
});

test("two tool calls never have one id", () => {
  const { assembly, events } = assemble([call(0, "a"), call(1, "a"), call(2, "a_3"), call(3, "a"), grow(1, '{"n":1}')]);
  assembly.finish("toolUse");
  const ids = ["a", "a_1", "a_3", "a_3_"];
  expect(assembly.message.content).toMatchObject(ids.map((id, n) => ({ id, arguments: n === 1 ? { n: 1 } : {} })));
  expect(events.slice(0, 4)).toMatchObject(ids.map((id) => ({ type: "toolcall_start", id })));
});

test("a tool call without arguments has none", () => {
  const { assembly } = assemble([call(0), grow(0, " "), close(0)]);
  expect(assembly.message.content[0]).toMatchObject({ arguments: {} });
  expect(assembly.brokenArguments.size).toBe(0);
});

test("signatures stay with their blocks", () => {
  const { assembly } = assemble([
    thinking(0),
    { type: "close", index: 0, signature: "s0", redacted: true },
    text(1),
    { type: "close", index: 1, signature: "s1" },
    call(2),
    { type: "close", index: 2, signature: "s2" },
    { type: "response", id: "msg_1" },
  ]);
  expect(assembly.message.content).toMatchObject([
    { thinkingSignature: "s0", redacted: true },
    { textSignature: "s1" },
    { thoughtSignature: "s2" },
  ]);
  expect(assembly.message.responseId).toBe("msg_1");
});

test("usage is a running total with its price", () => {
  const { assembly } = assemble([
    { type: "usage", input: 1000, output: 1, cacheRead: 100, cacheWrite: 10 },
    { type: "usage", output: 333, reasoning: 30 },
  ]);
  const { usage } = assembly.message;
  expect(usage).toMatchObject({ input: 1000, output: 333, cacheRead: 100, cacheWrite: 10, reasoning: 30 });
  expect(usage.totalTokens).toBe(1443);
  expect(usage.cost).toEqual({
    input: (1000 * 3) / 1e6,
    output: (333 * 15) / 1e6,
    cacheRead: (100 * 0.3) / 1e6,
    cacheWrite: (10 * 3.75) / 1e6,
    total: 0.003 + (333 * 15) / 1e6 + (100 * 0.3) / 1e6 + (10 * 3.75) / 1e6,
  });
});

test.each([
  ["aborted", "aborted"],
  ["network", "error"],
] as const)("an answer that fails (%s) closes what is open and ends as %s", (kind, reason) => {
  const { assembly } = assemble([text(0), grow(0, "Hel"), call(1), grow(1, '{"path":"a')]);
  const events = assembly.fail(new ProviderError(kind, "It broke"));
  expect(events.map((event) => event.type)).toEqual(["text_end", "toolcall_end", "error"]);
  expect(events.at(-1)).toEqual({ type: "error", reason, error: assembly.message });
  expect(assembly.message).toMatchObject({ stopReason: reason, errorMessage: "It broke" });
  expect(assembly.message.content[1]).toMatchObject({ arguments: { path: "a" } });
});

test("pieces of a block that is not open are dropped", () => {
  const { assembly, events } = assemble([grow(3, "?"), close(3), text(0), close(0), grow(0, "late")]);
  expect(events.map((event) => event.type)).toEqual(["text_start", "text_end"]);
  expect(assembly.message.content).toEqual([{ type: "text", text: "" }]);
});

test("a block that another one takes the index of keeps its text", () => {
  const { assembly } = assemble([text(0), grow(0, "one"), text(0), grow(0, "two")]);
  assembly.finish("stop");
  expect(assembly.message.content).toEqual([
    { type: "text", text: "one" },
    { type: "text", text: "two" },
  ]);
});

test("any cutting of the texts, and any mixing of the blocks, gives the same message", () => {
  const blocks = fc.array(
    fc.record({ kind: fc.constantFrom("text", "thinking", "toolCall"), body: fc.string(), cuts: fc.array(fc.nat(20)) }),
    { minLength: 1, maxLength: 4 },
  );
  fc.assert(
    fc.property(blocks, fc.infiniteStream(fc.nat(3)), (described, order) => {
      const bodies = described.map(({ kind, body }) => (kind === "toolCall" ? JSON.stringify({ body }) : body));
      const opens = described.map(({ kind }, i) =>
        kind === "text" ? text(i) : kind === "thinking" ? thinking(i) : call(i, `c${i}`),
      );
      const queues = bodies.map((body, i) => cut(body, described[i]!.cuts).map((piece) => grow(i, piece)));
      const mixed: Delta[] = [];
      while (queues.some((queue) => queue.length > 0)) {
        const ready = queues.filter((queue) => queue.length > 0);
        mixed.push(ready[order.next().value % ready.length]!.shift()!);
      }
      const closes = bodies.map((_, i) => close(i));
      const { assembly, events } = assemble([...opens, ...mixed, ...closes]);
      const { assembly: whole } = assemble([...opens, ...bodies.map((body, i) => grow(i, body)), ...closes]);
      expect(assembly.message).toEqual(whole.message);
      for (const [i, body] of bodies.entries()) {
        const told = events.map((event) => ("delta" in event && event.contentIndex === i ? event.delta : "")).join("");
        expect(told).toBe(body);
      }
    }),
  );
});

function cut(body: string, places: readonly number[]): string[] {
  const borders = [...new Set(places.filter((place) => place < body.length))].sort((a, b) => a - b);
  return [0, ...borders].map((start, i) => body.slice(start, borders[i]));
}

test("blocks behind the most that an answer may have are dropped, with what would have grown in them", () => {
  const all = Array.from({ length: MOST_BLOCKS }, (_, index) => [text(index), grow(index, "a")]).flat();
  const { assembly, events } = assemble(all);
  expect(assembly.hasTooManyBlocks).toBe(false);
  // Under an index that is open, too: what it said before stays.
  const more = [text(7), grow(7, "lost"), close(7), call(MOST_BLOCKS, "late"), grow(MOST_BLOCKS, "{}")];
  expect(more.map((delta) => assembly.apply(delta)).filter((event) => event !== undefined)).toEqual([]);
  expect(assembly.hasTooManyBlocks).toBe(true);
  assembly.finish("stop");
  expect(events).toHaveLength(2 * MOST_BLOCKS);
  expect(assembly.message.content).toHaveLength(MOST_BLOCKS);
  expect(assembly.message.content[7]).toEqual({ type: "text", text: "a" });
});

test("what stands beside the words counts as well, and so does going from block to block", () => {
  const sizes = [
    [[call(0, "c".repeat(100))], 104],
    [[thinking(0), { type: "close", index: 0, signature: "s".repeat(50) }], 50],
    [[{ type: "response", id: "r".repeat(30), model: "m".repeat(20) }], 50],
    [[text(0), grow(0, "a"), grow(0, "b")], 2],
    [[text(0), text(1), grow(0, "a"), grow(1, "b"), grow(1, "c")], 3 + 2 * 512],
  ] satisfies [Delta[], number][];
  for (const [deltas, size] of sizes) expect(assemble(deltas).assembly.size).toBe(size);
});

test("long arguments are read again when they have grown by a good part, and at the end", () => {
  const { assembly } = assemble([call(0), grow(0, `{"a":"${"x".repeat(100_000)}`)]);
  const shown = () => {
    assembly.refresh();
    const [block] = assembly.message.content;
    return block?.type === "toolCall" ? String(block.arguments.a).length : 0;
  };
  expect(shown()).toBe(100_000);
  assembly.apply(grow(0, "y".repeat(1000)));
  expect(shown()).toBe(100_000);
  assembly.apply(grow(0, "y".repeat(1000)));
  expect(shown()).toBe(102_000);
  assembly.apply(grow(0, "z"));
  assembly.fail(new ProviderError("network", "lost"));
  expect(shown()).toBe(102_001);
});
