import { describe, expect, it } from "vitest";
import { type SimpleContext, type SimpleOptions, type StreamSimple, streamFromEvents } from "./custom-stream.ts";
import { spokenBy } from "./model-secrets.ts";
import { streamAssistant } from "./stream.ts";
import { answer, collect, fakeClock, testModel, testRequest } from "./testing.ts";

/** The stream of a program, under the same guard as every other model. */
function ask(stream: StreamSimple, fields: Parameters<typeof testRequest>[0] = {}) {
  const model = spokenBy(testModel({ api: "own" }), streamFromEvents(stream));
  return collect(streamAssistant(testRequest({ model, ...fields })));
}

async function* events(...told: unknown[]): AsyncGenerator<unknown> {
  for (const event of told) yield event;
}

const hello = answer([{ type: "text", text: "Hello" }], { usage: { ...answer([]).usage, input: 3, output: 2 } });
const wholeHello = [
  { type: "open", index: 0, block: { type: "text" } },
  { type: "grow", index: 0, text: "Hello" },
  { type: "close", index: 0 },
  { type: "usage", input: 3, output: 2, cacheRead: 0, cacheWrite: 0 },
  { type: "done", stopReason: "stop" },
];
const call = { type: "toolCall" as const, id: "c1", name: "read", arguments: { path: "a" } };

describe("what a program tells", () => {
  it("becomes deltas, piece by piece", async () => {
    const partial = answer([{ type: "text", text: "" }]);
    const deltas = await ask(() =>
      events(
        { type: "start", partial },
        { type: "text_start", contentIndex: 0, partial },
        { type: "text_delta", contentIndex: 0, delta: "Hel", partial },
        { type: "text_delta", contentIndex: 0, delta: "lo", partial },
        { type: "text_end", contentIndex: 0, content: "Hello", partial: hello },
        { type: "done", reason: "stop", message: hello },
      ),
    );
    expect(deltas.filter((delta) => delta.type === "grow")).toEqual([
      { type: "grow", index: 0, text: "Hel" },
      { type: "grow", index: 0, text: "lo" },
    ]);
    expect(deltas.at(-1)).toEqual({ type: "done", stopReason: "stop" });
  });

  it("may leave out beginnings and ends, or everything but the message", async () => {
    const delta = { type: "text_delta", contentIndex: 0, delta: "Hello" };
    const done = { type: "done", reason: "stop", message: hello };
    expect(await ask(() => events(delta, done))).toEqual(wholeHello);
    expect(await ask(() => events(done))).toEqual(wholeHello);
    expect(await ask(async () => events({ ...delta, delta: "He" }, done))).toEqual([
      wholeHello[0],
      { type: "grow", index: 0, text: "He" },
      { type: "grow", index: 0, text: "llo" },
      ...wholeHello.slice(2),
    ]);
    expect(await ask(() => [delta, done])).toEqual(wholeHello);
  });

  it("may be an object with a result, a promise of it, or a generator that returns the message", async () => {
    expect(await ask(() => ({ result: async () => hello }))).toEqual(wholeHello);
    expect(await ask(async () => ({ result: async () => hello, [Symbol.asyncIterator]: () => events() }))).toEqual(
      wholeHello,
    );
    const returning = async function* (): AsyncGenerator<unknown, unknown> {
      yield { type: "text_delta", contentIndex: 0, delta: "Hello" };
      return hello;
    };
    expect(await ask(returning)).toEqual(wholeHello);
  });

  it("has tool calls, whole or in pieces, with the name at the beginning or at the end", async () => {
    const done = { type: "done", reason: "toolUse", message: answer([call], { stopReason: "toolUse" }) };
    const open = { type: "open", index: 0, block: { type: "toolCall", id: "c1", name: "read" } };
    const named = { type: "toolcall_start", contentIndex: 0, partial: answer([{ ...call, arguments: {} }]) };
    const pieces = ['{"path":', '"a"}'].map((delta) => ({ type: "toolcall_delta", contentIndex: 0, delta }));
    const ended = { type: "toolcall_end", contentIndex: 0, toolCall: call };
    const grown = (...texts: string[]) => texts.map((text) => ({ type: "grow", index: 0, text }));
    for (const [told, growth] of [
      [[named, ...pieces, ended, done], grown('{"path":', '"a"}')],
      [[{ type: "toolcall_start", contentIndex: 0 }, ...pieces, ended, done], grown('{"path":"a"}')],
      [[{ type: "toolcall_start", contentIndex: 0, id: "c1", toolName: "read" }, ended, done], grown('{"path":"a"}')],
      [[ended, done], grown('{"path":"a"}')],
      [[done], grown('{"path":"a"}')],
    ] as const) {
      const deltas = await ask(() => events(...told));
      expect(deltas.filter(({ type }) => type !== "usage")).toEqual([
        open,
        ...growth,
        { type: "close", index: 0 },
        { type: "done", stopReason: "toolUse" },
      ]);
    }
  });

  it("keeps signatures, hidden thoughts and the name of who answered", async () => {
    const message = answer(
      [
        { type: "thinking", thinking: "hm", thinkingSignature: "sig", redacted: true },
        { type: "text", text: "Hi", textSignature: "ts" },
      ],
      { responseId: "r1", responseModel: "other" },
    );
    const deltas = await ask(() => events({ type: "done", reason: "stop", message }));
    expect(deltas).toContainEqual({ type: "close", index: 0, signature: "sig", redacted: true });
    expect(deltas).toContainEqual({ type: "close", index: 1, signature: "ts" });
    expect(deltas).toContainEqual({ type: "response", id: "r1", model: "other" });
  });

  it("is ignored where it makes no sense", async () => {
    const nonsense = [null, 7, {}, { type: "future_event" }, { type: "text_delta", contentIndex: 0 }];
    expect(await ask(() => events(...nonsense, { type: "done", message: hello }))).toEqual(wholeHello);
  });
});

