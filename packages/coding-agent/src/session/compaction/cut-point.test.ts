import type { AgentMessage } from "@tiller/protocol/message";
import fc from "fast-check";
import { describe, expect, it } from "vitest";
import type { NewEntry } from "../store/session-store.ts";
import { type CutOptions, findCut, uncompacted } from "./cut-point.ts";
import { assistant, branch, compaction, read, result, tokens, user } from "./test-entries.ts";

type Item = AgentMessage | NewEntry | string;

/** The numbers of the items that are summarised, of the turn's beginning, and of what is kept. */
function cutOf(items: Item[], keepTokens: number, mayKeepNothing = false) {
  const { fromLeaf, entries } = branch(...items);
  const cut = findCut(uncompacted(fromLeaf()).entries, { keepTokens, mayKeepNothing });
  const numbers = (messages: readonly AgentMessage[]): string =>
    messages.map((message) => entries.findIndex((e) => e.type === "message" && e.message === message) + 1).join(" ");
  return (
    cut && {
      first: cut.firstKeptEntryId,
      history: numbers(cut.history),
      prefix: numbers(cut.turnPrefix),
      kept: numbers(cut.kept),
    }
  );
}

const ask = (size = 10) => user(tokens(size));
const say = (size = 10) => assistant(tokens(size));
const callRead = (id: string) => assistant(tokens(5), {}, [read(id)]);

describe("where a conversation is cut", () => {
  it("goes back until there is enough, and cuts at the next message that is no result", () => {
    expect(cutOf([ask(), say(), ask(), say(), ask(), say()], 15)).toEqual({
      first: "e5",
      history: "1 2 3 4",
      prefix: "",
      kept: "5 6",
    });
  });

  it("never at a tool result: the call before it would be lost, so it cuts behind", () => {
    expect(cutOf([ask(), callRead("1"), result("1", tokens(10)), say(10)], 15)).toEqual({
      first: "e4",
      history: "",
      prefix: "1 2 3",
      kept: "4",
    });
  });

  it("keeps more than asked for rather than a result without its call", () => {
    expect(cutOf([ask(), say(), ask(), callRead("1"), result("1", tokens(50))], 15)).toEqual({
      first: "e4",
      history: "1 2",
      prefix: "3",
      kept: "4 5",
    });
  });

  it("does not keep a huge message for its own sake, but a question that waits for its answer", () => {
    expect(cutOf([ask(), say(), ask(500), say()], 15)).toEqual({ first: "e4", history: "1 2", prefix: "3", kept: "4" });
    expect(cutOf([ask(), say(), ask(500)], 15)).toMatchObject({ history: "1 2", kept: "3" });
  });

  it("not at a message that stands between a call and its result", () => {
    const items = [ask(), say(), callRead("1"), user("beside"), result("1", tokens(20)), say(1)];
    expect(cutOf(items, 5)?.kept).toBe("6");
    expect(cutOf(items.slice(0, 5), 5)?.kept).toBe("3 4 5");
  });

  it("in the middle of a turn summarises the beginning of the turn apart", () => {
    expect(cutOf([ask(), say(), ask(), callRead("1"), result("1", "x"), say(20)], 15)).toEqual({
      first: "e6",
      history: "1 2",
      prefix: "3 4 5",
      kept: "6",
    });
  });

  it("pulls what was set right before it into what is kept", () => {
    expect(cutOf([ask(), say(), "low", "high", ask(), say()], 15)?.first).toBe("e3");
  });

  it("keeps the last exchange when all of it could be kept", () => {
    expect(cutOf([ask(), say(), ask(), say()], 1000)).toMatchObject({ history: "1 2", kept: "3 4" });
  });

  it("keeps the last answer when there is but one exchange", () => {
    expect(cutOf(["low", ask(), callRead("1"), result("1", "x"), say()], 1000)).toEqual({
      first: "e5",
      history: "",
      prefix: "2 3 4",
      kept: "5",
    });
  });

  it("may summarise one exchange whole", () => {
    expect(cutOf([ask(), say()], 1000, true)).toEqual({ first: undefined, history: "1 2", prefix: "", kept: "" });
    expect(cutOf([ask(), say(), "low"], 1000, true)).toEqual({ first: "e3", history: "1 2", prefix: "", kept: "" });
  });

  it("is nowhere when there is nothing before", () => {
    expect(cutOf([], 10)).toBeUndefined();
    expect(cutOf(["low"], 10, true)).toBeUndefined();
    expect(cutOf([ask()], 1)).toBeUndefined();
    expect(cutOf([callRead("1"), result("1", "x")], 1)).toBeUndefined();
  });

  it("again begins where the compaction before began to keep", () => {
    const items = [ask(), say(), ask(), say(), compaction("e3"), ask(), say()];
    expect(cutOf(items, 15)).toEqual({ first: "e6", history: "3 4", prefix: "", kept: "6 7" });
  });

  it("may go through what the compaction before has kept", () => {
    const items = [ask(), say(), ask(), say(), compaction("e2"), ask(), say()];
    expect(cutOf(items, 25)).toEqual({ first: "e4", history: "2", prefix: "3", kept: "4 6 7" });
  });
});

