import { ReadableStream } from "node:stream/web";
import { expect, test } from "vitest";
import { collect, type FakeClock, fakeClock, testModel, testRequest } from "../../testing.ts";
import { bridgeTo } from "./bridge.ts";
import type { CallOptions, LanguageModel, SpecVersion } from "./spec.ts";

interface Fake extends LanguageModel {
  asked: CallOptions[];
  cancelled: boolean;
}

/** A model that streams the parts, then ends, or waits for ever. */
function fakeModel(version: SpecVersion, parts: readonly unknown[], ending: "end" | "hang" | Error = "end"): Fake {
  const fake: Fake = {
    specificationVersion: version,
    provider: "fake",
    asked: [],
    cancelled: false,
    doStream(options) {
      fake.asked.push(options);
      let next = 0;
      const stream = new ReadableStream<unknown>({
        pull(controller) {
          if (next < parts.length) controller.enqueue(parts[next++]);
          else if (ending === "end") controller.close();
          else if (ending === "hang") return new Promise<void>(() => undefined);
          else controller.error(ending);
          return undefined;
        },
        cancel() {
          fake.cancelled = true;
        },
      });
      return Promise.resolve({ stream });
    },
  };
  return fake;
}

const model = testModel({ id: "m", api: "ai-sdk", provider: "fake", baseUrl: "" });
const ask = (fake: LanguageModel, fields: Parameters<typeof testRequest>[0] = {}) =>
  bridgeTo(() => Promise.resolve(fake))(testRequest({ model, ...fields }));

const hello = [
  { type: "stream-start", warnings: [] },
  { type: "text-start", id: "1" },
  { type: "text-delta", id: "1", delta: "Hi" },
  { type: "text-end", id: "1" },
];
const endings: Readonly<Record<SpecVersion, unknown>> = {
  v2: { type: "finish", finishReason: "stop", usage: { inputTokens: 3, outputTokens: 1, totalTokens: 4 } },
  v3: {
    type: "finish",
    finishReason: { unified: "stop", raw: "end_turn" },
    usage: { inputTokens: { total: 3, noCache: 3 }, outputTokens: { total: 1 } },
  },
  v4: {
    type: "finish",
    finishReason: { unified: "stop", raw: "end_turn" },
    usage: { inputTokens: { total: 3, noCache: 3 }, outputTokens: { total: 1 } },
  },
};

test.each(["v2", "v3", "v4"] as const)("a model of version %s answers", async (version) => {
  const fake = fakeModel(version, [...hello, endings[version]]);
  expect(await collect(ask(fake))).toEqual([
    { type: "open", index: 0, block: { type: "text" } },
    { type: "grow", index: 0, text: "Hi" },
    { type: "close", index: 0 },
    { type: "usage", input: 3, output: 1 },
    { type: "done", stopReason: "stop" },
  ]);
  expect(fake.asked).toHaveLength(1);
  expect(fake.asked[0]?.abortSignal.aborted).toBe(false);
});

test("the finish part ends the stream, even when the model keeps it open", async () => {
  const fake = fakeModel("v3", [...hello, endings.v3], "hang");
  expect((await collect(ask(fake))).at(-1)).toEqual({ type: "done", stopReason: "stop" });
  expect(fake.cancelled).toBe(true);
});

test("an abort ends the stream at once and is told to the model", async () => {
  const abort = new AbortController();
  const fake = fakeModel("v3", hello, "hang");
  const deltas: unknown[] = [];
  for await (const batch of ask(fake, { signal: abort.signal })) {
    deltas.push(...batch);
    if (deltas.length === 3) abort.abort();
  }
  expect(deltas.at(-1)).toMatchObject({ type: "error", error: { kind: "aborted" } });
  expect(fake.asked[0]?.abortSignal.aborted).toBe(true);
  expect(fake.cancelled).toBe(true);
});

test("after an abort the model is not asked at all", async () => {
  const fake = fakeModel("v3", hello);
  expect(await collect(ask(fake, { signal: AbortSignal.abort() }))).toMatchObject([{ error: { kind: "aborted" } }]);
  expect(fake.asked).toEqual([]);
});

test("a listener who leaves early is noticed by the model", async () => {
  const fake = fakeModel("v3", hello, "hang");
  for await (const batch of ask(fake)) {
    expect(batch).toHaveLength(1);
    break;
  }
  expect(fake.asked[0]?.abortSignal.aborted).toBe(true);
});

