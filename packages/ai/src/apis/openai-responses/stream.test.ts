import fc from "fast-check";
import { expect, test } from "vitest";
import { createAssembly } from "../../assemble.ts";
import type { ProviderErrorKind } from "../../errors.ts";
import { createSseDecoder } from "../../http/sse.ts";
import type { Delta } from "../../provider.ts";
import { testModel } from "../../testing.ts";
import { finish, initial, step } from "./stream.ts";
import {
  added,
  argumentsDelta,
  asStream,
  callEvents,
  callItem,
  created,
  done,
  ended,
  messageEvents,
  messageItem,
  REASONING,
  summaryDelta,
  type TestEvent,
  textDelta,
  USAGE,
  wholeTurn,
} from "./test-events.ts";

/** Plays events through the decoder too, in the form the provider sends them. */
function play(...events: TestEvent[]): Delta[] {
  return playText(asStream(events));
}

function playText(stream: string): Delta[] {
  const state = initial();
  const out: Delta[] = [];
  for (const data of createSseDecoder().push(Buffer.from(stream))) step(state, data, out);
  finish(state, out);
  return out;
}

/** The message that the deltas make. */
function assembled(deltas: readonly Delta[]) {
  const assembly = createAssembly(testModel(), 0);
  for (const delta of deltas) {
    if (delta.type === "done") assembly.finish(delta.stopReason);
    else if (delta.type === "error") assembly.fail(delta.error);
    else assembly.apply(delta);
  }
  return assembly.message;
}

const contentOf = (...events: TestEvent[]) => assembled(play(...events)).content;
const usage: Delta = { type: "usage", input: 10, output: 40, cacheRead: 60, cacheWrite: 30, reasoning: 25 };
const completed = ended("completed");

test("text", () => {
  expect(play(created, ...messageEvents(0, ["Hel", "lo"]), completed)).toEqual([
    { type: "response", id: "resp_1", model: "gpt-test-2026-01-01" },
    { type: "open", index: 0, block: { type: "text" } },
    { type: "grow", index: 0, text: "Hel" },
    { type: "grow", index: 0, text: "lo" },
    { type: "close", index: 0, signature: "msg_1" },
    usage,
    { type: "done", stopReason: "stop" },
  ]);
});

test("a whole turn: thoughts, words and two calls", () => {
  expect(assembled(play(...wholeTurn()))).toMatchObject({
    responseId: "resp_1",
    stopReason: "toolUse",
    content: [
      {
        type: "thinking",
        thinking: "**Look**\n\nFirst.\n\nThen read.",
        thinkingSignature: JSON.stringify(REASONING),
      },
      {
        type: "text",
        text: 'Reading the "file", then\nthe folder 🙂.',
        textSignature: '{"id":"msg_1","phase":"commentary"}',
      },
      { type: "toolCall", id: "call_1|fc_1", name: "read", arguments: { path: "a.txt" } },
      { type: "toolCall", id: "call_2|fc_2", name: "ls", arguments: {} },
    ],
    usage: { input: 10, output: 40, cacheRead: 60, cacheWrite: 30, reasoning: 25, totalTokens: 140 },
  });
});

test("calls whose arguments come in turns stay apart", () => {
  const events = [
    added(0, callItem(1, "read", "")),
    added(1, callItem(2, "read", "")),
    argumentsDelta(0, '{"path":'),
    { ...argumentsDelta(1, '{"path":'), item_id: "fc_2" },
    argumentsDelta(0, '"a"}'),
    { ...argumentsDelta(1, '"b"}'), item_id: "fc_2" },
    done(1, callItem(2, "read", '{"path":"b"}')),
    done(0, callItem(1, "read", '{"path":"a"}')),
  ];
  expect(contentOf(...events, completed)).toMatchObject([{ arguments: { path: "a" } }, { arguments: { path: "b" } }]);
});

test("reasoning that is only encrypted is a redacted thought", () => {
  const item = { ...REASONING, summary: [] };
  expect(contentOf(added(0, { ...item, encrypted_content: "" }), done(0, item), completed)).toEqual([
    { type: "thinking", thinking: "[Reasoning redacted]", thinkingSignature: JSON.stringify(item), redacted: true },
  ]);
});

