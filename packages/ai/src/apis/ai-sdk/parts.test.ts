import fc from "fast-check";
import { expect, test } from "vitest";
import { createAssembly } from "../../assemble.ts";
import type { ProviderErrorKind } from "../../errors.ts";
import type { Delta } from "../../provider.ts";
import { testModel } from "../../testing.ts";
import { finishParts, initialParts, stepParts } from "./parts.ts";

function play(...parts: unknown[]): Delta[] {
  const state = initialParts("model-1");
  const out: Delta[] = [];
  for (const part of parts) stepParts(state, part, 0, out);
  finishParts(state, out);
  return out;
}

const usage = {
  inputTokens: { total: 20, noCache: 12, cacheRead: 5, cacheWrite: 3 },
  outputTokens: { total: 9, text: 4, reasoning: 5 },
};
const finish = (unified: string, raw = "raw_reason") => ({
  type: "finish",
  usage,
  finishReason: { unified, raw },
});

test("a whole answer of version 3", () => {
  const deltas = play(
    { type: "stream-start", warnings: [] },
    { type: "response-metadata", id: "resp-1", modelId: "model-1-2026", timestamp: new Date(0) },
    { type: "reasoning-start", id: "0", providerMetadata: { acme: { itemId: "rs_1" } } },
    { type: "reasoning-delta", id: "0", delta: "Hm" },
    { type: "reasoning-delta", id: "0", delta: "", providerMetadata: { acme: { signature: "c2ln" } } },
    { type: "reasoning-end", id: "0" },
    { type: "text-start", id: "0" },
    { type: "text-delta", id: "0", delta: "Let me " },
    { type: "text-delta", id: "0", delta: "look." },
    { type: "text-end", id: "0", providerMetadata: { acme: { itemId: "msg_1" } } },
    { type: "tool-input-start", id: "c1", toolName: "read" },
    { type: "tool-input-delta", id: "c1", delta: '{"path":' },
    { type: "tool-input-delta", id: "c1", delta: '"a"}' },
    { type: "tool-input-end", id: "c1" },
    {
      type: "tool-call",
      toolCallId: "c1",
      toolName: "read",
      input: '{"path":"a"}',
      providerMetadata: { acme: { thoughtSignature: "cw==" } },
    },
    { type: "tool-call", toolCallId: "c2", toolName: "ls", input: "{}" },
    finish("tool-calls"),
    { type: "text-start", id: "late" },
  );
  expect(deltas).toEqual([
    { type: "response", id: "resp-1", model: "model-1-2026" },
    { type: "open", index: 0, block: { type: "thinking" } },
    { type: "grow", index: 0, text: "Hm" },
    { type: "close", index: 0, signature: '{"acme":{"itemId":"rs_1","signature":"c2ln"}}' },
    { type: "open", index: 1, block: { type: "text" } },
    { type: "grow", index: 1, text: "Let me " },
    { type: "grow", index: 1, text: "look." },
    { type: "close", index: 1, signature: '{"acme":{"itemId":"msg_1"}}' },
    { type: "open", index: 2, block: { type: "toolCall", id: "c1", name: "read" } },
    { type: "grow", index: 2, text: '{"path":' },
    { type: "grow", index: 2, text: '"a"}' },
    { type: "close", index: 2, signature: '{"acme":{"thoughtSignature":"cw=="}}' },
    { type: "open", index: 3, block: { type: "toolCall", id: "c2", name: "ls" } },
    { type: "grow", index: 3, text: "{}" },
    { type: "close", index: 3 },
    { type: "usage", input: 12, output: 9, cacheRead: 5, cacheWrite: 3, reasoning: 5 },
    { type: "done", stopReason: "toolUse" },
  ]);
});

test("counts and reasons of version 2", () => {
  const counts = { inputTokens: 20, outputTokens: 9, totalTokens: 29, reasoningTokens: 5, cachedInputTokens: 8 };
  expect(play({ type: "finish", finishReason: "stop", usage: counts })).toEqual([
    { type: "usage", input: 12, output: 9, cacheRead: 8, reasoning: 5 },
    { type: "done", stopReason: "stop" },
  ]);
  const apart = { inputTokens: 3, outputTokens: 9, cachedInputTokens: 8, totalTokens: undefined };
  expect(play({ type: "finish", finishReason: "length", usage: apart })).toEqual([
    { type: "usage", input: 3, output: 9, cacheRead: 8 },
    { type: "done", stopReason: "length" },
  ]);
  expect(play({ type: "finish", finishReason: "other" }).at(-1)).toEqual({ type: "done", stopReason: "stop" });
});

test("a call is never doubled, whatever was streamed of it before", () => {
  const call = { type: "tool-call", toolCallId: "c", toolName: "ls", input: '{"path":"a"}' };
  const start = { type: "tool-input-start", id: "c", toolName: "ls" };
  const stories: unknown[][] = [
    [call],
    [start, call],
    [start, { type: "tool-input-end", id: "c" }, call],
    [start, { type: "tool-input-delta", id: "c", delta: '{"pa' }, call],
    [{ ...start, inputEncoding: "text" }, { type: "tool-input-delta", id: "c", delta: "a raw text" }, call],
    [call, call],
    [start, start, { ...call, input: { path: "a" } }],
  ];
  for (const parts of stories) {
    const { content } = messageOf(play(...parts, finish("tool-calls")));
    expect(content).toEqual([{ type: "toolCall", id: "c", name: "ls", arguments: { path: "a" } }]);
  }
});

