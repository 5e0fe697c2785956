import { ProviderError } from "@tiller/ai/errors";
import type { Delta, DeltaStream, ModelRequest } from "@tiller/ai/provider";
import type { Usage } from "@tiller/protocol/message";
import type { Model } from "@tiller/protocol/model";
import { expect, test } from "vitest";
import { FakeClock } from "../../../../test/support/fake-clock.ts";
import { type CacheWarmingOptions, createCacheWarming, type WarmingEvent } from "./cache-warming.ts";

/** While nobody says anything, a provider is asked again shortly before it forgets: rarely, and never in anybody's way. */

const MINUTE = 60_000;
const model = {
  provider: "anthropic",
  id: "m",
  api: "anthropic-messages",
  baseUrl: "https://api.anthropic.com",
  cost: { input: 3, output: 15, cacheRead: 0.3, cacheWrite: 3.75 },
} as Model;

const reads = (cacheRead: number): Delta[] => [
  { type: "usage", input: 2, cacheRead, cacheWrite: 0 },
  { type: "done", stopReason: "length" },
];

function setUp(options: Partial<CacheWarmingOptions> = {}, answers: (readonly Delta[])[] = []) {
  const clock = new FakeClock();
  const asked: ModelRequest[] = [];
  const events: WarmingEvent[] = [];
  const paid: { usage: Usage; error?: string }[] = [];
  const conversation = { isCurrent: true };
  const warming = createCacheWarming({
    clock,
    retention: "short",
    times: 3,
    async decide(event) {
      events.push({ ...event });
      return event.action;
    },
    async *ask(request): DeltaStream {
      asked.push(request);
      yield answers.shift() ?? reads(50_000);
    },
    done: (_model, usage, error) => paid.push({ usage, ...(error && { error: error.message }) }),
    ...options,
  });
  const begin = (change: Partial<Model> = {}, cachedTokens = 50_000) =>
    warming.begin({
      request: { model: { ...model, ...change }, messages: [] } as unknown as ModelRequest,
      at: clock.now(),
      cachedTokens,
      isCurrent: () => conversation.isCurrent,
    });
  return { clock, asked, events, paid, conversation, warming, begin };
}

test("shortly before five minutes are over it is asked, as often as may be, and then left alone", async () => {
  const { clock, asked, events, paid, begin } = setUp({ times: 2 });
  begin();
  await clock.advance(4.5 * MINUTE - 1);
  expect(asked).toHaveLength(0);
  await clock.advance(1);
  expect(asked).toEqual([expect.objectContaining({ wantsNoAnswer: true, signal: expect.any(AbortSignal) })]);
  // A limit of its own would be another plan for thinking, and so another prompt.
  expect(asked[0]).not.toHaveProperty("maxTokens");
  expect(events[0]).toEqual({
    ...{ model, retention: "short", cachedTokens: 50_000, idleMs: 4.5 * MINUTE, expiresInMs: 0.5 * MINUTE },
    ...{ count: 0, maxCount: 2, action: "warm", estimatedCost: 0.015, missCost: 0.1725 },
  });
  await clock.advance(4.5 * MINUTE);
  expect(events[1]).toMatchObject({ count: 1, idleMs: 9 * MINUTE });
  await clock.advance(60 * MINUTE);
  expect(asked).toHaveLength(2);
  expect(clock.pending).toBe(0);
  expect(paid.map(({ usage }) => usage.cost.total)).toEqual([0.015006, 0.015006]);
});

test.each<[why: string, Partial<CacheWarmingOptions>, Partial<Model>, number?]>([
  ["nothing is kept", { retention: "none" }, {}],
  ["a server that takes no marks", {}, { compat: { cacheControl: false } }],
  ["nobody knows how long this one keeps anything", {}, { provider: "other" }],
  ["what the vendor promises does not hold elsewhere", {}, { baseUrl: "https://proxy.example" }],
  ["nothing was kept", {}, {}, 0],
  ["kept, but not for this retention", { retention: "long" }, { promptCache: { short: 300 } }],
])("%s: no timer", (_why, options, change, cachedTokens) => {
  const { clock, begin } = setUp(options);
  begin(change, cachedTokens);
  expect(clock.pending).toBe(0);
});