describe("what a compaction has not replaced", () => {
  it("is all of it at first", () => {
    const { fromLeaf } = branch("low", ask());
    expect(uncompacted(fromLeaf())).toMatchObject({ previous: undefined, hasNews: true });
    expect(uncompacted(fromLeaf()).entries.map(({ id }) => id)).toEqual(["e1", "e2"]);
  });
  it("has no news when only settings came after it", () => {
    expect(uncompacted(branch(ask(), compaction("e1"), "low").fromLeaf()).hasNews).toBe(false);
    expect(uncompacted(branch(ask(), compaction("e1"), "low", ask()).fromLeaf()).hasNews).toBe(true);
  });
  it("is only what came after it when the first kept entry is not on the path", () => {
    const { entries } = uncompacted(branch(ask(), say(), compaction("elsewhere"), ask()).fromLeaf());
    expect(entries.map(({ id }) => id)).toEqual(["e4"]);
  });
  it("is without what was edited away", () => {
    const edit: NewEntry = { type: "context_edit", targetId: "e2", replacement: null };
    const { entries } = uncompacted(branch(ask(), say(), edit, ask()).fromLeaf());
    expect(entries.map(({ id }) => id)).toEqual(["e1", "e3", "e4"]);
  });
});

/** Any conversation that can come about: turns with calls and their results, settings, notes and compactions in between. */
const size = fc.integer({ min: 0, max: 30 });
const step: fc.Arbitrary<Item[]> = fc.oneof(
  size.map((n) => [user(tokens(n))]),
  size.map((n) => [assistant(tokens(n))]),
  fc.constant<Item[]>(["low"]),
  fc.record({ calls: fc.integer({ min: 1, max: 3 }), n: size, between: fc.boolean(), at: fc.nat() }).map((turn) => {
    const ids = Array.from({ length: turn.calls }, (_, i) => `c${turn.at}-${i}`);
    return [
      assistant(
        tokens(turn.n),
        {},
        ids.map((id) => read(id)),
      ),
      ...(turn.between ? [user("beside")] : []),
      ...ids.map((id) => result(id, tokens(turn.n))),
    ];
  }),
  fc.constant<Item[]>([compaction("e2")]),
);
const options: fc.Arbitrary<CutOptions> = fc.record({ keepTokens: size, mayKeepNothing: fc.boolean() });

describe("any cut", () => {
  it("keeps the end, takes something away, and separates no call from its results", () => {
    fc.assert(
      fc.property(fc.array(step, { maxLength: 12 }), options, (steps, given) => {
        const { entries, fromLeaf } = branch(...steps.flat());
        const part = uncompacted(fromLeaf());
        const all = part.entries.flatMap((entry) => (entry.type === "message" ? [entry.message] : []));
        const cut = findCut(part.entries, given);
        if (!cut) return;
        expect([...cut.history, ...cut.turnPrefix, ...cut.kept]).toEqual(all);
        expect(cut.history.length + cut.turnPrefix.length).toBeGreaterThan(0);
        if (!given.mayKeepNothing) expect(cut.kept.length).toBeGreaterThan(0);
        const gone = callsIn([...cut.history, ...cut.turnPrefix]);
        const here = callsIn(cut.kept);
        for (const message of cut.kept) {
          if (message.role === "toolResult")
            expect(gone.has(message.toolCallId) && !here.has(message.toolCallId)).toBe(false);
        }
        // Whoever reads the file finds the kept ones from the entry that is named.
        if (cut.kept.length === 0) return;
        const at = entries.findIndex(({ id }) => id === cut.firstKeptEntryId);
        const found = entries.slice(at).flatMap((entry) => (entry.type === "message" ? [entry.message] : []));
        expect(found).toEqual(cut.kept);
      }),
      { numRuns: 500 },
    );
  });
});

function callsIn(messages: readonly AgentMessage[]): Set<string> {
  return new Set(
    messages.flatMap((message) =>
      message.role === "assistant" ? message.content.flatMap((b) => (b.type === "toolCall" ? [b.id] : [])) : [],
    ),
  );
}