test("models that show their thoughts", () => {
  const item = { id: "rs_1", type: "reasoning", summary: [], content: [{ type: "reasoning_text", text: "Hm, so" }] };
  const piece = (delta: string): TestEvent => ({
    type: "response.reasoning_text.delta",
    item_id: "rs_1",
    output_index: 0,
    content_index: 0,
    delta,
  });
  const thought = [{ type: "thinking", thinking: "Hm, so", thinkingSignature: JSON.stringify(item) }];
  expect(contentOf(added(0, { ...item, content: [] }), piece("Hm,"), piece(" so"), done(0, item), completed)).toEqual(
    thought,
  );
  expect(contentOf(done(0, item), completed)).toEqual(thought);
});

test("a refusal is an error with the model's words, which are kept", () => {
  const place = { item_id: "msg_1", output_index: 0, content_index: 0 };
  const words = "I can't help with that.";
  const item = messageItem("", { content: [{ type: "refusal", refusal: words }] });
  const opening = added(0, { ...item, content: [] });
  const pieces: TestEvent[] = [
    { type: "response.refusal.delta", ...place, delta: "I can't help" },
    { type: "response.refusal.delta", ...place, delta: " with that." },
  ];
  const whole: TestEvent = { type: "response.refusal.done", ...place, refusal: words };
  for (const events of [[opening, ...pieces, whole, done(0, item)], [opening, whole, done(0, item)], [done(0, item)]]) {
    for (const ending of [completed, ended("incomplete")]) {
      const deltas = play(...events, ending);
      expect(deltas.at(-1)).toMatchObject({
        type: "error",
        error: { kind: "content_filter", message: `The model refused to answer: ${words}` },
      });
      expect(assembled(deltas).content).toMatchObject([{ type: "text", text: words }]);
    }
  }
});

test.each<[reason: string | undefined, end: unknown]>([
  ["max_output_tokens", { type: "done", stopReason: "length" }],
  [undefined, { type: "done", stopReason: "length" }],
  ["content_filter", { type: "error", error: { kind: "content_filter" } }],
  ["bored", { type: "error", error: { kind: "server", message: "The provider left the response incomplete: bored" } }],
])("incomplete because of %s", (reason, end) => {
  const details = { incomplete_details: reason ? { reason } : null };
  const parts = messageEvents(0, ["Half"]).slice(0, 3);
  for (const ending of [
    ended("incomplete", details),
    { ...ended("incomplete", details), type: "response.completed" },
  ]) {
    const deltas = play(...parts, ending);
    expect(deltas.slice(-2)).toMatchObject([usage, end]);
    expect(assembled(deltas).content).toMatchObject([{ type: "text", text: "Half" }]);
  }
});

test.each<[code: string, message: string, kind: ProviderErrorKind]>([
  ["server_error", "The model had a problem", "server"],
  ["rate_limit_exceeded", "Please slow down", "rate_limit"],
  ["context_length_exceeded", "Your input exceeds the context window of this model", "overflow"],
  ["insufficient_quota", "You exceeded your current quota", "bad_request"],
  ["image_content_policy_violation", "That picture is not allowed", "content_filter"],
])("an error: %s", (code, message, kind) => {
  const error = { type: "error", error: { kind, message: `${code}: ${message}` } };
  const events: TestEvent[] = [
    ended("failed", { error: { code, message }, usage: null }),
    { type: "error", code, message, param: null },
    { type: "error", error: { type: "some_error", code, message } },
    { type: "response.error", error: { code, message } },
  ];
  for (const event of events) {
    expect(play(created, textDelta(0, "He"), event, textDelta(0, "llo")).slice(2)).toMatchObject([
      { text: "He" },
      error,
    ]);
  }
  // Gateways send it without a type.
  expect(playText(`data: ${JSON.stringify({ error: { code, message } })}\n\n`)).toMatchObject([error]);
});

