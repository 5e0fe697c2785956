import { ProviderError } from "@tiller/ai/errors";
import type { Delta, DeltaStream, ModelRequest } from "@tiller/ai/provider";
import type { Usage } from "@tiller/protocol/message";
import type { Model } from "@tiller/protocol/model";
import { expect, test } from "vitest";
import { FakeClock } from "../../../test/support/fake-clock.ts";
import type { Ground } from "./ground.ts";
import { joinCacheWarming, type WarmingParts } from "./join-cache-warming.ts";
import { assistant, loadedLog, messageEntry, storeOf, user } from "./session/store/test-sessions.ts";

/** Cache warming in a session: what it leaves there, and what in the session ends it. */

const model = {
  ...{ provider: "anthropic", id: "m", api: "anthropic-messages", baseUrl: "https://api.anthropic.com" },
  cost: { input: 3, output: 15, cacheRead: 0.3, cacheWrite: 3.75 },
} as Model;
const usage = { ...assistant("").usage, cacheWrite: 50_000 };
const answer: readonly Delta[] = [
  { type: "usage", input: 2, output: 1, cacheRead: 50_000 },
  { type: "done", stopReason: "length" },
];

function setUp(answers: (readonly Delta[])[] = []) {
  const clock = new FakeClock();
  const log = loadedLog([messageEntry("a", null, user("hi")), messageEntry("b", "a", assistant("Aye.", { usage }))]);
  const store = storeOf(log);
  const models = { model: { ...model } as Model, thinkingLevel: "low" };
  const limits: { exhausted?: string } = {};
  const [spent, told, asked]: [Usage[], Record<string, unknown>[], ModelRequest[]] = [[], [], []];
  const ports = {
    model: () => models.model,
    credentials: async () => ({ apiKey: "fresh", headers: { h: "1" } }),
    async *stream(request: ModelRequest): DeltaStream {
      asked.push(request);
      yield answers.shift() ?? answer;
    },
  };
  const parts = {
    store,
    models,
    pipeline: { emit: (event: Record<string, unknown>) => void told.push(event) },
    machinery: async () => ({ ports }),
    run: () => ({ spend: (one: Usage) => void spent.push(one), exhausted: limits.exhausted }),
  } as unknown as WarmingParts;
  const settings: Record<string, unknown> = { cacheRetention: "short", cacheWarmingTimes: 1 };
  const ground = { clock, settings: { get: (key: string) => settings[key] } } as unknown as Ground;
  const warming = joinCacheWarming(ground, parts);
  const request = { model, thinkingLevel: "low", apiKey: "old", messages: [] } as unknown as ModelRequest;
  warming.begin({ request, at: clock.now() });
  return { clock, store, models, limits, spent, told, asked, warming };
}

test("it is asked with a key of now; what it costs is an entry that is told, and no part of the conversation", async () => {
  const { clock, store, spent, told, asked } = setUp();
  const before = [...store.messages];
  await clock.advance(5 * 60_000);
  expect(asked).toEqual([expect.objectContaining({ apiKey: "fresh", headers: { h: "1" }, wantsNoAnswer: true })]);
  const entry = { type: "usage", kind: "cache_warm", provider: "anthropic", model: "m", usage: spent[0] };
  expect(spent[0]).toMatchObject({ cacheRead: 50_000, output: 1, cost: { total: 0.015021 } });
  expect(told).toEqual([{ type: "entry_appended", entry: expect.objectContaining(entry) }]);
  expect(store.branch().at(-1)).toMatchObject(entry);
  expect(store.messages).toEqual(before);
});

test("a failure is told, and costs nothing", async () => {
  const { clock, store, spent, told } = setUp([[{ type: "error", error: new ProviderError("auth", "no key") }]]);
  await clock.advance(5 * 60_000);
  expect([spent, store.branch()]).toEqual([[], expect.objectContaining({ length: 2 })]);
  expect(told).toEqual([
    expect.objectContaining({
      type: "notice",
      message: "The cache of anthropic/m is not kept warm any longer: no key",
    }),
  ]);
});

type World = ReturnType<typeof setUp>;
test.each<[what: string, happens: (world: World) => unknown, isAsked: boolean]>([
  ["nothing", () => undefined, true],
  ["a command of the host is added", ({ store }) => store.appendMessage(user("ls")), true],
  ["the session gets a name", ({ store }) => store.append({ type: "session_info", name: "N" }), true],
  ["another model", ({ models }) => (models.model = { ...model, id: "other" }), false],
  ["no model at all", ({ models }) => (models.model = null as never), false],
  ["another thinking level", ({ models }) => (models.thinkingLevel = "high"), false],
  ["nothing may be spent any more", ({ limits }) => (limits.exhausted = "enough"), false],
  ["another place in the tree", ({ store }) => store.moveTo(0), false],
  ["a summary took its place", ({ store }) => store.append(compaction), false],
  ["another session", async ({ store }) => store.replace({ log: loadedLog([]) }), false],
  ["something begins", ({ warming }) => warming.end(), false],
])("meanwhile: %s", async (_what, happens, isAsked) => {
  const world = setUp();
  await happens(world);
  await world.clock.advance(5 * 60_000);
  expect(world.asked).toHaveLength(isAsked ? 1 : 0);
});

const compaction = { type: "compaction" as const, summary: "s", firstKeptEntryId: "b", tokensBefore: 1 };
