import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { createAssembly } from "../../assemble.ts";
import type { ProviderErrorKind } from "../../errors.ts";
import { createSseDecoder } from "../../http/sse.ts";
import type { Delta } from "../../provider.ts";
import { testModel } from "../../testing.ts";
import { finish, initial, step } from "./stream.ts";

const DONE = "[DONE]";

/** Plays events through the decoder too, in the form servers send them. */
function play(...events: unknown[]): Delta[] {
  return playText(events.map((event) => `data: ${event === DONE ? DONE : JSON.stringify(event)}\n\n`).join(""));
}

function playText(stream: string): Delta[] {
  const state = initial();
  const out: Delta[] = [];
  const decoder = createSseDecoder();
  for (const data of [...decoder.push(Buffer.from(stream)), ...decoder.end()]) step(state, data, out);
  finish(state, out);
  return out;
}

/** The message that comes of it. */
function assembled(deltas: readonly Delta[]) {
  const assembly = createAssembly(testModel(), 0);
  for (const delta of deltas) {
    if (delta.type === "done") assembly.finish(delta.stopReason);
    else if (delta.type === "error") assembly.fail(delta.error);
    else assembly.apply(delta);
  }
  return assembly.message;
}
const contentOf = (...events: unknown[]) => assembled(play(...events)).content;

const chunk = (delta: unknown, more: Record<string, unknown> = {}, choice: Record<string, unknown> = {}) => ({
  id: "chatcmpl-1",
  object: "chat.completion.chunk",
  created: 1_700_000_000,
  model: "gpt-test-2026",
  choices: [{ index: 0, delta, finish_reason: null, ...choice }],
  ...more,
});
const end = (finish_reason: string, more: Record<string, unknown> = {}) => chunk({}, more, { finish_reason });
const counted = (usage: unknown) => ({ id: "chatcmpl-1", object: "chat.completion.chunk", choices: [], usage });
const text = (words: string) => chunk({ content: words });
const piece = (...tool_calls: unknown[]) => chunk({ tool_calls });
const fn = (index: number | undefined, id: string | undefined, name: string | undefined, args: unknown) => ({
  index,
  id,
  type: "function",
  function: { name, arguments: args },
});
const call = (id: string, name: string, args: Record<string, unknown>) => ({
  type: "toolCall",
  id,
  name,
  arguments: args,
});

test("text, as OpenAI sends it", () => {
  const deltas = play(
    chunk({ role: "assistant", content: "", refusal: null }, { usage: null }),
    chunk({ content: "Hel" }, { usage: null }),
    chunk({ content: "lo ✓" }, { usage: null }),
    end("stop", { usage: null }),
    counted({
      prompt_tokens: 12,
      completion_tokens: 5,
      total_tokens: 17,
      prompt_tokens_details: { cached_tokens: 8, audio_tokens: 0 },
      completion_tokens_details: { reasoning_tokens: 2 },
    }),
    DONE,
  );
  expect(deltas).toEqual([
    { type: "response", id: "chatcmpl-1", model: "gpt-test-2026" },
    { type: "open", index: 0, block: { type: "text" } },
    { type: "grow", index: 0, text: "Hel" },
    { type: "grow", index: 0, text: "lo ✓" },
    { type: "usage", input: 4, output: 5, cacheRead: 8, reasoning: 2 },
    { type: "close", index: 0 },
    { type: "done", stopReason: "stop" },
  ]);
});

test("Azure begins with a chunk that says nothing", () => {
  const filter = { id: "", model: "", choices: [], prompt_filter_results: [{ prompt_index: 0 }] };
  expect(play(filter, text("Hi"), end("stop"), DONE)[0]).toEqual({
    type: "response",
    id: "chatcmpl-1",
    model: "gpt-test-2026",
  });
});

test("a finish reason and the end of the stream are enough", () => {
  expect(play(text("Hi"), end("stop")).at(-1)).toEqual({ type: "done", stopReason: "stop" });
});

test("[DONE] is enough too, without any finish reason", () => {
  expect(play(text("Hi"), DONE).at(-1)).toEqual({ type: "done", stopReason: "stop" });
});

