import fc from "fast-check";
import { expect, test } from "vitest";
import type { ProviderErrorKind } from "../../errors.ts";
import { createSseDecoder } from "../../http/sse.ts";
import type { Delta } from "../../provider.ts";
import { finish, initial, step } from "./stream.ts";

/** Plays events through the decoder too, in the form the provider sends them. */
function play(...events: unknown[]): Delta[] {
  const stream = events.map(
    (event) => `event: ${(event as { type: string }).type}\ndata: ${JSON.stringify(event)}\n\n`,
  );
  return playText(stream.join(""));
}

function playText(stream: string): Delta[] {
  return playBytes(Buffer.from(stream));
}

function playBytes(bytes: Buffer): Delta[] {
  const state = initial();
  const out: Delta[] = [];
  const decoder = createSseDecoder();
  for (const data of [...decoder.push(bytes), ...decoder.end()]) step(state, data, out);
  finish(state, out);
  return out;
}

const start = {
  type: "message_start",
  message: {
    id: "msg_1",
    usage: { input_tokens: 10, output_tokens: 1, cache_creation_input_tokens: 3, cache_read_input_tokens: 2 },
  },
};
const opened = (index: number, content_block: unknown) => ({ type: "content_block_start", index, content_block });
const delta = (index: number, piece: unknown) => ({ type: "content_block_delta", index, delta: piece });
const stopped = (index: number) => ({ type: "content_block_stop", index });
const ending = (stop_reason: string) => ({
  type: "message_delta",
  delta: { stop_reason },
  usage: { output_tokens: 7 },
});
const stop = { type: "message_stop" };

test("text", () => {
  const deltas = play(
    start,
    { type: "ping" },
    opened(0, { type: "text", text: "" }),
    delta(0, { type: "text_delta", text: "Hel" }),
    delta(0, { type: "text_delta", text: "lo ✓" }),
    delta(0, { type: "citations_delta", citation: {} }),
    stopped(0),
    ending("end_turn"),
    stop,
  );
  expect(deltas).toEqual([
    { type: "response", id: "msg_1" },
    { type: "usage", input: 10, output: 1, cacheRead: 2, cacheWrite: 3 },
    { type: "open", index: 0, block: { type: "text" } },
    { type: "grow", index: 0, text: "Hel" },
    { type: "grow", index: 0, text: "lo ✓" },
    { type: "close", index: 0 },
    { type: "usage", output: 7 },
    { type: "done", stopReason: "stop" },
  ]);
});

test("thinking with its signature, and thinking that is hidden", () => {
  const deltas = play(
    opened(0, { type: "thinking", thinking: "", signature: "" }),
    delta(0, { type: "thinking_delta", thinking: "Hm" }),
    delta(0, { type: "signature_delta", signature: "c2ln" }),
    delta(0, { type: "signature_delta", signature: "bmF0" }),
    stopped(0),
    opened(1, { type: "redacted_thinking", data: "b3BhcXVl" }),
    stopped(1),
    ending("end_turn"),
    stop,
  );
  expect(deltas.slice(0, 6)).toEqual([
    { type: "open", index: 0, block: { type: "thinking" } },
    { type: "grow", index: 0, text: "Hm" },
    { type: "close", index: 0, signature: "c2lnbmF0" },
    { type: "open", index: 1, block: { type: "thinking" } },
    { type: "grow", index: 1, text: "[Reasoning redacted]" },
    { type: "close", index: 1, signature: "b3BhcXVl", redacted: true },
  ]);
});

test("several tool calls: arguments in pieces, whole at the opening, or none", () => {
  const deltas = play(
    opened(0, { type: "tool_use", id: "t1", name: "read", input: {} }),
    delta(0, { type: "input_json_delta", partial_json: "" }),
    delta(0, { type: "input_json_delta", partial_json: '{"path":' }),
    delta(0, { type: "input_json_delta", partial_json: '"a"}' }),
    stopped(0),
    opened(1, { type: "tool_use", id: "t2", name: "ls", input: { path: "b" } }),
    stopped(1),
    opened(2, { type: "tool_use", id: "t3", name: "now", input: {} }),
    stopped(2),
    ending("tool_use"),
    stop,
  );
  expect(deltas).toEqual([
    { type: "open", index: 0, block: { type: "toolCall", id: "t1", name: "read" } },
    { type: "grow", index: 0, text: '{"path":' },
    { type: "grow", index: 0, text: '"a"}' },
    { type: "close", index: 0 },
    { type: "open", index: 1, block: { type: "toolCall", id: "t2", name: "ls" } },
    { type: "grow", index: 1, text: '{"path":"b"}' },
    { type: "close", index: 1 },
    { type: "open", index: 2, block: { type: "toolCall", id: "t3", name: "now" } },
    { type: "close", index: 2 },
    { type: "usage", output: 7 },
    { type: "done", stopReason: "toolUse" },
  ]);
});