test("what the vendor runs itself, and parts of a kind we do not know, are passed over", () => {
  const deltas = play(
    null,
    "text",
    { type: "tool-input-start", id: "s", toolName: "web_search", providerExecuted: true },
    { type: "tool-input-delta", id: "s", delta: "{}" },
    { type: "tool-call", toolCallId: "s", toolName: "web_search", input: "{}", providerExecuted: true },
    { type: "tool-result", toolCallId: "s", toolName: "web_search", result: {} },
    { type: "source", sourceType: "url", id: "1", url: "https://example.com" },
    { type: "file", mediaType: "image/png", data: "AA" },
    { type: "raw", rawValue: {} },
    { type: "brand-new" },
    { type: "toString" },
    { type: "text-delta", id: "never opened", delta: "Hi" },
    finish("stop"),
  );
  expect(deltas.filter((delta) => delta.type !== "usage")).toEqual([
    { type: "open", index: 0, block: { type: "text" } },
    { type: "grow", index: 0, text: "Hi" },
    { type: "close", index: 0 },
    { type: "done", stopReason: "stop" },
  ]);
});

test("blocks that grow side by side stay apart, and their ids can be used again", () => {
  const { content } = messageOf(
    play(
      { type: "text-start", id: "1" },
      { type: "reasoning-start", id: "1" },
      { type: "text-delta", id: "1", delta: "a" },
      { type: "reasoning-delta", id: "1", delta: "b" },
      { type: "text-delta", id: "1", delta: "c" },
      { type: "text-end", id: "1" },
      { type: "text-start", id: "1" },
      { type: "text-delta", id: "1", delta: "d" },
      finish("stop"),
    ),
  );
  expect(content).toEqual([
    { type: "text", text: "ac" },
    { type: "thinking", thinking: "b" },
    { type: "text", text: "d" },
  ]);
});

test.each<[story: string, parts: unknown[], kind: ProviderErrorKind, message: RegExp]>([
  ["filtered", [finish("content-filter", "SAFETY")], "content_filter", /content-filter: SAFETY/],
  ["an error as reason", [finish("error", "boom")], "server", /error: boom/],
  [
    "cut, told as a finish without a reason",
    [{ type: "finish", finishReason: { unified: "other" }, usage }],
    "malformed",
    /without a reason/,
  ],
  ["cut, in version 2", [{ type: "finish", finishReason: "unknown" }], "malformed", /without a reason/],
  ["cut off", [{ type: "text-delta", id: "1", delta: "Half" }], "malformed", /before its finish part/],
  ["nothing at all", [], "malformed", /before its finish part/],
  ["an error part", [{ type: "error", error: new Error("boom") }, finish("stop")], "server", /^boom$/],
  ["an error as text", [{ type: "error", error: "overloaded" }], "server", /^overloaded$/],
  [
    "an error as the vendor's object",
    [{ type: "error", error: { type: "error", error: { type: "overloaded_error", message: "Busy" } } }],
    "overloaded",
    /^Busy$/,
  ],
])("failure: %s", (_story, parts, kind, message) => {
  const terminal = play(...parts).filter((delta) => delta.type === "error" || delta.type === "done");
  expect(terminal).toHaveLength(1);
  expect(terminal[0]).toMatchObject({ error: { kind, message: expect.stringMatching(message) as string } });
});

test("cut after any part, there is one error and what came before is kept", () => {
  const pieces = fc.array(fc.string({ minLength: 1 }), { minLength: 1, maxLength: 5 });
  fc.assert(
    fc.property(pieces, pieces, fc.nat(), (texts, inputs, at) => {
      const parts = [
        { type: "text-start", id: "1" },
        ...texts.map((delta) => ({ type: "text-delta", id: "1", delta })),
        { type: "text-end", id: "1" },
        { type: "tool-input-start", id: "c", toolName: "ls" },
        ...inputs.map((delta) => ({ type: "tool-input-delta", id: "c", delta })),
      ];
      const kept = parts.slice(0, at % (parts.length + 1));
      const deltas = play(...kept);
      expect(deltas.filter((delta) => delta.type === "error" || delta.type === "done")).toHaveLength(1);
      const said = kept.flatMap((part) => (part.type === "text-delta" && "delta" in part ? [part.delta] : [])).join("");
      const { content } = messageOf(deltas);
      expect(content.flatMap((block) => (block.type === "text" ? [block.text] : [])).join("")).toBe(said);
    }),
  );
});

function messageOf(deltas: readonly Delta[]) {
  const assembly = createAssembly(testModel(), 0);
  for (const delta of deltas) assembly.apply(delta);
  assembly.refresh();
  return assembly.message;
}