test("an answer with nothing in it is one", () => {
  expect(play(end("stop"), DONE).slice(1)).toEqual([{ type: "done", stopReason: "stop" }]);
});

describe("thinking", () => {
  test.each(["reasoning_content", "reasoning", "reasoning_text"])("in the field %s, which is kept", (field) => {
    expect(
      play(chunk({ [field]: "Hm" }), chunk({ [field]: "?" }), chunk({ [field]: "", content: "So" }), end("stop")).slice(
        1,
      ),
    ).toEqual([
      { type: "open", index: 0, block: { type: "thinking" } },
      { type: "grow", index: 0, text: "Hm" },
      { type: "grow", index: 0, text: "?" },
      { type: "close", index: 0, signature: field },
      { type: "open", index: 1, block: { type: "text" } },
      { type: "grow", index: 1, text: "So" },
      { type: "close", index: 1 },
      { type: "done", stopReason: "stop" },
    ]);
  });

  test("said twice in one chunk, told once", () => {
    expect(contentOf(chunk({ reasoning: "Hm", reasoning_content: "Hm" }), end("stop"))).toEqual([
      { type: "thinking", thinking: "Hm", thinkingSignature: "reasoning_content" },
    ]);
  });

  test("in parts of a list, as Mistral sends it", () => {
    const thought = (words: string) => ({ type: "thinking", thinking: [{ type: "text", text: words }] });
    expect(
      contentOf(
        chunk({ content: [thought("Hm")] }),
        chunk({ content: [thought("?"), { type: "reference", reference_ids: [1] }] }),
        chunk({ content: [{ type: "text", text: "So" }] }),
        text(" it is"),
        end("stop"),
      ),
    ).toEqual([
      { type: "thinking", thinking: "Hm?", thinkingSignature: "thinking" },
      { type: "text", text: "So it is" },
    ]);
  });

  test("as details, as OpenRouter sends it: joined, with signatures, and encrypted ones that come late", () => {
    const detail = (fields: Record<string, unknown>) => ({ format: "anthropic-claude-v1", index: 0, ...fields });
    const encrypted = {
      type: "reasoning.encrypted",
      data: "b3Bh",
      id: "toolu_1",
      format: "google-gemini-v1",
      index: 1,
    };
    const content = contentOf(
      chunk({ content: "", reasoning: "H", reasoning_details: [detail({ type: "reasoning.text", text: "H" })] }),
      chunk({ content: "", reasoning: "m", reasoning_details: [detail({ type: "reasoning.text", text: "m" })] }),
      chunk({
        content: "",
        reasoning: null,
        reasoning_details: [detail({ type: "reasoning.text", signature: "sig" })],
      }),
      text("So"),
      chunk({ reasoning_details: [encrypted], tool_calls: [fn(0, "toolu_1", "ls", "{}")] }),
      end("tool_calls"),
      DONE,
    );
    const whole = [{ format: "anthropic-claude-v1", index: 0, type: "reasoning.text", text: "Hm", signature: "sig" }];
    expect(content).toEqual([
      { type: "thinking", thinking: "Hm", thinkingSignature: JSON.stringify(whole) },
      { type: "text", text: "So" },
      call("toolu_1", "ls", {}),
      { type: "thinking", thinking: "", thinkingSignature: JSON.stringify([encrypted]), redacted: true },
    ]);
  });

  test("as details alone, with their words", () => {
    const summary = (words: string) => chunk({ reasoning_details: [{ type: "reasoning.summary", summary: words }] });
    expect(contentOf(summary("In "), summary("short"), end("stop"))).toEqual([
      {
        type: "thinking",
        thinking: "In short",
        thinkingSignature: '[{"type":"reasoning.summary","summary":"In short"}]',
      },
    ]);
  });

  test("in tags inside the text it stays text", () => {
    expect(contentOf(text("<think>Hm</think>So"), end("stop"))).toEqual([
      { type: "text", text: "<think>Hm</think>So" },
    ]);
  });
});