const patience = { firstByteMs: 60_000, idleMs: 5000 };

async function afterSilence(fake: LanguageModel, clock: FakeClock, ms: number): Promise<unknown> {
  const all = collect(ask(fake, { clock, patience }));
  // Lets everything that is ready arrive, then only time can pass.
  await new Promise((resolve) => setImmediate(resolve));
  clock.advance(ms);
  return (await all).at(-1);
}

test("a model that falls silent has stalled", async () => {
  const fake = fakeModel("v3", hello, "hang");
  expect(await afterSilence(fake, fakeClock(), 5000)).toMatchObject({
    error: { kind: "stalled", message: "Timed out: waited 5 s for the next part from fake/m" },
  });
  expect(fake.asked[0]?.abortSignal.aborted).toBe(true);
});

test("a model that never speaks has more time, and stalls too", async () => {
  const fake = fakeModel("v3", [], "hang");
  expect(await afterSilence(fake, fakeClock(), 60_000)).toMatchObject({
    error: { kind: "stalled", message: "Timed out: waited 60 s for an answer from fake/m" },
  });
  const deaf: LanguageModel = { ...fake, doStream: () => new Promise(() => undefined) };
  expect(await afterSilence(deaf, fakeClock(), 60_000)).toMatchObject({ error: { kind: "stalled" } });
});

test("time that the listener takes is no silence", async () => {
  const clock = fakeClock();
  const batches: unknown[] = [];
  for await (const batch of ask(fakeModel("v3", [...hello, endings.v3]), { clock, patience })) {
    batches.push(...batch);
    clock.advance(600_000);
  }
  expect(batches.at(-1)).toEqual({ type: "done", stopReason: "stop" });
});

const apiError = (fields: object): Error => Object.assign(new Error("Failed"), { name: "AI_APICallError", ...fields });

test.each<[story: string, error: unknown, expected: object]>([
  [
    "a rate limit with its pause",
    apiError({
      statusCode: 429,
      responseHeaders: { "retry-after": "7" },
      responseBody: '{"error":{"type":"rate_limit_error","message":"Slow down"}}',
    }),
    { kind: "rate_limit", status: 429, retryAfterMs: 7000, message: "429 rate_limit_error: Slow down" },
  ],
  ["a wrong key", apiError({ statusCode: 401, responseBody: "" }), { kind: "auth", message: "401 Failed" }],
  [
    "too long",
    apiError({ statusCode: 400, responseBody: '{"message":"prompt is too long: 3 > 2"}' }),
    { kind: "overflow" },
  ],
  ["overload", apiError({ statusCode: 529, responseBody: "{}" }), { kind: "overloaded" }],
  [
    "no connection",
    apiError({
      message: "Cannot connect to API",
      cause: Object.assign(new Error("refused"), { code: "ECONNREFUSED" }),
    }),
    { kind: "network", message: "Cannot connect to API (refused)" },
  ],
  ["no key", Object.assign(new Error("Key is missing"), { name: "AI_LoadAPIKeyError" }), { kind: "auth" }],
  [
    "a feature it has not",
    Object.assign(new Error("no files"), { name: "AI_UnsupportedFunctionalityError" }),
    { kind: "bad_request" },
  ],
  ["a name that every object knows", Object.assign(new Error("odd"), { name: "constructor" }), { kind: "server" }],
  ["nonsense", undefined, { kind: "server", message: "undefined" }],
])("thrown: %s", async (_story, error, expected) => {
  const fake: LanguageModel = { ...fakeModel("v3", []), doStream: () => Promise.reject(error) };
  expect(await collect(ask(fake))).toMatchObject([{ type: "error", error: expected }]);
  const throwing: LanguageModel = {
    ...fakeModel("v3", []),
    doStream() {
      throw error;
    },
  };
  expect(await collect(ask(throwing))).toMatchObject([{ type: "error", error: expected }]);
});

test("a stream that breaks keeps what came", async () => {
  const broken = Object.assign(new TypeError("terminated"), { cause: new Error("other side closed") });
  const deltas = await collect(ask(fakeModel("v3", hello.slice(0, 3), broken)));
  expect(deltas.slice(0, -1)).toEqual([
    { type: "open", index: 0, block: { type: "text" } },
    { type: "grow", index: 0, text: "Hi" },
  ]);
  expect(deltas.at(-1)).toMatchObject({
    type: "error",
    error: { kind: "network", message: "terminated (other side closed)" },
  });
});
