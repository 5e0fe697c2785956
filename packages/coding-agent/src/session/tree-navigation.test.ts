import type { SessionEntry } from "@tiller/protocol/session-entry";
import { describe, expect, it } from "vitest";
import type { SessionDisk } from "./store/session-disk.ts";
import { createSessionStore } from "./store/session-store.ts";
import { assistant, countingIds, entriesOf, loadedLog, messageEntry, stillClock, user } from "./store/test-sessions.ts";
import { testHooks } from "./test-hooks.ts";
import { createTreeNavigation, type TreeNavigationOptions } from "./tree-navigation.ts";

/** a - b - c - d, and e below b. The leaf is e. */
const lines = [
  messageEntry("a", null, user("first")),
  messageEntry("b", "a", assistant("answer")),
  messageEntry("c", "b", user("second")),
  messageEntry("d", "c", assistant("one way")),
  messageEntry("e", "b", assistant("other way")),
];

interface Setting {
  hooks?: Parameters<typeof testHooks>[0];
  summarize?: TreeNavigationOptions["summarize"];
  problem?: string;
}

function desk({ hooks, summarize, problem }: Setting = {}) {
  const notes: string[] = [];
  const disk: SessionDisk = {
    path: "/s",
    isInUse: problem !== undefined,
    write: () => undefined,
    problem: () => (problem === undefined ? undefined : Promise.resolve(problem)),
    endTurn: () => undefined,
    close: async () => undefined,
  };
  const store = createSessionStore({
    clock: stillClock,
    ids: countingIds(),
    first: { log: loadedLog(lines), path: "/s", disk },
  });
  const appended: SessionEntry[] = [];
  const subject = createTreeNavigation({
    store,
    hooks: hooks && testHooks(hooks, notes),
    stop: async () => void notes.push(`stop at ${store.leafId}`),
    summarize:
      summarize ??
      (async (entries, focus) => {
        notes.push(`summarize ${entries.map(({ id }) => id).join(" ")}${focus ? ` about ${focus}` : ""}`);
        return { summary: "sum", details: { files: [] } };
      }),
    adopt: () => notes.push(`adopt at ${store.leafId}`),
    onAppended: (entry) => appended.push(entry),
  });
  return { subject, store, notes, appended, added: () => entriesOf(store.log).slice(lines.length) };
}

describe("going to another place in the tree", () => {
  it("goes on from an entry, and writes there that it did", async () => {
    const { subject, store, notes, appended, added } = desk();
    expect(await subject.navigate({ entryId: "d" })).toEqual({ cancelled: false, leafId: "00000001" });
    expect(added()).toMatchObject([{ type: "custom", customType: "tiller.leaf", parentId: "d", data: { from: "e" } }]);
    expect(appended).toEqual(added());
    expect(notes).toEqual(["stop at e", "adopt at 00000001"]);
    expect(store.messages).toHaveLength(4);
  });

  it("goes on before a message of the user's, and gives back its text", async () => {
    const { subject, store, added } = desk();
    expect(await subject.navigate({ entryId: "c" })).toMatchObject({ cancelled: false, text: "second" });
    expect(added()).toMatchObject([{ customType: "tiller.leaf", parentId: "b" }]);
    expect(store.messages).toHaveLength(2);
  });

  it("begins anew before the first message", async () => {
    const { subject, store, added } = desk();
    expect(await subject.navigate({ entryId: "a" })).toMatchObject({ text: "first" });
    expect(added()).toMatchObject([{ parentId: null }]);
    expect(store.messages).toEqual([]);
  });

  it("stays where it is when it is there already", async () => {
    const { subject, notes, added } = desk();
    expect(await subject.navigate({ entryId: "e" })).toEqual({ cancelled: false, leafId: "e" });
    expect([added(), notes]).toEqual([[], ["stop at e"]]);
  });

  it("is refused for an entry that is not there", async () => {
    const { subject, notes } = desk();
    expect(await subject.navigate({ entryId: "z" })).toEqual({ refused: "Entry not found: z" });
    expect(notes).toEqual([]);
  });

  it("is not done when an extension says no", async () => {
    const { subject, store, notes } = desk({ hooks: { session_before_tree: () => ({ cancel: true }) } });
    expect(await subject.navigate({ entryId: "d", summarize: true })).toEqual({ cancelled: true, leafId: "e" });
    expect(store.leafId).toBe("e");
    expect(notes).toHaveLength(1);
    const asked: unknown = JSON.parse(notes[0]!.replace("session_before_tree ", ""));
    expect(asked).toMatchObject({ preparation: { targetId: "d", oldLeafId: "e", userWantsSummary: true } });
  });

  it("is refused while somebody else is using the session", async () => {
    const { subject, store, notes } = desk({ problem: "in use" });
    expect(await subject.navigate({ entryId: "d" })).toEqual({ refused: "in use" });
    expect(await subject.setLabel("d", "x")).toEqual({ refused: "in use" });
    expect([notes, store.leafId]).toEqual([[], "e"]);
  });
});