test("blocks and events of a kind we do not know are passed over, and leave no gap", () => {
  const deltas = play(
    opened(0, { type: "server_tool_use", id: "s", name: "web_search", input: {} }),
    delta(0, { type: "input_json_delta", partial_json: "{}" }),
    stopped(0),
    { type: "brand_new_event", index: 0 },
    delta(0, { type: "text_delta", text: "of a block that is closed" }),
    delta(9, { type: "input_json_delta", partial_json: "{}" }),
    delta(9, { type: "citations_delta", citation: {} }),
    opened(1, { type: "text", text: "Hi" }),
    stopped(1),
    ending("end_turn"),
    stop,
  );
  expect(deltas.slice(0, 3)).toEqual([
    { type: "open", index: 0, block: { type: "text" } },
    { type: "grow", index: 0, text: "Hi" },
    { type: "close", index: 0 },
  ]);
});

test.each([
  ["end_turn", "stop"],
  ["stop_sequence", "stop"],
  ["pause_turn", "stop"],
  ["max_tokens", "length"],
  ["tool_use", "toolUse"],
  ["some_new_reason", "stop"],
])("stop reason %s is %s", (reason, stopReason) => {
  expect(play(ending(reason), stop).at(-1)).toEqual({ type: "done", stopReason });
});

test("without a stop reason, a tool call decides", () => {
  expect(play(opened(0, { type: "tool_use", id: "t", name: "x", input: {} }), stop).at(-1)).toEqual({
    type: "done",
    stopReason: "toolUse",
  });
});

const failure = (type: string, message: string) => ({ type: "error", error: { type, message } });

test.each<[story: string, events: unknown[], kind: ProviderErrorKind, message: string]>([
  ["overload", [start, failure("overloaded_error", "Overloaded")], "overloaded", "overloaded_error: Overloaded"],
  ["rate limit", [failure("rate_limit_error", "Slow")], "rate_limit", "rate_limit_error: Slow"],
  ["key", [failure("authentication_error", "No")], "auth", "authentication_error: No"],
  ["inside the provider", [failure("api_error", "Oops")], "server", "api_error: Oops"],
  ["request", [failure("invalid_request_error", "Bad")], "bad_request", "invalid_request_error: Bad"],
  [
    "too long",
    [failure("invalid_request_error", "prompt is too long: 3 > 2")],
    "overflow",
    "invalid_request_error: prompt is too long: 3 > 2",
  ],
  ["out of time", [failure("timeout_error", "Late")], "stalled", "timeout_error: Late"],
  ["money", [failure("billing_error", "Pay")], "bad_request", "billing_error: Pay"],
  ["an error that is only a text", [{ type: "error", error: "Bad luck" }], "server", "error: Bad luck"],
  ["an error that says nothing", [{ type: "error" }], "server", "error: no message"],
  ["an error without a type of event", [{ error: { message: "bare" } }], "server", "error: bare"],
  ["refusal", [ending("refusal"), stop], "content_filter", "The model refused to answer (stop_reason refusal)"],
  [
    "refusal that is cut off",
    [ending("refusal")],
    "content_filter",
    "The model refused to answer (stop_reason refusal)",
  ],
  [
    "refusal with its reason",
    [
      {
        type: "message_delta",
        delta: {
          stop_reason: "refusal",
          stop_details: { type: "refusal", category: "cyber", explanation: "Harmful." },
        },
      },
      stop,
    ],
    "content_filter",
    "The model refused to answer (refusal, cyber): Harmful.",
  ],
  [
    "out of context",
    [ending("model_context_window_exceeded"), stop],
    "overflow",
    "The answer ran out of context (model_context_window_exceeded)",
  ],
  ["cut off", [start, ending("end_turn")], "malformed", "Anthropic stream ended before message_stop"],
  ["nothing at all", [], "malformed", "Anthropic stream ended before message_stop"],
])("failure: %s", (_story, events, kind, message) => {
  const deltas = play(...events, opened(0, { type: "text", text: "after the end" }));
  const errors = deltas.filter((entry) => entry.type === "error");
  expect(errors).toHaveLength(1);
  expect(errors[0]).toMatchObject({ error: { kind, message } });
});

test("after the end nothing is added any more", () => {
  const deltas = play(ending("end_turn"), stop, opened(0, { type: "text", text: "late" }), stop);
  expect(deltas.at(-1)).toEqual({ type: "done", stopReason: "stop" });
});