describe("tool calls", () => {
  const both = [call("a", "read", { path: "x" }), call("b", "ls", {})];

  test("as OpenAI streams them, after some text", () => {
    expect(
      play(
        text("Reading."),
        piece(fn(0, "a", "read", "")),
        piece(fn(0, undefined, undefined, '{"path":')),
        piece(fn(0, undefined, undefined, '"x"}')),
        piece(fn(1, "b", "ls", "{}")),
        end("tool_calls"),
        DONE,
      ).slice(3),
    ).toEqual([
      { type: "close", index: 0 },
      { type: "open", index: 1, block: { type: "toolCall", id: "a", name: "read" } },
      { type: "grow", index: 1, text: '{"path":' },
      { type: "grow", index: 1, text: '"x"}' },
      { type: "open", index: 2, block: { type: "toolCall", id: "b", name: "ls" } },
      { type: "grow", index: 2, text: "{}" },
      { type: "close", index: 1 },
      { type: "close", index: 2 },
      { type: "done", stopReason: "toolUse" },
    ]);
  });

  test.each<[story: string, events: unknown[]]>([
    ["whole calls in one chunk", [piece(fn(0, "a", "read", '{"path":"x"}'), fn(1, "b", "ls", "{}"))]],
    ["without an index", [piece(fn(undefined, "a", "read", '{"path":"x"}'), fn(undefined, "b", "ls", "{}"))]],
    [
      "without an index, in pieces",
      [
        piece(fn(undefined, "a", "read", '{"path":')),
        piece(fn(undefined, undefined, undefined, '"x"}')),
        piece(fn(undefined, "b", "ls", "{}")),
      ],
    ],
    [
      "one index for all of them",
      [
        piece(fn(0, "a", "read", '{"path":')),
        piece(fn(0, "a", undefined, '"x"}')),
        piece(fn(0, "b", "ls", "")),
        piece(fn(0, undefined, undefined, "{}")),
      ],
    ],
    [
      "the name and the id repeated",
      [piece(fn(0, "a", "read", '{"path":')), piece(fn(0, "a", "read", '"x"}')), piece(fn(1, "b", "ls", "{}"))],
    ],
    [
      "another id in every piece",
      [piece(fn(0, "a", "read", '{"path":')), piece(fn(0, "a2", "", '"x"}')), piece(fn(1, "b", "ls", null))],
    ],
    [
      "the id only later",
      [
        piece(fn(0, "", "read", '{"path":')),
        piece(fn(0, "a", undefined, '"x"}')),
        piece(fn(1, undefined, "ls", "{}")),
        piece(fn(1, "b", undefined, "")),
      ],
    ],
    [
      "the name only later",
      [piece(fn(0, "a", undefined, '{"path":"x"}')), piece(fn(0, undefined, "read", "")), piece(fn(1, "b", "ls", ""))],
    ],
    ["arguments as an object", [piece(fn(0, "a", "read", { path: "x" }), fn(1, "b", "ls", {}))]],
    [
      "pieces in turns",
      [
        piece(fn(0, "a", "read", "{"), fn(1, "b", "ls", "{")),
        piece(fn(0, undefined, undefined, '"path":"x"')),
        piece(fn(1, undefined, undefined, "}")),
        piece(fn(0, undefined, undefined, "}")),
      ],
    ],
  ])("%s", (_story, events) => {
    expect(contentOf(...events, end("tool_calls"), DONE)).toEqual(both);
  });

  test("ids are made where there are none, and told apart where they are the same", () => {
    const ids = (...events: unknown[]) =>
      contentOf(...events, end("tool_calls")).map((block) => "id" in block && block.id);
    expect(ids(piece(fn(undefined, undefined, "ls", "{}"), fn(undefined, undefined, "ls", "{}")))).toEqual([
      "call_chatcmpl-1_0",
      "call_chatcmpl-1_1",
    ]);
    expect(ids(piece(fn(0, "x", "ls", "{}"), fn(1, "x", "ls", "{}")))).toEqual(["x", "x_1"]);
  });

  test("the old way with a function_call", () => {
    expect(
      contentOf(
        chunk({ function_call: { name: "read", arguments: '{"path":' } }),
        chunk({ function_call: { arguments: '"x"}' } }),
        end("function_call"),
      ),
    ).toEqual([call("call_chatcmpl-1_0", "read", { path: "x" })]);
  });

  test("a call without a name is kept for whoever says what is wrong", () => {
    expect(contentOf(piece(fn(0, "a", undefined, "{}")), end("tool_calls"))).toEqual([call("a", "", {})]);
  });

  test("text between and after calls is a block of its own", () => {
    expect(
      contentOf(text("One"), piece(fn(0, "a", "read", '{"path":"x"}')), text("Two"), end("tool_calls")),
    ).toMatchObject([{ text: "One" }, { id: "a" }, { text: "Two" }]);
  });
});