test.each<[event: TestEvent, kind: ProviderErrorKind, message: string]>([
  [{ type: "error" }, "server", "The provider sent an error without a message"],
  [{ type: "error", error: "boom" }, "server", "boom"],
  [{ type: "response.failed" }, "server", "The response failed without a reason given"],
  [{ type: "response.cancelled" }, "server", "The provider cancelled the response"],
  [{ type: "error", code: null, message: "Oh", param: null }, "server", "Oh"],
])("an error that says little: %j", (event, kind, message) => {
  expect(play(event)).toMatchObject([{ type: "error", error: { kind, message } }]);
});

test("what failed is not called complete, whatever the name of the event", () => {
  const failed = ended("failed", { error: { code: "server_error", message: "Oh" } });
  expect(play({ ...failed, type: "response.completed" }).at(-1)).toMatchObject({ type: "error" });
  expect(play({ ...failed, type: "response.done" }).at(-1)).toMatchObject({ type: "error" });
  expect(play({ ...completed, type: "response.done" }).at(-1)).toMatchObject({ type: "done" });
  expect(play({ ...completed, type: "response.failed" }).at(-1)).toMatchObject({ type: "error" });
});

test("no terminal event: an error after what had come", () => {
  const error = {
    type: "error",
    error: { kind: "malformed", message: "The provider's stream ended before response.completed" },
  };
  expect(play()).toMatchObject([error]);
  expect(playText(`${asStream([textDelta(0, "Hi")])}data: [DONE]\n\n`).slice(1)).toMatchObject([{ text: "Hi" }, error]);
});

test("an event that is not JSON is quoted", () => {
  expect(playText(`${asStream([textDelta(0, "Hi")])}data: <html>oops\n\n`).slice(2)).toMatchObject([
    { type: "error", error: { kind: "malformed", message: "The provider sent an event that is not JSON: <html>oops" } },
  ]);
});

test("unknown events, unknown items and fields that grow out of nothing are ignored", () => {
  const search = { id: "ws_1", type: "web_search_call", status: "completed" };
  const events: TestEvent[] = [
    { type: "keepalive" },
    { type: "constructor" },
    { type: "response.queued", response: {} },
    added(0, search),
    { type: "response.web_search_call.searching", output_index: 0, item_id: "ws_1" },
    done(0, search),
    ...messageEvents(1, ["Hi"]),
  ];
  expect(play(...events, completed)).toEqual([
    { type: "open", index: 0, block: { type: "text" } },
    { type: "grow", index: 0, text: "Hi" },
    { type: "close", index: 0, signature: "msg_1" },
    { type: "response", id: "resp_1", model: "gpt-test-2026-01-01" },
    usage,
    { type: "done", stopReason: "stop" },
  ]);
});

test("nothing follows the end", () => {
  expect(play(completed, textDelta(0, "Hi"), completed).map((delta) => delta.type)).toEqual([
    "response",
    "usage",
    "done",
  ]);
});

/** Servers that speak the dialect leave something out. What arrives must be the same. */
const turn = wholeTurn();
const whole = assembled(play(...turn)).content;
const without = (...types: string[]) => turn.filter((event) => !types.some((type) => event.type.includes(type)));

test.each<[what: string, events: TestEvent[]]>([
  ["no pieces", without(".delta")],
  ["only finished items", without(".delta", ".added", "text.done", "arguments.done", "part.done")],
  ["only the response", without("output_item", ".delta", "text.done", "arguments.done", "part")],
  ["no finished parts", without("text.done", "arguments.done", "part.done")],
  ["items finished by the response only", without("output_item.done")],
  ["no places", turn.map(({ output_index, ...event }) => event as TestEvent)],
  ["no places and no ids on pieces", turn.map(({ output_index, item_id, ...event }) => event as TestEvent)],
  ["ids that change", turn.map((event, n) => (event.item_id ? { ...event, item_id: `other_${n}` } : event))],
])("a server that sends %s", (_what, events) => {
  const deltas = play(...events);
  expect(assembled(deltas).content).toEqual(whole);
  expect(deltas.at(-1)).toEqual({ type: "done", stopReason: "toolUse" });
});

test("pieces without an item", () => {
  const events = [summaryDelta(0, 0, "Hm"), summaryDelta(0, 1, "So"), textDelta(1, "Hi"), argumentsDelta(2, "{}")];
  expect(contentOf(...events, ended("completed"))).toEqual([
    { type: "thinking", thinking: "Hm\n\nSo" },
    { type: "text", text: "Hi" },
  ]);
});

