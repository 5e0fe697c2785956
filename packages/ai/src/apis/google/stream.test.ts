import fc from "fast-check";
import { expect, test } from "vitest";
import { createAssembly } from "../../assemble.ts";
import type { ProviderErrorKind } from "../../errors.ts";
import { createSseDecoder } from "../../http/sse.ts";
import type { Delta } from "../../provider.ts";
import { testModel } from "../../testing.ts";
import { finish, initial, step } from "./stream.ts";

/** Plays events through the decoder too, in the form the provider sends them. */
function play(...events: unknown[]): Delta[] {
  return playText(events.map((event) => `data: ${JSON.stringify(event)}\r\n\r\n`).join(""));
}

function playText(stream: string): Delta[] {
  const state = initial();
  const out: Delta[] = [];
  for (const data of createSseDecoder().push(Buffer.from(stream))) step(state, data, out);
  finish(state, out);
  return out;
}

const parts = (...all: unknown[]) => ({ candidates: [{ content: { parts: all, role: "model" }, index: 0 }] });
const text = (words: string, more: object = {}) => parts({ text: words, ...more });
const ending = (finishReason: string, more: object = {}) => ({ candidates: [{ finishReason, index: 0, ...more }] });
const stop = ending("STOP");

test("text, with the counts as they grow", () => {
  const usage = (candidatesTokenCount: number) => ({
    usageMetadata: { promptTokenCount: 10, cachedContentTokenCount: 4, candidatesTokenCount, totalTokenCount: 99 },
    modelVersion: "gemini-2.5-flash-001",
    responseId: "resp1",
  });
  const deltas = play(
    { ...text("Hel"), ...usage(1) },
    { ...text("lo "), ...usage(1) },
    { ...text("✓"), ...usage(1) },
    { ...stop, ...usage(3) },
  );
  expect(deltas).toEqual([
    { type: "response", id: "resp1", model: "gemini-2.5-flash-001" },
    { type: "open", index: 0, block: { type: "text" } },
    { type: "grow", index: 0, text: "Hel" },
    { type: "usage", input: 6, cacheRead: 4, output: 1 },
    { type: "grow", index: 0, text: "lo " },
    { type: "grow", index: 0, text: "✓" },
    { type: "usage", input: 6, cacheRead: 4, output: 3 },
    { type: "close", index: 0 },
    { type: "done", stopReason: "stop" },
  ]);
});

test("thoughts, then an answer whose signature comes with an empty last part", () => {
  const deltas = play(
    text("Hm", { thought: true }),
    text("mm", { thought: true, thoughtSignature: "dGhvdWdodA==" }),
    text("An"),
    text("swer"),
    text("", { thoughtSignature: "dGV4dA==" }),
    { ...stop, usageMetadata: { promptTokenCount: 5, thoughtsTokenCount: 7, candidatesTokenCount: 2 } },
  );
  expect(deltas).toEqual([
    { type: "open", index: 0, block: { type: "thinking" } },
    { type: "grow", index: 0, text: "Hm" },
    { type: "grow", index: 0, text: "mm" },
    { type: "close", index: 0, signature: "dGhvdWdodA==" },
    { type: "open", index: 1, block: { type: "text" } },
    { type: "grow", index: 1, text: "An" },
    { type: "grow", index: 1, text: "swer" },
    { type: "usage", input: 5, cacheRead: 0, output: 9, reasoning: 7 },
    { type: "close", index: 1, signature: "dGV4dA==" },
    { type: "done", stopReason: "stop" },
  ]);
});

test("a second signature begins a second block; a signature alone is a block of its own", () => {
  const deltas = play(
    text("a", { thoughtSignature: "MQ==" }),
    text("b"),
    text("c", { thoughtSignature: "Mg==" }),
    parts({ functionCall: { id: "f", name: "ls" } }),
    text("", { thoughtSignature: "Mw==" }),
    stop,
  );
  expect(deltas.filter((delta) => delta.type === "close")).toEqual([
    { type: "close", index: 0, signature: "MQ==" },
    { type: "close", index: 1, signature: "Mg==" },
    { type: "close", index: 2 },
    { type: "close", index: 3, signature: "Mw==" },
  ]);
});

