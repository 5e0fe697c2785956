import type { Usage } from "@tiller/protocol/message";
import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { createSessionCounter } from "./session-stats.ts";
import type { EntryLog } from "./store/entry-log.ts";
import { assistant, bash, loadedLog, messageEntry, plain, storeOf, user } from "./store/test-sessions.ts";

const count = (log: EntryLog) => createSessionCounter().counts(log);
const spent = (input: number, total = 0): Usage => ({
  input,
  output: 10,
  cacheRead: 100,
  cacheWrite: 1000,
  totalTokens: input + 1110,
  cost: { input: 0, output: 0, cacheRead: 0, cacheWrite: 0, total },
});
const NOTHING = {
  userMessages: 0,
  assistantMessages: 0,
  toolCalls: 0,
  toolResults: 0,
  totalMessages: 0,
  tokens: { input: 0, output: 0, cacheRead: 0, cacheWrite: 0, total: 0 },
  cost: 0,
  premiumRequests: 0,
};
const result = {
  role: "toolResult" as const,
  toolCallId: "1",
  toolName: "x",
  content: [],
  isError: false,
  timestamp: 1,
};
const call = (id: string) => ({ type: "toolCall" as const, id, name: "x", arguments: {} });

describe("the statistics of a session", () => {
  it("of nothing are nothing", () => expect(count(loadedLog([]))).toEqual(NOTHING));

  it("count messages, calls, tokens and cost on all branches", () => {
    const log = loadedLog([
      messageEntry("a", null, user("hi")),
      messageEntry("b", "a", assistant("", { usage: spent(1, 0.5), content: [call("1"), call("2")] })),
      messageEntry("c", "b", result),
      messageEntry("d", "a", assistant("other branch", { usage: spent(2, 0.25) })),
      messageEntry("e", "d", bash("ls")),
      plain("f", "e", { type: "custom_message", customType: "x", content: "", display: true }),
      plain("g", "f", { type: "session_info", name: "x" }),
    ]);
    expect(count(log)).toEqual({
      ...NOTHING,
      userMessages: 1,
      assistantMessages: 2,
      toolCalls: 2,
      toolResults: 1,
      totalMessages: 6,
      tokens: { input: 3, output: 20, cacheRead: 200, cacheWrite: 2000, total: 2223 },
      cost: 0.75,
    });
  });

  it("count what summaries and side jobs have cost, and do not count them as messages", () => {
    const log = loadedLog([
      plain("a", null, { type: "compaction", summary: "", firstKeptEntryId: "", tokensBefore: 1, usage: spent(1, 1) }),
      plain("b", "a", { type: "branch_summary", summary: "", fromId: "root", usage: spent(2, 1) }),
      plain("c", "b", { type: "usage", kind: "title", provider: "p", model: "m", usage: spent(3, 1) }),
    ]);
    expect(count(log)).toMatchObject({ totalMessages: 0, tokens: { input: 6, total: 3336 }, cost: 3 });
  });

  const foreign: [what: string, line: object, expected: object][] = [
    [
      "no usage",
      messageEntry("a", null, { ...assistant("x"), usage: undefined } as never),
      { assistantMessages: 1, cost: 0 },
    ],
    [
      "half a usage",
      messageEntry("a", null, assistant("x", { usage: { input: 5 } as Usage })),
      { tokens: { ...NOTHING.tokens, input: 5, total: 5 }, cost: 0 },
    ],
    [
      "a usage of texts",
      messageEntry("a", null, assistant("x", { usage: { input: "5", cost: { total: null } } as never })),
      { tokens: NOTHING.tokens, cost: 0 },
    ],
    [
      "a null usage",
      messageEntry("a", null, { ...assistant("x"), usage: null } as never),
      { assistantMessages: 1, tokens: NOTHING.tokens },
    ],
    [
      "an answer that is a text",
      messageEntry("a", null, { ...assistant("x"), content: "text" } as never),
      { assistantMessages: 1, toolCalls: 0 },
    ],
    [
      "an answer without content",
      messageEntry("a", null, { ...assistant("x"), content: undefined } as never),
      { assistantMessages: 1 },
    ],
    [
      "content with a null",
      messageEntry("a", null, { ...assistant("x"), content: [null, call("1")] } as never),
      { toolCalls: 1 },
    ],
    ["a message without a message", plain("a", null, { type: "message" }), NOTHING],
    ["a system prompt", messageEntry("a", null, { role: "system", content: "x" } as never), NOTHING],
  ];
  for (const [what, line, expected] of foreign) {
    it(`take a file of another program with ${what}`, () => expect(count(loadedLog([line]))).toMatchObject(expected));
  }

  it("leave out what cannot be read", () => {
    const broken = JSON.stringify(messageEntry("aaaaaaaa", null, user("XX"))).replace("XX", "\u0001");
    expect(count(loadedLog([broken, messageEntry("b", "aaaaaaaa", user("hi"))]))).toMatchObject({ userMessages: 1 });
  });

  it("look at each entry once", () => {
    const store = storeOf(loadedLog([messageEntry("a", null, user("hi"))]));
    const looked: number[] = [];
    const watched: EntryLog = Object.create(store.log, {
      look: {
        value: (at: number) => {
          looked.push(at);
          return store.log.look(at);
        },
      },
    });
    const counter = createSessionCounter();
    counter.counts(watched);
    store.appendMessage(assistant("ho"));
    counter.counts(watched);
    counter.counts(watched);
    expect(looked).toEqual([0, 1]);
  });

  it("are the same when they are counted on and when they are counted from the beginning, also of another session", () => {
    const message = fc.oneof(
      fc.constantFrom(user("hi"), bash("ls"), result),
      fc.nat({ max: 9 }).map((n) => assistant("x", { usage: spent(n, n), content: n > 5 ? [call("1")] : [] })),
    );
    const steps = fc.array(fc.oneof({ weight: 9, arbitrary: message }, fc.constantFrom("count", "move", "other")));
    fc.assert(
      fc.property(fc.array(message, { maxLength: 5 }), steps, (before, after) => {
        const lines = before.map((given, at) => messageEntry(`l${at}`, at === 0 ? null : `l${at - 1}`, given));
        const store = storeOf(loadedLog(lines));
        const counter = createSessionCounter();
        for (const step of after) {
          if (step === "count") expect(counter.counts(store.log)).toEqual(count(store.log));
          else if (step === "move") store.moveTo(-1);
          else if (step === "other") void store.replace({ log: loadedLog(lines) });
          else store.appendMessage(step as Parameters<typeof store.appendMessage>[0]);
        }
        expect(counter.counts(store.log)).toEqual(count(store.log));
      }),
    );
  });

  it("begin anew with another session", () => {
    const counter = createSessionCounter();
    counter.counts(loadedLog([messageEntry("a", null, user("hi")), messageEntry("b", "a", user("ho"))]));
    expect(counter.counts(loadedLog([messageEntry("c", null, assistant("x"))]))).toMatchObject({
      userMessages: 0,
      assistantMessages: 1,
      totalMessages: 1,
    });
  });

  it("belong to whoever asks", () => {
    const log = loadedLog([messageEntry("a", null, user("hi"))]);
    const counter = createSessionCounter();
    counter.counts(log).tokens.total = 99;
    expect(counter.counts(log).tokens.total).toBe(0);
  });
});