test("a call whose name comes late, whose arguments are an object, or that has no id", () => {
  const { name, ...nameless } = callItem(1, "read", "");
  expect(contentOf(added(0, nameless), done(0, callItem(1, "read", '{"path":"a"}')), completed)).toEqual([
    { type: "toolCall", id: "call_1|fc_1", name: "read", arguments: { path: "a" } },
  ]);
  expect(contentOf(done(0, { ...callItem(1, "read", ""), arguments: { path: "a" } }), completed)).toMatchObject([
    { arguments: { path: "a" } },
  ]);
  const ids = [{ call_id: undefined }, { id: undefined }, { call_id: "", id: "" }].map(
    (fields) => contentOf(done(0, { ...callItem(1, "read", "{}"), ...fields }), completed)[0],
  );
  expect(ids).toMatchObject([{ id: "fc_1" }, { id: "call_1" }, { id: "call_0" }]);
});

test("usage without details counts as it stands", () => {
  const { input_tokens, output_tokens } = USAGE;
  expect(play(ended("completed", { usage: { input_tokens, output_tokens } }))[1]).toEqual({
    type: "usage",
    input: 100,
    output: 40,
  });
  expect(play(ended("completed", { usage: null })).map((delta) => delta.type)).toEqual(["response", "done"]);
});

test("a block that looks like the one before it is another block", () => {
  const first = messageEvents(0, ["one ", "two ", "three"]).map(
    ({ output_index, item_id, ...event }) => event as TestEvent,
  );
  const second = first.map((event) => (event.item ? { ...event, item: { ...event.item, id: "msg_2" } } : event));
  const deltas = play(...first, ...second, completed);
  expect(assembled(deltas).content).toEqual(
    ["msg_1", "msg_2"].map((textSignature) => ({ type: "text", text: "one two three", textSignature })),
  );
  const pieces = deltas.flatMap((delta) => (delta.type === "grow" ? [[delta.index, delta.text]] : []));
  expect(pieces.slice(3)).toEqual([
    [1, "one "],
    [1, "two "],
    [1, "three"],
  ]);
});

test("pieces for nobody begin a block, and end with it", () => {
  const { output_index, item_id, ...piece } = textDelta(0, "Hi");
  const { id, ...item } = messageItem("Hi");
  const finished: TestEvent = { type: "response.output_item.done", item };
  const hi = { type: "text", text: "Hi" };
  expect(contentOf(piece as TestEvent, finished, piece as TestEvent, finished, completed)).toEqual([hi, hi]);
});

test("nothing is said twice, whatever comes after an item was finished", () => {
  const late = [textDelta(0, " and more"), done(0, messageItem("Hi"))];
  const shifted = ended("completed", { output: [REASONING, messageItem("Hi")] });
  const deltas = play(...messageEvents(0, ["Hi"]), ...late, shifted);
  expect(deltas.filter((delta) => delta.type === "grow")).toEqual([{ type: "grow", index: 0, text: "Hi" }]);
});

test("many pieces, plain and escaped, in words and thoughts and arguments", () => {
  const words = Array.from({ length: 50 }, (_, n) => (n % 7 === 3 ? `"${n}"\n` : ` w${n}`));
  const args = ['{"a":"', ...words.map((word) => JSON.stringify(word).slice(1, -1)), '"}'];
  const thoughts = words.map((word, n) => summaryDelta(0, n < 25 ? 0 : 1, word));
  expect(
    contentOf(
      added(0, { ...REASONING, summary: [] }),
      ...thoughts,
      done(0, REASONING),
      ...messageEvents(1, words),
      ...callEvents(2, 1, "x", args),
      completed,
    ),
  ).toMatchObject([
    { thinking: `${words.slice(0, 25).join("")}\n\n${words.slice(25).join("")}` },
    { text: words.join("") },
    { arguments: { a: words.join("") } },
  ]);
});