test("a server that does not stream sends the message whole; one that does may repeat it", () => {
  const message = { role: "assistant", content: "Hi", tool_calls: [fn(undefined, "b", "ls", "{}")] };
  const whole = { id: "x", choices: [{ index: 0, message, finish_reason: "tool_calls" }] };
  const expected = [{ type: "text", text: "Hi" }, call("b", "ls", {})];
  expect(contentOf(whole, DONE)).toEqual(expected);
  expect(contentOf(text("Hi"), piece(fn(0, "b", "ls", "{}")), whole, DONE)).toEqual(expected);
});

test.each([
  ["stop", false, "stop"],
  ["stop", true, "toolUse"],
  ["eos", false, "stop"],
  ["tool_calls", true, "toolUse"],
  ["tool_calls", false, "stop"],
  ["function_call", true, "toolUse"],
  ["length", false, "length"],
  ["length", true, "length"],
  ["model_length", false, "length"],
  ["some_new_reason", true, "toolUse"],
])("finish reason %s, with calls: %s", (reason, hasCalls, stopReason) => {
  const events = hasCalls ? [piece(fn(0, "a", "ls", "{}"))] : [text("Hi")];
  expect(play(...events, end(reason), DONE).at(-1)).toEqual({ type: "done", stopReason });
});

describe("usage", () => {
  const usageOf = (...events: unknown[]) => play(...events, end("stop"), DONE).filter(({ type }) => type === "usage");

  test.each<[story: string, event: unknown, usage: Record<string, number>]>([
    ["plain", counted({ prompt_tokens: 3, completion_tokens: 4 }), { input: 3, output: 4 }],
    [
      "DeepSeek's cache",
      counted({ prompt_tokens: 10, completion_tokens: 1, prompt_cache_hit_tokens: 6, prompt_cache_miss_tokens: 4 }),
      { input: 4, output: 1, cacheRead: 6 },
    ],
    [
      "written to the cache",
      counted({
        prompt_tokens: 10,
        completion_tokens: 1,
        prompt_tokens_details: { cached_tokens: 3, cache_write_tokens: 5 },
      }),
      { input: 2, output: 1, cacheRead: 3, cacheWrite: 5 },
    ],
    [
      "Moonshot puts it into the choice",
      chunk({}, {}, { usage: { prompt_tokens: 5, completion_tokens: 1, cached_tokens: 2 } }),
      { input: 3, output: 1, cacheRead: 2 },
    ],
    [
      "Groq into a field of its own",
      end("stop", { x_groq: { id: "req", usage: { prompt_tokens: 5, completion_tokens: 1 } } }),
      { input: 5, output: 1 },
    ],
    [
      "thinking counted inside",
      counted({
        prompt_tokens: 5,
        completion_tokens: 9,
        total_tokens: 14,
        completion_tokens_details: { reasoning_tokens: 7 },
      }),
      { input: 5, output: 9, reasoning: 7 },
    ],
    [
      "thinking counted beside (xAI)",
      counted({
        prompt_tokens: 5,
        completion_tokens: 9,
        total_tokens: 21,
        completion_tokens_details: { reasoning_tokens: 7 },
      }),
      { input: 5, output: 16, reasoning: 7 },
    ],
    [
      "thinking that does not fit inside",
      counted({ prompt_tokens: 5, completion_tokens: 2, completion_tokens_details: { reasoning_tokens: 7 } }),
      { input: 5, output: 9, reasoning: 7 },
    ],
    [
      "more from the cache than there was",
      counted({ prompt_tokens: 5, completion_tokens: 2, prompt_tokens_details: { cached_tokens: 9 } }),
      { input: 0, output: 2, cacheRead: 9 },
    ],
  ])("%s", (_story, event, usage) => {
    expect(usageOf(event)).toEqual([{ type: "usage", ...usage }]);
  });

  test.each([[null], [{}], ["many"], [{ prompt_tokens: null, completion_tokens: "4" }]])("%j says nothing", (usage) => {
    expect(usageOf(counted(usage))).toEqual([]);
  });

  test("in every chunk, beside the text", () => {
    const deltas = usageOf(
      chunk({ content: "a" }, { usage: { prompt_tokens: 3, completion_tokens: 1 } }),
      chunk({ content: "b" }, { usage: { prompt_tokens: 3, completion_tokens: 2 } }),
    );
    expect(deltas).toMatchObject([{ output: 1 }, { output: 2 }]);
  });
});