test("an hour is an hour, and a model may say how long it is", async () => {
  const long = setUp({ retention: "long" });
  long.begin();
  expect(long.clock.waits).toEqual([59 * MINUTE]);
  await long.clock.advance(59 * MINUTE);
  expect(long.events[0]).toMatchObject({ retention: "long", missCost: 0.285 });
  const own = setUp();
  own.begin({ provider: "mine", promptCache: { short: 10 }, api: "openai-completions" });
  await own.clock.advance(9000);
  expect(own.asked).toEqual([expect.objectContaining({ maxTokens: 1 })]);
});

test("what costs less than it saves is left to whoever decides", async () => {
  const small = setUp();
  small.begin({}, 1000);
  await small.clock.advance(5 * MINUTE);
  expect(small.events).toEqual([expect.objectContaining({ action: "stop" })]);
  expect(small.asked).toHaveLength(0);
  expect(small.clock.pending).toBe(0);
  const wanted = setUp({ decide: async () => "warm" });
  wanted.begin({}, 1000);
  await wanted.clock.advance(5 * MINUTE);
  expect(wanted.asked).toHaveLength(1);
});

test("another conversation, or another model, is none of its business", async () => {
  const { clock, asked, conversation, begin } = setUp();
  begin();
  conversation.isCurrent = false;
  await clock.advance(10 * MINUTE);
  expect(asked).toHaveLength(0);
  expect(clock.pending).toBe(0);
});

test("whoever decides for too long decides nothing", async () => {
  let answer = (_: "warm"): void => undefined;
  const decided = new Promise<"warm">((resolve) => {
    answer = resolve;
  });
  const { clock, asked, begin } = setUp({ decide: () => decided });
  begin();
  await clock.advance(5 * MINUTE);
  answer("warm");
  await clock.advance(0);
  expect(asked).toHaveLength(0);
});

test("the next run ends the wait, and a request that is under way", async () => {
  const { clock, asked, paid, warming, begin } = setUp({
    async *ask(request): DeltaStream {
      asked.push(request);
      yield [{ type: "usage", input: 2, cacheRead: 50_000 }];
      await new Promise((resolve) => request.signal.addEventListener("abort", resolve));
      yield [{ type: "error", error: new ProviderError("aborted", "Request was aborted") }];
    },
  });
  begin();
  warming.end();
  expect(clock.pending).toBe(0);
  begin();
  await clock.advance(4.5 * MINUTE);
  expect(asked[0]?.signal.aborted).toBe(false);
  warming.end();
  await clock.advance(MINUTE);
  expect(asked[0]?.signal.aborted).toBe(true);
  // What was read until then is paid for; that it was given up is no trouble.
  expect(paid).toEqual([{ usage: expect.objectContaining({ cacheRead: 50_000 }) }]);
  expect(clock.pending).toBe(0);
});

test.each<[what: string, readonly Delta[], error?: string]>([
  ["had forgotten it already", [{ type: "usage", input: 2, cacheRead: 0, cacheWrite: 50_000 }]],
  ["says no", [{ type: "error", error: new ProviderError("rate_limit", "slow down") }], "slow down"],
])("a provider that %s is not asked again", async (_what, answer, error) => {
  const { clock, asked, paid, begin } = setUp({}, [answer]);
  begin();
  await clock.advance(60 * MINUTE);
  expect(asked).toHaveLength(1);
  expect(paid[0]?.error).toBe(error);
});

test("an answer that thinks all the same is ended with its first word", async () => {
  const read: string[] = [];
  const { clock, paid, begin } = setUp({
    times: 1,
    async *ask(): DeltaStream {
      yield [{ type: "usage", input: 2, cacheRead: 50_000, output: 1 }];
      yield [{ type: "grow", index: 0, text: "Hm" }];
      read.push("too much");
      yield [{ type: "done", stopReason: "stop" }];
    },
  });
  begin();
  await clock.advance(5 * MINUTE);
  expect(read).toEqual([]);
  expect(paid[0]?.usage).toMatchObject({ cacheRead: 50_000, output: 1 });
});