describe("what goes wrong", () => {
  it.each([
    [{ reason: "error", error: answer([], { errorMessage: "429 slow down" }) }, "rate_limit", "429 slow down"],
    [{ error: new Error("Service unavailable") }, "overloaded", "Service unavailable"],
    [{ error: "prompt is too long: 300000 tokens > 200000 maximum" }, "overflow", "prompt is too long"],
    [{ error: "no such thing" }, "bad_request", "no such thing"],
    [{ reason: "aborted", error: answer([]) }, "aborted", "aborted"],
    [{}, "bad_request", "without saying why"],
  ])("an error event %j", async (event, kind, words) => {
    const deltas = await ask(() => events({ type: "error", ...event }));
    expect(deltas.at(-1)).toMatchObject({
      type: "error",
      error: { kind, message: expect.stringContaining(words) as string },
    });
  });

  it("keeps what was said before an error or a throw, each block closed", async () => {
    const failing = async function* () {
      yield { type: "text_delta", contentIndex: 0, delta: "He" };
      throw new Error("fetch failed");
    };
    expect(await ask(failing)).toMatchObject([
      { type: "open" },
      { type: "grow", text: "He" },
      { type: "close", index: 0 },
      { type: "error", error: { kind: "network", message: "fetch failed" } },
    ]);
  });

  it("a function that throws, gives nothing, or ends without an end", async () => {
    const throwing = () => {
      throw new Error("no key");
    };
    expect(await ask(throwing)).toMatchObject([{ type: "error", error: { message: "no key" } }]);
    const ended = {
      type: "error",
      error: { kind: "bad_request", message: expect.stringContaining('"done"') as string },
    };
    expect(await ask(() => undefined)).toMatchObject([ended]);
    expect((await ask(() => events({ type: "text_delta", contentIndex: 0, delta: "x" }))).at(-1)).toMatchObject(ended);
  });

  it("a result that never comes is waited for only a while", async () => {
    const clock = fakeClock();
    const deltas = ask(
      () => ({
        result() {
          setImmediate(() => clock.advance(60_000));
          return new Promise(() => undefined);
        },
      }),
      { clock },
    );
    expect(await deltas).toMatchObject([{ type: "error", error: { kind: "bad_request" } }]);
  });

  it("a stream that never ends is left at an abort, and is told so", async () => {
    const controller = new AbortController();
    let left = false;
    const endless = (_model: unknown, _context: unknown, { signal }: SimpleOptions) => {
      expect(signal).toBe(controller.signal);
      return {
        [Symbol.asyncIterator]: () => ({
          next: () => {
            setImmediate(() => controller.abort());
            return new Promise<never>(() => undefined);
          },
          return: async () => {
            left = true;
            return { done: true as const, value: undefined };
          },
        }),
      };
    };
    expect(await ask(endless, { signal: controller.signal })).toMatchObject([
      { type: "error", error: { kind: "aborted" } },
    ]);
    expect(left).toBe(true);
  });

  it("shows no key in an error", async () => {
    const deltas = await ask(() => events({ type: "error", error: "key sk-very-secret is bad" }), {
      apiKey: "sk-very-secret",
    });
    expect(deltas).toMatchObject([{ error: { message: "key [hidden] is bad" } }]);
  });
});

it("gives the program the conversation and what it may want to know", async () => {
  let seen: { context: SimpleContext; options: SimpleOptions } | undefined;
  const tool = { name: "read", description: "reads", parameters: { type: "object" } };
  const onPayload = async () => undefined;
  await ask(
    (_model, context, options) => {
      seen = { context, options };
      return events({ type: "done", message: hello });
    },
    {
      systemPrompt: "be brief",
      tools: [{ ...tool, execute: () => undefined } as typeof tool],
      thinkingLevel: "high",
      apiKey: "the-key",
      headers: { a: "b" },
      sessionId: "s",
      onPayload,
    },
  );
  expect(seen?.context).toMatchObject({ systemPrompt: "be brief", messages: [{ content: "Hello" }], tools: [tool] });
  expect(Object.keys(seen?.context.tools[0] ?? {})).toEqual(["name", "description", "parameters"]);
  expect(seen?.options).toMatchObject({
    apiKey: "the-key",
    headers: { a: "b" },
    reasoning: "high",
    sessionId: "s",
    onPayload,
  });
});