const broken = (error: unknown) => ({ error });

test.each<[story: string, events: unknown[], kind: ProviderErrorKind, message: string]>([
  [
    "an error instead of a chunk",
    [broken({ message: "Rate limit reached", type: "requests", code: "rate_limit_exceeded" })],
    "rate_limit",
    "requests: Rate limit reached",
  ],
  ["a bare text", [broken("the model crashed")], "server", "the model crashed"],
  ["an error with nothing in it", [broken({})], "server", "{}"],
  [
    "OpenRouter, with the words of the provider behind it",
    [
      {
        ...chunk({ content: "" }, {}, { finish_reason: "error" }),
        error: {
          code: 429,
          message: "Provider returned error",
          metadata: { provider_name: "Acme", raw: '{"error":"busy"}' },
        },
      },
    ],
    "rate_limit",
    '429: Provider returned error (Acme: {"error":"busy"})',
  ],
  [
    "an overflow told by the provider behind",
    [broken({ code: 400, message: "Bad", metadata: { raw: { message: "maximum context length is 8192 tokens" } } })],
    "overflow",
    '400: Bad (provider: {"message":"maximum context length is 8192 tokens"})',
  ],
  ["an error inside the choice", [chunk({}, {}, { error: { code: 502, message: "Down" } })], "server", "502: Down"],
  [
    "vLLM",
    [{ object: "error", message: "Bad prompt", type: "BadRequestError", code: 400 }],
    "bad_request",
    "BadRequestError: Bad prompt",
  ],
  ["Groq", [{ x_groq: { id: "r", error: "over capacity" }, choices: [] }], "server", "over capacity"],
  [
    "a refusal",
    [chunk({ refusal: "I can't " }), chunk({ refusal: "do that." }), end("stop"), DONE],
    "content_filter",
    "The model refused to answer: I can't do that.",
  ],
  [
    "a filter",
    [text("Well, "), end("content_filter"), DONE],
    "content_filter",
    "The provider filtered the answer (finish_reason content_filter)",
  ],
  [
    "finish reason error",
    [end("error"), DONE],
    "server",
    "The provider failed while it answered (finish_reason error)",
  ],
  [
    "DeepSeek out of breath",
    [end("insufficient_system_resource"), DONE],
    "overloaded",
    "The provider ran out of resources while it answered (finish_reason insufficient_system_resource)",
  ],
  [
    "out of context",
    [end("model_context_window_exceeded")],
    "overflow",
    "The answer ran out of context (finish_reason model_context_window_exceeded)",
  ],
  ["an error after the finish reason", [end("stop"), broken({ message: "Too late" }), DONE], "server", "Too late"],
  ["cut off", [text("Hi")], "malformed", "The stream of the server ended before a finish_reason or [DONE]"],
  ["nothing at all", [], "malformed", "The stream of the server ended before a finish_reason or [DONE]"],
  ["done with nothing", [DONE], "malformed", "The server said [DONE] without an answer"],
])("failure: %s", (_story, events, kind, message) => {
  const deltas = play(...events);
  const ends = deltas.filter(({ type }) => type === "error" || type === "done");
  expect(ends).toHaveLength(1);
  expect(ends[0]).toBe(deltas.at(-1));
  expect(ends[0]).toMatchObject({ type: "error", error: { kind, message } });
});