test("tool calls come whole: with the provider's ids, or with made ones", () => {
  const deltas = play(
    {
      ...parts({ text: "Looking." }, { functionCall: { name: "read", args: { path: "a" } }, thoughtSignature: "cw==" }),
      responseId: "resp1",
    },
    parts({ functionCall: { name: "ls", args: {} } }, { functionCall: { id: "own", name: "now" } }),
    parts({ functionCall: { id: "own", name: "again" } }),
    stop,
  );
  expect(deltas.slice(1)).toEqual([
    { type: "open", index: 0, block: { type: "text" } },
    { type: "grow", index: 0, text: "Looking." },
    { type: "close", index: 0 },
    { type: "open", index: 1, block: { type: "toolCall", id: "resp1_0", name: "read" } },
    { type: "grow", index: 1, text: '{"path":"a"}' },
    { type: "close", index: 1, signature: "cw==" },
    { type: "open", index: 2, block: { type: "toolCall", id: "resp1_1", name: "ls" } },
    { type: "grow", index: 2, text: "{}" },
    { type: "close", index: 2 },
    { type: "open", index: 3, block: { type: "toolCall", id: "own", name: "now" } },
    { type: "close", index: 3 },
    { type: "open", index: 4, block: { type: "toolCall", id: "resp1_3", name: "again" } },
    { type: "close", index: 4 },
    { type: "done", stopReason: "toolUse" },
  ]);
});

test("without any ids, calls of different responses still differ", () => {
  const idOf = (promptTokenCount: number): unknown =>
    play({ ...parts({ functionCall: { name: "ls" } }), usageMetadata: { promptTokenCount } }, stop)[0];
  expect(idOf(1)).toMatchObject({ block: { id: expect.stringMatching(/^call_[a-z0-9]+_0$/) as string } });
  expect(idOf(1)).toEqual(idOf(1));
  expect(idOf(1)).not.toEqual(idOf(2));
});

test("parts, fields and events of a kind we do not know are passed over", () => {
  const deltas = play(
    { brandNew: true },
    { candidates: [] },
    { candidates: [{ content: {}, groundingMetadata: {} }] },
    { candidates: [{ content: { parts: "what?" } }], usageMetadata: null },
    parts(null, { inlineData: { mimeType: "image/png", data: "AA" } }, { executableCode: {} }, { text: "" }),
    text("Hi"),
    stop,
  );
  expect(deltas.filter((delta) => delta.type !== "usage")).toEqual([
    { type: "open", index: 0, block: { type: "text" } },
    { type: "grow", index: 0, text: "Hi" },
    { type: "close", index: 0 },
    { type: "done", stopReason: "stop" },
  ]);
});

test("counts that come after the reason still count, and the end mark of other dialects is no event", () => {
  const stream = `data: ${JSON.stringify({ candidates: [{ ...text("a").candidates[0], finishReason: "STOP" }] })}\n\ndata: ${JSON.stringify(
    {
      usageMetadata: { promptTokenCount: 8, candidatesTokenCount: 2, toolUsePromptTokenCount: 1 },
    },
  )}\n\ndata: [DONE]\n\n`;
  expect(playText(stream).slice(2)).toEqual([
    { type: "usage", input: 9, cacheRead: 0, output: 2 },
    { type: "close", index: 0 },
    { type: "done", stopReason: "stop" },
  ]);
});

test("the most tokens cut the answer, also one with a call", () => {
  expect(play(text("a"), ending("MAX_TOKENS")).at(-1)).toEqual({ type: "done", stopReason: "length" });
  expect(play(parts({ functionCall: { name: "ls" } }), ending("MAX_TOKENS")).at(-1)).toEqual({
    type: "done",
    stopReason: "length",
  });
});

test("an answer of a kind that is not carried is still an answer, and so is one that was cut before its first word", () => {
  const picture = parts({ inlineData: { mimeType: "image/png", data: "AAAA" } });
  expect(play(picture, stop)).toEqual([{ type: "done", stopReason: "stop" }]);
  expect(play(ending("MAX_TOKENS"))).toEqual([{ type: "done", stopReason: "length" }]);
});

