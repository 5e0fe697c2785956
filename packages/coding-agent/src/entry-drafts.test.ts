import { describe, expect, test } from "vitest";
import { createDraftKeeper } from "./entry-drafts.ts";
import { loadedLog, messageEntry, storeOf, user } from "./session/store/test-sessions.ts";

function desk() {
  const store = storeOf(loadedLog([messageEntry("a", null, user("hello"))]));
  const told: string[] = [];
  const keeper = createDraftKeeper({
    store,
    clock: { now: () => 7 },
    append: store.append,
    pipeline: {
      emit(event) {
        told.push(`${event.type} ${event.type === "extension_error" ? `${event.event}: ${event.error}` : ""}`);
        return undefined;
      },
    },
  });
  const types = () => store.branch().map(({ type }) => type);
  return { store, told, keeper, keep: keeper.keep, types };
}

const note = { type: "custom_message", customType: "note", content: "more", display: true } as const;

describe("what extensions want to have in the session", () => {
  test("is added; messages are given back, for they are told and kept with the next turn", () => {
    const { keeper, told, types } = desk();
    const drafts = [{ type: "custom", customType: "mark", data: 1 } as const, note];
    const made = keeper.keep(drafts, "turn_end");
    expect(made).toEqual([{ role: "custom", customType: "note", content: "more", display: true, timestamp: 7 }]);
    expect([types(), told]).toEqual([["message", "custom"], []]);
  });

  test("takes an entry away from the model, or gives it other words", () => {
    const { keep, store } = desk();
    keep([{ type: "context_edit", targetId: "a", replacement: "bye" }], "turn_end");
    expect(store.messages).toMatchObject([{ role: "user", content: "bye" }]);
    keep([{ type: "context_edit", targetId: "a", replacement: null }], "turn_end");
    expect(store.messages).toEqual([]);
  });

  test("cuts the conversation, with or without something that is kept", () => {
    const { keep, store } = desk();
    const cut = { type: "compaction", summary: "short", tokensBefore: 9 } as const;
    keep([{ ...cut, firstKeptEntryId: "a" }], "agent_before_settle");
    expect(store.messages).toMatchObject([{ summary: "short" }, { role: "user" }]);
    keep([{ ...cut, summary: "nothing", firstKeptEntryId: null }], "agent_before_settle");
    expect(store.messages).toMatchObject([{ summary: "nothing" }]);
    expect(store.messages).toHaveLength(1);
    expect(store.branch().at(-1)).toMatchObject({ fromHook: true });
  });

  test("about entries that are not there is told, and the rest is done", () => {
    const { keep, told, types } = desk();
    const wrong = [
      { type: "context_edit", targetId: "x", replacement: null },
      { type: "compaction", summary: "s", firstKeptEntryId: "y", tokensBefore: 0 },
      { type: "custom", customType: "mark" },
    ] as const;
    keep(wrong, "turn_end");
    expect(told).toEqual([
      'extension_error turn_end: there is no entry "x" whose words could be changed',
      'extension_error turn_end: there is no entry "y" from which on to keep the conversation',
    ]);
    expect(types()).toEqual(["message", "custom"]);
  });
});

test("messages of this process are known by their entries, those of a file are not", () => {
  const { keeper, store } = desk();
  const said = user("again");
  store.appendMessage(said);
  expect(keeper.idOf(said)).toBe(store.leafId);
  expect(keeper.idOf(store.messages[0]!)).toBeUndefined();
  expect(keeper.idOf(user("again"))).toBeUndefined();
});