test("what came before a failure is kept, also a call that was not known well enough", () => {
  const partial = assembled(play(text("Well, "), piece(fn(0, undefined, "read", '{"path":"x')), broken("Oops")));
  expect(partial).toMatchObject({
    content: [
      { type: "text", text: "Well, " },
      { type: "toolCall", id: "call_chatcmpl-1_0", name: "read", arguments: { path: "x" } },
    ],
    stopReason: "error",
    errorMessage: "Oops",
  });
  expect(assembled(play(text("Well, "), end("content_filter")))).toMatchObject({ content: [{ text: "Well, " }] });
});

test("after the end nothing is added any more", () => {
  expect(play(text("Hi"), end("stop"), DONE, text("late"), DONE).at(-1)).toEqual({ type: "done", stopReason: "stop" });
});

test("an event that is not JSON ends the stream and is quoted, an empty one is nothing", () => {
  expect(playText("data: <oops>\n\n").at(-1)).toMatchObject({
    error: { kind: "malformed", message: "The server sent an event that is not JSON: <oops>" },
  });
  expect(playText(`data:\n\ndata: ${JSON.stringify(end("stop"))}\n\n`).at(-1)).toMatchObject({ type: "done" });
});

/** Everything a server may send, as the tokens of a stream. */
const anyText = fc.oneof(
  fc.string({ unit: "grapheme" }),
  fc.constantFrom("content", "index", '"', "\\", "\n", '"}}]}', "0", "null", "stop", "chatcmpl-1", "a", "a", "b"),
);
const anyEvent = fc.oneof(
  {
    weight: 6,
    arbitrary: fc.record({ kind: fc.constantFrom("content", "reasoning", "args0", "args1"), text: anyText }),
  },
  {
    weight: 1,
    arbitrary: fc.record({ kind: fc.constantFrom("usage", "finish", "obfuscated", "details"), text: anyText }),
  },
);

function eventOf({ kind, text: words }: { kind: string; text: string }): unknown {
  if (kind === "args0") return piece(fn(0, "a", "read", words));
  if (kind === "args1") return piece({ index: 1, function: { arguments: words } });
  if (kind === "usage") return chunk({ content: words }, { usage: { prompt_tokens: 1, completion_tokens: 1 } });
  if (kind === "finish") return chunk({ content: words }, {}, { finish_reason: "stop" });
  if (kind === "obfuscated") return chunk({ content: words }, { obfuscation: words.length.toString(36) });
  if (kind === "details")
    return chunk({ reasoning: words, reasoning_details: [{ type: "reasoning.text", text: words }] });
  return chunk({ [kind]: words });
}

test("the short way through the tokens of a block gives what parsing every event gives", () => {
  const write = fc.constantFrom(
    (event: unknown) => JSON.stringify(event),
    (event: unknown) => JSON.stringify(event, null, 1),
  );
  fc.assert(
    fc.property(fc.array(anyEvent, { maxLength: 40 }), write, (events, written) => {
      const [short, parsed] = [initial(), initial()];
      const [shortOut, parsedOut]: Delta[][] = [[], []];
      for (const event of events) {
        const data = written(eventOf(event));
        step(short, data, shortOut!);
        parsed.lessons = Number.POSITIVE_INFINITY;
        step(parsed, data, parsedOut!);
        parsed.wrapping.head = "";
      }
      finish(short, shortOut!);
      finish(parsed, parsedOut!);
      expect(shortOut).toEqual(parsedOut);
    }),
    { numRuns: 500 },
  );
});

test("the short way is taken after a token or two, whatever the first one was wrapped in", () => {
  const state = initial();
  const out: Delta[] = [];
  step(state, JSON.stringify(chunk({ role: "assistant", content: "one" })), out);
  step(state, JSON.stringify(text("two")), out);
  step(state, JSON.stringify(text("three")), out);
  // Only who does not parse takes this one.
  step(state, JSON.stringify(text("four")).replace("four", "f\tour"), out);
  expect(out.slice(2).map((delta) => delta.type === "grow" && delta.text)).toEqual(["one", "two", "three", "f\tour"]);
});