test("an event that is not JSON ends the stream and is quoted", () => {
  expect(playText("data: <oops>\n\n").at(-1)).toMatchObject({
    error: { kind: "malformed", message: "Anthropic sent an event that is not JSON: <oops>" },
  });
});

test("the name the provider answered with, and all counts", () => {
  const usage = {
    input_tokens: 10,
    output_tokens: 1,
    cache_creation_input_tokens: 30,
    cache_read_input_tokens: 2,
    cache_creation: { ephemeral_5m_input_tokens: 10, ephemeral_1h_input_tokens: 20 },
    output_tokens_details: null,
  };
  const last = { output_tokens: 90, output_tokens_details: { thinking_tokens: 60 }, server_tool_use: null };
  const deltas = play(
    { type: "message_start", message: { id: "msg_1", model: "claude-test-20260101", usage } },
    { type: "message_delta", delta: { stop_reason: "end_turn" }, usage: last },
    stop,
  );
  expect(deltas).toEqual([
    { type: "response", id: "msg_1", model: "claude-test-20260101" },
    { type: "usage", input: 10, output: 1, cacheRead: 2, cacheWrite: 30, cacheWrite1h: 20 },
    { type: "usage", output: 90, reasoning: 60 },
    { type: "done", stopReason: "stop" },
  ]);
});

/** What servers that speak this dialect only nearly do. */
const hi = [opened(0, { type: "text", text: "" }), delta(0, { type: "text_delta", text: "Hi" }), stopped(0)];
const hiDeltas = [
  { type: "open", index: 0, block: { type: "text" } },
  { type: "grow", index: 0, text: "Hi" },
  { type: "close", index: 0 },
];
const done = { type: "done", stopReason: "stop" };

test.each<[story: string, events: unknown[], deltas: unknown[]]>([
  ["no beginning", [...hi, ending("end_turn"), stop], [...hiDeltas, { type: "usage", output: 7 }, done]],
  ["no usage, no stop reason", [{ type: "message_start", message: {} }, ...hi, stop], [...hiDeltas, done]],
  [
    "nulls everywhere",
    [
      {
        type: "message_start",
        message: { id: null, model: null, usage: { input_tokens: null, cache_creation: null } },
      },
      { type: "content_block_start", index: 0, content_block: null },
      { type: "content_block_delta", index: 5, delta: null },
      ...hi.slice(0, 2),
      delta(0, { type: "text_delta", text: null }),
      stopped(0),
      { type: "message_delta", delta: null, usage: null },
      { type: "message_delta", delta: { stop_reason: null }, usage: { output_tokens: null } },
      stop,
    ],
    [...hiDeltas, done],
  ],
  ["a beginning that is null", [{ type: "message_start", message: null }, ...hi, stop], [...hiDeltas, done]],
  [
    "counts that end with zeros",
    [start, { type: "message_delta", delta: {}, usage: { input_tokens: 0, output_tokens: 9 } }, stop],
    [
      { type: "response", id: "msg_1" },
      { type: "usage", input: 10, output: 1, cacheRead: 2, cacheWrite: 3 },
      { type: "usage", output: 9 },
      done,
    ],
  ],
  ["text that nobody announced", [delta(0, { type: "text_delta", text: "Hi" }), stopped(0), stop], [...hiDeltas, done]],
  [
    "a thought that nobody announced and nobody closed",
    [delta(0, { type: "thinking_delta", thinking: "Hm" }), delta(0, { type: "signature_delta", signature: "s" }), stop],
    [
      { type: "open", index: 0, block: { type: "thinking" } },
      { type: "grow", index: 0, text: "Hm" },
      { type: "close", index: 0, signature: "s" },
      done,
    ],
  ],
  [
    "blocks without numbers, opened without closing the one before",
    [
      { type: "content_block_start", content_block: { type: "text", text: "" } },
      { type: "content_block_delta", delta: { type: "text_delta", text: "Hi" } },
      { type: "content_block_start", content_block: { type: "text", text: "" } },
      { type: "content_block_delta", delta: { type: "text_delta", text: "there" } },
      { type: "content_block_delta", delta: { type: "text_delta", text: " you" } },
      stop,
    ],
    [
      ...hiDeltas,
      { type: "open", index: 1, block: { type: "text" } },
      { type: "grow", index: 1, text: "there" },
      { type: "grow", index: 1, text: " you" },
      { type: "close", index: 1 },
      done,
    ],
  ],
  [
    "arguments that come whole, as an object or as a text, and are not closed",
    [
      opened(0, { type: "tool_use", id: "t1", name: "ls", input: { path: "a" } }),
      opened(1, { type: "tool_use", id: "t2", name: "ls", input: '{"path":"b"}' }),
      ending("tool_use"),
      stop,
    ],
    [
      { type: "open", index: 0, block: { type: "toolCall", id: "t1", name: "ls" } },
      { type: "open", index: 1, block: { type: "toolCall", id: "t2", name: "ls" } },
      { type: "usage", output: 7 },
      { type: "grow", index: 0, text: '{"path":"a"}' },
      { type: "close", index: 0 },
      { type: "grow", index: 1, text: '{"path":"b"}' },
      { type: "close", index: 1 },
      { type: "done", stopReason: "toolUse" },
    ],
  ],
])("a server of its own mind: %s", (_story, events, deltas) => {
  expect(play(...events)).toEqual(deltas);
});

