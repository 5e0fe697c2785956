import { finish, initial, step } from "@tiller/ai/apis/anthropic-messages/stream";
import { ProviderError } from "@tiller/ai/errors";
import type { Delta } from "@tiller/ai/provider";
import { describe, expect, test } from "vitest";
import { createAnswer, failureOf } from "./anthropic-answer.ts";

function encode(deltas: readonly Delta[]): string {
  const answer = createAnswer("msg_1", "script");
  return deltas.map((delta) => answer.events(delta)).join("");
}

/** As Tiller reads such an answer. */
function decode(stream: string): Delta[] {
  const state = initial();
  const out: Delta[] = [];
  for (const [, data = ""] of stream.matchAll(/^data: (.*)$/gm)) step(state, data, out);
  finish(state, out);
  return out;
}

describe("an answer in the words of the Messages API", () => {
  test("text, thinking and a call", () => {
    const deltas: Delta[] = [
      { type: "open", index: 0, block: { type: "thinking" } },
      { type: "grow", index: 0, text: "hm" },
      { type: "close", index: 0, signature: "sig" },
      { type: "open", index: 1, block: { type: "text" } },
      { type: "grow", index: 1, text: "one\n" },
      { type: "grow", index: 1, text: "two" },
      { type: "close", index: 1 },
      { type: "open", index: 2, block: { type: "toolCall", id: "script_1", name: "read" } },
      { type: "grow", index: 2, text: '{"path":' },
      { type: "grow", index: 2, text: '"a"}' },
      { type: "close", index: 2 },
      { type: "usage", input: 7, output: 3, cacheRead: 2 },
      { type: "done", stopReason: "toolUse" },
    ];
    const heard = decode(encode(deltas)).filter(({ type }) => type !== "response" && type !== "usage");
    expect(heard).toMatchObject(deltas.filter(({ type }) => type !== "usage"));
    expect(decode(encode(deltas))).toContainEqual(expect.objectContaining({ type: "usage", input: 7, output: 3 }));
  });

  test("the events, literally", () => {
    const stream = encode([
      { type: "usage", input: 5 },
      { type: "open", index: 0, block: { type: "text" } },
      { type: "grow", index: 0, text: "hi" },
      { type: "close", index: 0 },
      { type: "done", stopReason: "stop" },
    ]);
    const events = stream.trimEnd().split("\n\n");
    expect(events.map((event) => event.split("\n")[0])).toEqual([
      "event: message_start",
      "event: content_block_start",
      "event: content_block_delta",
      "event: content_block_stop",
      "event: message_delta",
      "event: message_stop",
    ]);
    expect(events[0]).toContain('"usage":{"input_tokens":5,');
    expect(events[2]).toContain('"delta":{"type":"text_delta","text":"hi"}');
    expect(events[4]).toContain('"delta":{"stop_reason":"end_turn","stop_sequence":null}');
  });

  test("no words at all are an answer too", () => {
    expect(decode(encode([{ type: "done", stopReason: "length" }])).at(-1)).toEqual({
      type: "done",
      stopReason: "length",
    });
  });

  test("a failure in the middle", () => {
    const error = new ProviderError("overloaded", "too much", { status: 529 });
    const stream = encode([
      { type: "open", index: 0, block: { type: "text" } },
      { type: "error", error },
    ]);
    expect(decode(stream).at(-1)).toMatchObject({ type: "error", error: { kind: "overloaded" } });
  });
});

test.each([
  ["the status of the script", new ProviderError("server", "x", { status: 502 }), 502, "api_error"],
  ["the usual one", new ProviderError("rate_limit", "x"), 429, "rate_limit_error"],
])("a failure at the start has %s", (_name, error, status, type) => {
  expect(failureOf(error)).toMatchObject({ status, body: { error: { type, message: "x" } } });
});

test("how long to wait is told in seconds", () => {
  const { headers } = failureOf(new ProviderError("rate_limit", "x", { retryAfterMs: 1200 }));
  expect(headers).toEqual({ "x-should-retry": "false", "retry-after": "2" });
});