describe("a stream that is cut off", () => {
  const events = [
    chunk({ role: "assistant", content: "" }),
    chunk({ reasoning_content: "Hm ✓" }),
    text("Rea"),
    text("ding 🎉."),
    piece(fn(0, "a", "read", "")),
    piece(fn(0, undefined, undefined, '{"path":"x"}')),
    piece(fn(1, undefined, "ls", "{}")),
    piece(fn(1, "b", undefined, "")),
    end("tool_calls"),
  ];

  test("after any event keeps what came", () => {
    const kept = events.map((_event, at) => {
      const { content } = assembled(play(...events.slice(0, at)));
      return content.map((block) =>
        block.type === "toolCall"
          ? `${block.id} ${block.name} ${JSON.stringify(block.arguments)}`
          : block.type === "text"
            ? block.text
            : block.thinking,
      );
    });
    expect(kept).toEqual([
      [],
      [],
      ["Hm ✓"],
      ["Hm ✓", "Rea"],
      ["Hm ✓", "Reading 🎉."],
      ["Hm ✓", "Reading 🎉.", "a read {}"],
      ["Hm ✓", "Reading 🎉.", 'a read {"path":"x"}'],
      ["Hm ✓", "Reading 🎉.", 'a read {"path":"x"}', "call_chatcmpl-1_1 ls {}"],
      ["Hm ✓", "Reading 🎉.", 'a read {"path":"x"}', "b ls {}"],
    ]);
  });

  test("after any byte ends with exactly one error", () => {
    const bytes = Buffer.from(events.map((event) => `data: ${JSON.stringify(event)}\n\n`).join(""));
    const ends: string[] = [];
    for (let length = 0; length < bytes.length - 1; length++) {
      const state = initial();
      const out: Delta[] = [];
      const decoder = createSseDecoder();
      for (const data of [...decoder.push(bytes.subarray(0, length)), ...decoder.end()]) step(state, data, out);
      finish(state, out);
      const last = out.at(-1);
      const count = out.filter(({ type }) => type === "error" || type === "done").length;
      ends.push(`${count} ${last?.type === "error" ? last.error.kind : last?.type}`);
    }
    expect(new Set(ends)).toEqual(new Set(["1 malformed"]));
  });
});

test("whatever JSON comes, nothing breaks and there is one end", () => {
  const wild = fc.oneof(
    fc.jsonValue(),
    fc.record({ choices: fc.oneof(fc.jsonValue(), fc.array(fc.record({ delta: fc.jsonValue() }))) }),
    fc
      .record(
        {
          content: fc.jsonValue(),
          reasoning: fc.jsonValue(),
          reasoning_details: fc.array(fc.jsonValue()),
          tool_calls: fc.oneof(
            fc.jsonValue(),
            fc.array(fc.record({ index: fc.jsonValue(), function: fc.jsonValue() })),
          ),
          refusal: fc.jsonValue(),
        },
        { requiredKeys: [] },
      )
      .map((delta) => chunk(delta)),
    fc.record({ usage: fc.jsonValue(), x_groq: fc.jsonValue(), error: fc.constantFrom(null, false, "") }),
  );
  fc.assert(
    fc.property(fc.array(wild, { maxLength: 10 }), (events) => {
      const deltas = play(...events, DONE);
      expect(deltas.filter(({ type }) => type === "error" || type === "done")).toHaveLength(1);
      const open = new Set<number>();
      for (const delta of deltas) {
        if (delta.type === "open") open.add(delta.index);
        if (delta.type === "grow") expect(open.has(delta.index)).toBe(true);
        if (delta.type === "close") expect(open.delete(delta.index)).toBe(true);
      }
    }),
    { numRuns: 500 },
  );
});

test("calls without end are told until there are too many of them, and looked for no longer", () => {
  const FLOOD = 60_000;
  const floods = [
    (at: number) => fn(undefined, undefined, "ls", `{"at":${at}}`),
    (at: number) => fn(at, `c${at}`, undefined, "{"),
    (at: number) => fn(at, "again", "ls", "{}"),
  ];
  for (const flood of floods) {
    const deltas = play(piece(...Array.from({ length: FLOOD }, (_, at) => flood(at))), end("tool_calls"), DONE);
    expect(deltas.filter(({ type }) => type === "open")).toHaveLength(1001);
    const assembly = createAssembly(testModel(), 0);
    for (const delta of deltas) assembly.apply(delta);
    expect(assembly.hasTooManyBlocks).toBe(true);
  }
});