test("calls without an id, or with the same one, can be told apart", () => {
  const use = (index: number, id?: string) => opened(index, { type: "tool_use", id, name: "ls", input: {} });
  const deltas = play(
    { type: "message_start", message: { id: "msg_1" } },
    use(0),
    use(1, ""),
    use(2, "x"),
    use(3, "x"),
    stop,
  );
  const ids = deltas.flatMap((entry) =>
    entry.type === "open" && entry.block.type === "toolCall" ? [entry.block.id] : [],
  );
  expect(ids).toEqual(["call_msg_1_0", "call_msg_1_1", "x", "x_3"]);
});

test("events without a name, comments, blank data and pings", () => {
  const events = [...hi, stop].map((event) => `data: ${JSON.stringify(event)}\n\n`);
  const stream = [": hello\n\n", "data: \n\n", ...events, 'event: ping\ndata: {"type":"ping"}\n\n'].join("");
  expect(playText(stream)).toEqual([...hiDeltas, done]);
});

test("a tool call that was cut off by the limit of tokens ends as such", () => {
  const deltas = play(
    opened(0, { type: "tool_use", id: "t1", name: "write", input: {} }),
    delta(0, { type: "input_json_delta", partial_json: '{"path":"a' }),
    stopped(0),
    ending("max_tokens"),
    stop,
  );
  expect(deltas.at(-1)).toEqual({ type: "done", stopReason: "length" });
});

test("cut at any byte: what came so far, one error, nothing else", () => {
  const whole = Buffer.from(
    [
      start,
      opened(0, { type: "thinking", thinking: "", signature: "" }),
      delta(0, { type: "thinking_delta", thinking: "Hm ✓" }),
      delta(0, { type: "signature_delta", signature: "sig" }),
      stopped(0),
      ...[opened(1, { type: "text", text: "" }), delta(1, { type: "text_delta", text: "Hé" }), stopped(1)],
      opened(2, { type: "tool_use", id: "t", name: "ls", input: {} }),
      delta(2, { type: "input_json_delta", partial_json: '{"path":"a"}' }),
      stopped(2),
      ending("tool_use"),
      stop,
    ]
      .map((event) => `event: ${event.type}\ndata: ${JSON.stringify(event)}\n\n`)
      .join(""),
  );
  const complete = playText(whole.toString());
  expect(complete.at(-1)).toEqual({ type: "done", stopReason: "toolUse" });
  // The blank line after the last event is no news.
  for (let length = 0; length < whole.length - 2; length++) {
    const deltas = playBytes(whole.subarray(0, length));
    expect(deltas.at(-1)).toMatchObject({ type: "error", error: { kind: "malformed" } });
    expect(complete.slice(0, deltas.length - 1)).toEqual(deltas.slice(0, -1));
  }
});

test("the short way through the tokens of a block gives what parsing every event gives", () => {
  const words = fc.oneof(
    fc.string({ unit: "grapheme" }),
    fc.constantFrom("text_delta", "type", '"', "\\", "\n", ',"text":"x"}}', "0", "delta"),
  );
  const wrappings = fc.constantFrom(
    (index: number, text: string) => JSON.stringify(delta(index, { type: "text_delta", text })),
    (index: number, text: string) =>
      JSON.stringify({ delta: { text, type: "text_delta" }, index, type: "content_block_delta" }),
    (index: number, text: string) => JSON.stringify(delta(index, { type: "text_delta", text }), null, 1),
  );
  const token = fc.record({ index: fc.nat(1), text: words, wrap: wrappings });
  fc.assert(
    fc.property(fc.array(token, { maxLength: 30 }), (tokens) => {
      const state = initial();
      const out: Delta[] = [];
      for (const index of [0, 1]) step(state, JSON.stringify(opened(index, { type: "text", text: "" })), out);
      for (const { index, text, wrap } of tokens) step(state, wrap(index, text), out);
      const grown = tokens.filter(({ text }) => text !== "").map(({ index, text }) => ({ type: "grow", index, text }));
      expect(out.slice(2)).toEqual(grown);
    }),
    { numRuns: 500 },
  );
});