test("property: a stream cut at any byte has one error, and what came is kept", () => {
  const bytes = Buffer.from(asStream([...turn.slice(0, -1), ended("completed")]));
  const full = play(...turn);
  const enough = bytes.length - 2;
  fc.assert(
    fc.property(fc.nat({ max: bytes.length }), (cut) => {
      const state = initial();
      const out: Delta[] = [];
      const decoder = createSseDecoder();
      for (const data of [...decoder.push(bytes.subarray(0, cut)), ...decoder.end()]) step(state, data, out);
      finish(state, out);
      const isComplete = cut > enough;
      expect(out.filter((delta) => delta.type === "error" || delta.type === "done")).toHaveLength(1);
      expect(out.at(-1)).toMatchObject(isComplete ? { type: "done" } : { type: "error", error: { kind: "malformed" } });
      expect(out.slice(0, -1)).toEqual(full.slice(0, out.length - 1));
      assembled(out);
    }),
    { numRuns: 200 },
  );
});

test("property: events of any shape never throw and end once", () => {
  const json = fc.jsonValue({ maxDepth: 1 });
  const types = fc.constantFrom(...new Set(turn.map((event) => event.type)), "error", "response.failed");
  const part = fc.oneof(
    json,
    fc.record({ type: fc.constantFrom("output_text", "refusal", "summary_text"), text: json }),
  );
  const item = fc.oneof(
    json,
    fc.record({
      type: fc.constantFrom("message", "reasoning", "function_call", "other"),
      id: json,
      call_id: json,
      name: json,
      phase: json,
      arguments: json,
      content: fc.oneof(json, fc.array(part)),
      summary: fc.oneof(json, fc.array(part)),
    }),
  );
  const response = fc.record({
    id: json,
    status: json,
    output: fc.array(item),
    usage: json,
  });
  const event = fc.record(
    {
      type: types,
      output_index: fc.oneof(fc.nat({ max: 3 }), json),
      item_id: json,
      item,
      delta: fc.oneof(fc.string(), json),
      text: json,
      refusal: json,
      error: json,
      response: fc.oneof(json, response),
      summary_index: json,
    },
    { requiredKeys: ["type"] },
  );
  fc.assert(
    fc.property(fc.array(event, { maxLength: 12 }), (events) => {
      const state = initial();
      const out: Delta[] = [];
      for (const each of events) step(state, JSON.stringify(each), out);
      finish(state, out);
      expect(out.filter((delta) => delta.type === "error" || delta.type === "done")).toHaveLength(1);
      for (const delta of out) {
        if (delta.type === "grow") expect(typeof delta.text).toBe("string");
        if (delta.type === "close" && delta.signature !== undefined) expect(typeof delta.signature).toBe("string");
      }
      assembled(out);
    }),
    { numRuns: 150 },
  );
});

test("very many items that nobody numbers are found by their ids, one that was there before is not told twice", () => {
  const items = Array.from({ length: 60_000 }, (_, at) => ({
    type: "response.output_item.done",
    item: { type: "web_search_call", id: `ws_${at}` },
  }));
  const said = (id: string) => ({ type: "response.output_text.delta", item_id: id, delta: id });
  const found = { type: "response.output_item.added", item: { type: "message", id: "m1" } };
  const state = initial();
  const deltas: Delta[] = [];
  const events = [created, found, items, said("m1"), items, said("m1"), ended("completed")].flat();
  for (const event of events) step(state, JSON.stringify(event), deltas);
  expect(deltas.flatMap((delta) => (delta.type === "grow" ? [delta.text] : []))).toEqual(["m1", "m1"]);
  expect(deltas.filter(({ type }) => type === "open")).toHaveLength(1);
});

test("an item whose id is said at another place too is still found when that place is taken again", () => {
  const added = (output_index: number, id: string) => ({
    type: "response.output_item.added",
    output_index,
    item: { type: "message", id },
  });
  const said = { type: "response.output_text.delta", item_id: "m1", delta: "Hi" };
  const state = initial();
  const deltas: Delta[] = [];
  for (const event of [created, added(0, "m1"), added(1, "m1"), added(1, "m2"), said])
    step(state, JSON.stringify(event), deltas);
  expect(deltas.flatMap((delta) => (delta.type === "grow" ? [delta.index] : []))).toEqual([0]);
});