const failure = (code: number, status: string, message: string, more: object = {}) => ({
  error: { code, status, message, ...more },
});

test.each<[story: string, events: unknown[], kind: ProviderErrorKind, message: RegExp]>([
  ["safety", [ending("SAFETY", { finishMessage: "Blocked." })], "content_filter", /\(SAFETY\): Blocked\./],
  ["recitation", [ending("RECITATION")], "content_filter", /\(RECITATION\): the answer repeats/],
  ["image safety", [ending("IMAGE_SAFETY")], "content_filter", /\(IMAGE_SAFETY\)/],
  ["language", [ending("LANGUAGE")], "content_filter", /\(LANGUAGE\)/],
  [
    "the rating that was the reason",
    [
      ending("SAFETY", {
        safetyRatings: [
          { category: "HARM_CATEGORY_HARASSMENT", probability: "LOW" },
          { category: "HARM_CATEGORY_DANGEROUS_CONTENT", probability: "HIGH", blocked: true },
        ],
      }),
    ],
    "content_filter",
    /for safety; HARM_CATEGORY_DANGEROUS_CONTENT HIGH$/,
  ],
  ["a broken call", [ending("MALFORMED_FUNCTION_CALL")], "malformed", /\(MALFORMED_FUNCTION_CALL\)/],
  ["an unknown tool", [ending("UNEXPECTED_TOOL_CALL")], "malformed", /\(UNEXPECTED_TOOL_CALL\)/],
  ["too many tools", [ending("TOO_MANY_TOOL_CALLS")], "malformed", /\(TOO_MANY_TOOL_CALLS\)/],
  ["no reason", [ending("OTHER")], "server", /\(OTHER\): no reason was given/],
  ["a reason of tomorrow", [ending("BRAND_NEW")], "server", /\(BRAND_NEW\)/],
  [
    "a blocked prompt",
    [{ promptFeedback: { blockReason: "SAFETY" } }],
    "content_filter",
    /blocked the prompt \(SAFETY\)$/,
  ],
  [
    "a blocked prompt with words",
    [{ promptFeedback: { blockReason: "OTHER", blockReasonMessage: "Not this." } }],
    "content_filter",
    /\(OTHER\): Not this\.$/,
  ],
  ["overload", [text("a"), failure(503, "UNAVAILABLE", "Overloaded")], "overloaded", /^503 UNAVAILABLE: Overloaded$/],
  ["quota", [failure(429, "RESOURCE_EXHAUSTED", "Slow down")], "rate_limit", /^429 RESOURCE_EXHAUSTED: Slow down$/],
  ["as an array", [[failure(500, "INTERNAL", "Oops")]], "server", /^500 INTERNAL: Oops$/],
  ["as a text", [{ error: "boom" }], "server", /^error: boom$/],
  [
    "too long",
    [failure(400, "INVALID_ARGUMENT", "The input token count (9) exceeds the maximum number of tokens allowed (8).")],
    "overflow",
    /input token count/,
  ],
  ["key", [failure(400, "INVALID_ARGUMENT", "API key not valid.")], "auth", /API key not valid/],
  ["cut off", [text("Half an ans")], "malformed", /ended before a finishReason/],
  ["nothing at all", [], "malformed", /ended before a finishReason/],
  ["an end without an answer", [stop], "malformed", /without a word \(finishReason STOP, no content\)$/],
  ["an end with an empty answer", [text(""), stop], "malformed", /without a word/],
  ["an end of no known name", [text("a"), ending("constructor")], "server", /\(constructor\): no reason was given$/],
])("failure: %s", (_story, events, kind, message) => {
  const errors = play(...events).filter((delta) => delta.type === "error");
  expect(errors).toHaveLength(1);
  expect(errors[0]?.error).toMatchObject({ kind, message: expect.stringMatching(message) as string });
});

