import type { SessionEntry } from "@tiller/protocol/session-entry";
import { describe, expect, it } from "vitest";
import { contextMessages, contextPositions } from "./context.ts";
import { loadedLog, messageEntry, plain, START, user } from "./test-sessions.ts";

const ask = (id: string) => messageEntry(id, null, user(id));
const cut = (id: string, firstKeptEntryId: string) =>
  plain(id, null, { type: "compaction", summary: `sum ${id}`, firstKeptEntryId, tokensBefore: 9 });
const level = (id: string) => plain(id, null, { type: "thinking_level_change", thinkingLevel: "low" });
const edit = (id: string, targetId: string, replacement: unknown) =>
  plain(id, null, { type: "context_edit", targetId, replacement });
const note = (id: string) => plain(id, null, { type: "custom", customType: "x" });

/** A path of these entries; those that are shown by their ids, in the order in which they are shown. */
function shown(...path: ReturnType<typeof ask>[]): string {
  const log = loadedLog(path);
  return contextPositions(log, [...path.keys()])
    .map(log.id)
    .join(" ");
}

describe("the conversation on a path", () => {
  const cases: [story: string, path: ReturnType<typeof ask>[], ids: string][] = [
    ["of nothing is nothing", [], ""],
    ["is its messages", [ask("a"), level("l"), ask("b"), note("n"), ask("c")], "a b c"],
    [
      "begins with a summary, then what was kept, then what follows",
      [ask("a"), ask("b"), cut("x", "b"), ask("c")],
      "x b c",
    ],
    ["keeps from an entry on that is no message", [ask("a"), level("l"), ask("b"), cut("x", "l"), ask("c")], "x b c"],
    [
      "keeps nothing when the first kept entry is no id",
      [ask("a"), cut("x", { toString: "x" } as unknown as string), ask("b")],
      "x b",
    ],
    ["keeps nothing when the first kept entry is nowhere", [ask("a"), cut("x", "nowhere"), ask("b")], "x b"],
    ["keeps nothing when it comes long after", [ask("a"), cut("x", "c"), ask("b"), ask("c")], "x b c"],
    ["keeps nothing when it comes later", [ask("a"), cut("x", "b"), ask("b")], "x b"],
    ["keeps nothing when it names itself", [ask("a"), cut("x", "x"), ask("b")], "x b"],
    [
      "counts from the last of several compactions",
      [ask("a"), cut("x", "a"), ask("b"), cut("y", "b"), ask("c")],
      "y b c",
    ],
    ["shows no summary in the middle", [ask("a"), cut("x", "a"), ask("b"), cut("y", "a"), ask("c")], "y a b c"],
    ["is without what was taken out of it", [ask("a"), ask("b"), edit("e", "a", null), ask("c")], "b c"],
    ["keeps what was only said anew", [ask("a"), edit("e", "a", "A"), ask("b")], "a b"],
    ["may be a summary alone", [ask("a"), cut("x", "nowhere")], "x"],
  ];
  for (const [story, path, ids] of cases) it(story, () => expect(shown(...path)).toBe(ids));

  it("takes a kept entry only from its own path", () => {
    const log = loadedLog([ask("a"), ask("elsewhere"), cut("x", "elsewhere"), ask("b")]);
    expect(contextPositions(log, [0, 2, 3])).toEqual([2, 3]);
  });

  it("counts from the compaction before when the last one cannot be read", () => {
    const broken = JSON.stringify(cut("broken00", "c")).replace("sum", "\u0001");
    const log = loadedLog([ask("a"), ask("b"), cut("x", "b"), ask("c"), broken, ask("d")]);
    expect(contextPositions(log, [0, 1, 2, 3, 4, 5]).map(log.id)).toEqual(["x", "b", "c", "d"]);
  });
});

describe("the messages of a conversation", () => {
  it("are one for each entry, without those that cannot be read", () => {
    const broken = JSON.stringify(messageEntry("bbbbbbbb", null, user("XX"))).replace("XX", "\u0001");
    const log = loadedLog([ask("a"), broken, cut("x", "a"), ask("c")]);
    expect(contextMessages(log, [2, 0, 1, 3])).toEqual([
      { role: "compactionSummary", summary: "sum x", tokensBefore: 9, timestamp: START },
      user("a"),
      user("c"),
    ]);
  });

  it("have the words that were given to them last", () => {
    const answer = messageEntry("b", null, { ...user("x"), role: "assistant", content: [] } as never);
    const path = [
      ask("a"),
      answer,
      edit("e1", "a", null),
      edit("e2", "a", "A"),
      edit("e3", "b", "B"),
      edit("e4", "b", 7),
    ];
    const log = loadedLog(path);
    const positions = contextPositions(log, [...path.keys()]);
    expect(contextMessages(log, positions, [...path.keys()])).toMatchObject([{ content: "A" }, { content: [] }]);
    expect(contextMessages(log, positions, [0, 1, 4])).toMatchObject([{}, { content: [{ type: "text", text: "B" }] }]);
  });

  it("are the same objects each time", () => {
    const log = loadedLog([ask("a"), cut("x", "a")]);
    const [first, second] = [contextMessages(log, [1, 0]), contextMessages(log, [1, 0])];
    for (const [at, message] of first.entries()) expect(second[at]).toBe(message);
    expect((log.entry(0) as Extract<SessionEntry, { type: "message" }>).message).toBe(first[1]);
  });
});
