import { ProviderError } from "@tiller/ai/errors";
import type { Delta, ModelRequest, StreamModel } from "@tiller/ai/provider";
import { createScriptModel, parseScript } from "@tiller/ai/providers/script";
import type { Clock } from "@tiller/protocol/clock";
import type { Usage } from "@tiller/protocol/message";
import { describe, expect, it } from "vitest";
import { createAskModel } from "./ask-model.ts";
import { model, user } from "./test-entries.ts";

const request = { systemPrompt: "sum up", messages: [user("talk")], maxTokens: 77 };

/** Timers fire when the test says so. */
function asking(turns: unknown[], credentials?: () => Promise<{ apiKey: string }>, stream?: StreamModel) {
  const timers: { ms: number; fn: () => void }[] = [];
  const clock: Clock = {
    now: () => 0,
    after(ms, fn) {
      timers.push({ ms, fn });
      return () => undefined;
    },
  };
  const script = createScriptModel(parseScript(JSON.stringify({ turns })));
  const requests: ModelRequest[] = [];
  const told: string[] = [];
  const spent: Usage[] = [];
  const ask = createAskModel({
    ports: {
      model: () => model,
      thinkingLevel: () => "low",
      credentials: credentials ?? (() => ({ apiKey: "k" })),
      stream(asked) {
        requests.push(asked);
        return (stream ?? script)(asked);
      },
      cwd: "/w",
      clock,
    },
    retrySettings: () => ({ maxRetries: 3, baseDelayMs: 100, maxDelayMs: 1000 }),
    lot: () => 0,
    onRetry: (text) => told.push(text),
    onUsage: (usage) => spent.push(usage),
  });
  return { ask, requests, told, spent, timers };
}

const tick = () => new Promise((resolve) => setTimeout(resolve, 5));
const say = (text: string) => ({ steps: [{ thinking: "hm" }, { text }] });
const fail = (status: number) => ({ steps: [{ error: { status, message: "no" } }] });
const never = new AbortController().signal;

describe("a question to the model", () => {
  it("has no tools, the current model and its key, and the answer is its text", async () => {
    const { ask, requests, spent } = asking([say("notes")]);
    expect(await ask(request, never)).toMatchObject({ text: "notes", usage: { output: expect.any(Number) } });
    expect(requests[0]).toMatchObject({ ...request, model, tools: [], thinkingLevel: "low", apiKey: "k" });
    expect(spent).toHaveLength(1);
  });

  it.each<[most: string, batch: Delta[]]>([
    ["33554432 characters", [{ type: "grow", index: 0, text: "x".repeat(1024 * 1024) }]],
    ["1000 blocks", [{ type: "open", index: 1, block: { type: "text" } }]],
  ])("is ended after %s, and what came is no summary", async (most, batch) => {
    const LAST = 1100;
    let asked = 0;
    async function* stream(): AsyncGenerator<Delta[], void, undefined> {
      yield [{ type: "open", index: 0, block: { type: "text" } }];
      for (; asked < LAST; asked++) yield batch;
      yield [{ type: "done", stopReason: "stop" }];
    }
    const { ask, told } = asking([say("not asked")], undefined, stream);
    const answer = await ask(request, never);
    expect(answer).toMatchObject({ error: { message: expect.stringContaining(`was ended after ${most}`) } });
    expect(told).toEqual([]);
    expect(asked).toBeLessThan(LAST);
  });

  it("is asked again, at most twice, when the failure may pass", async () => {
    const { ask, told, timers } = asking([fail(529), fail(529), say("notes")]);
    const answer = ask(request, never);
    await tick();
    timers.shift()?.fn();
    await tick();
    expect(timers[0]?.ms).toBe(200);
    timers.shift()?.fn();
    expect(await answer).toMatchObject({ text: "notes" });
    expect(told).toEqual([
      "The summary failed (no); trying again in 0.1 s, 1 of 2",
      "The summary failed (no); trying again in 0.2 s, 2 of 2",
    ]);
  });

  it("gives up after the second time", async () => {
    const { ask, timers, requests } = asking([fail(529), fail(529), fail(529), say("too late")]);
    const answer = ask(request, never);
    for (let i = 0; i < 2; i++) {
      await tick();
      timers.shift()?.fn();
    }
    expect(await answer).toMatchObject({ error: { kind: "overloaded" } });
    expect(requests).toHaveLength(3);
  });

  it("is not asked again when the failure does not pass", async () => {
    const { ask, timers } = asking([fail(401)]);
    expect(await ask(request, never)).toMatchObject({ error: { kind: "auth" } });
    expect(timers).toEqual([]);
  });

  it.each([
    ["while the model is silent", [{ steps: [{ hang: true }] }], undefined],
    ["during the pause", [fail(529)], undefined],
    ["while the key is looked up", [say("x")], () => new Promise<{ apiKey: string }>(() => undefined)],
  ])("is over at once when it is aborted %s", async (_when, turns, credentials) => {
    const { ask } = asking(turns, credentials);
    const controller = new AbortController();
    const answer = ask(request, controller.signal);
    await tick();
    controller.abort();
    expect(await answer).toMatchObject({ error: { kind: "aborted" } });
  });

  it("without a key is an error, not a throw", async () => {
    const { ask } = asking([say("x")], async () => {
      throw new ProviderError("auth", "No API key for p");
    });
    expect(await ask(request, never)).toMatchObject({ error: { kind: "auth", message: "No API key for p" } });
  });
});