test("an error that says when to come back", () => {
  const details = [{ "@type": "type.googleapis.com/google.rpc.RetryInfo", retryDelay: "34.5s" }];
  expect(play(failure(429, "RESOURCE_EXHAUSTED", "Slow", { details })).at(-1)).toMatchObject({
    error: { kind: "rate_limit", retryAfterMs: 34_500, status: 429 },
  });
});

test("an event that is not JSON ends the stream and is quoted; nothing is added after", () => {
  const deltas = playText(`data: <oops>\n\ndata: ${JSON.stringify(text("late"))}\n\n`);
  expect(deltas).toMatchObject([
    { type: "error", error: { kind: "malformed", message: "Google sent an event that is not JSON: <oops>" } },
  ]);
});

const anyText = fc.oneof(
  fc.string({ unit: "grapheme" }),
  fc.constantFrom("text", "model", "thought", '"', "\\", "\n", '"}],"role":"model"', "parts", "0"),
);
const anyPart = fc.oneof(
  fc.record({ text: anyText }),
  fc.record({ text: anyText, thought: fc.constant(true) }),
  fc.record({ text: anyText, thoughtSignature: fc.constantFrom("MQ==", "Mg==") }),
  fc.record({ functionCall: fc.record({ name: fc.constant("ls"), args: fc.record({ path: anyText }) }) }),
);

test("the short way through the tokens gives what the parts say", () => {
  fc.assert(
    fc.property(fc.array(fc.array(anyPart, { minLength: 1, maxLength: 2 }), { maxLength: 12 }), (events) => {
      const deltas = play(...events.map((all) => parts(...all)), stop);
      const said = events.flat();
      const wordsOf = (thought: boolean): string =>
        said.flatMap((part) => ("text" in part && "thought" in part === thought ? [part.text] : [])).join("");
      const message = messageOf(deltas);
      expect(joined(message.content, "text")).toBe(wordsOf(false));
      expect(joined(message.content, "thinking")).toBe(wordsOf(true));
      expect(message.content.flatMap((block) => (block.type === "toolCall" ? [block.arguments] : []))).toEqual(
        said.flatMap((part) => ("functionCall" in part ? [part.functionCall.args] : [])),
      );
    }),
  );
});

test("cut after any event, there is one error and what came before is kept", () => {
  const events = [
    text("Hm", { thought: true }),
    text("Let me "),
    text("see."),
    parts({ functionCall: { id: "f1", name: "read", args: { path: "a" } }, thoughtSignature: "cw==" }),
    parts({ functionCall: { id: "f2", name: "ls" } }),
    stop,
  ];
  const whole = messageOf(play(...events));
  for (let kept = 0; kept < events.length; kept++) {
    const deltas = play(...events.slice(0, kept));
    expect(deltas.filter((delta) => delta.type === "error" || delta.type === "done")).toMatchObject([
      { type: "error", error: { kind: "malformed" } },
    ]);
    const { content } = messageOf(deltas);
    expect(JSON.stringify(whole.content)).toContain(JSON.stringify(content.slice(0, -1)).slice(0, -1));
    expect(joined(whole.content, "text").startsWith(joined(content, "text"))).toBe(true);
  }
});

type Content = ReturnType<typeof messageOf>["content"];

function messageOf(deltas: readonly Delta[]) {
  const assembly = createAssembly(testModel(), 0);
  for (const delta of deltas) assembly.apply(delta);
  return assembly.message;
}

function joined(content: Content, kind: "text" | "thinking"): string {
  return content
    .flatMap((block) =>
      kind === "text" ? (block.type === "text" ? [block.text] : []) : block.type === "thinking" ? [block.thinking] : [],
    )
    .join("");
}

test("an event of very many calls gives each an id of its own, and is looked at once for all of them", () => {
  const MANY = 40_000;
  const calls = Array.from({ length: MANY }, () => ({ functionCall: { name: "ls", args: {} } }));
  const deltas = play(parts(...calls), stop);
  const ids = deltas.map((delta) => (delta.type === "open" && delta.block.type === "toolCall" ? delta.block.id : ""));
  expect(new Set(ids.filter((id) => id !== "")).size).toBe(MANY);
});