describe("the summary of the branch that is left", () => {
  const ways: [from: string, to: string, entries: string, fromId: string][] = [
    ["e", "d", "e", "d"],
    ["d", "e", "c d", "e"],
    ["d", "c", "c d", "b"],
    ["d", "a", "a b c d", "root"],
    ["d", "b", "c d", "b"],
  ];
  for (const [from, to, entries, fromId] of ways) {
    it(`from ${from} to ${to} is about ${entries}, and stands at ${fromId}`, async () => {
      const { subject, store, notes, added } = desk();
      store.moveTo(store.log.find(from));
      const request = { entryId: to, summarize: true, customInstructions: "files" };
      expect(await subject.navigate(request)).toMatchObject({ cancelled: false, summary: "sum", leafId: "00000001" });
      expect(notes[1]).toBe(`summarize ${entries} about files`);
      const parentId = fromId === "root" ? null : fromId;
      expect(added()).toMatchObject([
        { type: "branch_summary", parentId, fromId, summary: "sum", details: { files: [] } },
      ]);
      expect(store.messages.at(-1)).toMatchObject({ role: "branchSummary", summary: "sum" });
    });
  }

  it("is not made when nothing is left behind", async () => {
    const { subject, store, notes, added } = desk();
    store.moveTo(1);
    expect(await subject.navigate({ entryId: "d", summarize: true })).toMatchObject({ cancelled: false });
    expect(notes.filter((note) => note.startsWith("summarize"))).toEqual([]);
    expect(added()).toMatchObject([{ customType: "tiller.leaf" }]);
  });

  it("that is refused leaves everything where it is", async () => {
    const { subject, store, notes } = desk({ summarize: async () => ({ refused: "no model" }) });
    expect(await subject.navigate({ entryId: "d", summarize: true })).toEqual({ refused: "no model" });
    expect([store.leafId, notes]).toEqual(["e", ["stop at e"]]);
  });

  it("can be given up", async () => {
    const { subject, store } = desk({
      summarize: (_entries, _focus, signal) =>
        new Promise((resolve) => signal.addEventListener("abort", () => resolve({ refused: "given up" }))),
    });
    const navigated = subject.navigate({ entryId: "d", summarize: true });
    await new Promise((resolve) => setImmediate(resolve));
    subject.abort();
    expect(await navigated).toEqual({ refused: "given up" });
    expect(store.leafId).toBe("e");
    subject.abort();
  });
});

describe("names for places and for the session", () => {
  it("labels are trimmed; an empty one takes it away", async () => {
    const { subject, appended } = desk();
    expect(await subject.setLabel("b", "  here ")).toEqual({ label: "here" });
    expect([...subject.labels()]).toEqual([["b", "here"]]);
    expect(await subject.setLabel("b", "  ")).toEqual({ label: undefined });
    expect(await subject.setLabel("b", undefined)).toEqual({ label: undefined });
    expect([...subject.labels()]).toEqual([]);
    expect(appended.map(({ type }) => type)).toEqual(["label", "label", "label"]);
    expect(await subject.setLabel("z", "x")).toEqual({ refused: "Entry not found: z" });
  });

  it("a name is trimmed, and not empty", () => {
    const { subject, store } = desk();
    expect(subject.setName("  work ")).toEqual({ name: "work" });
    expect(store.name).toBe("work");
    expect(subject.setName("  ")).toEqual({ refused: "Session name cannot be empty" });
    expect(store.name).toBe("work");
  });

  it("a label or a name does not change the conversation", async () => {
    const { subject, store } = desk();
    const before = [...store.messages];
    await subject.setLabel("b", "x");
    subject.setName("y");
    expect(store.messages).toEqual(before);
  });
});

it("the messages of the user's are those with a text, on all branches, in the order of the file", () => {
  const { subject, store } = desk();
  store.appendMessage({ role: "user", content: [{ type: "image", data: "", mimeType: "" }], timestamp: 1 });
  store.appendMessage({ role: "user", content: [{ type: "text", text: "parts" }], timestamp: 1 });
  expect(subject.userMessages()).toEqual([
    { entryId: "a", text: "first" },
    { entryId: "c", text: "second" },
    { entryId: store.leafId, text: "parts" },
  ]);
});
