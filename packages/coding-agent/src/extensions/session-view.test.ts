import type { AgentMessage } from "@tiller/protocol/message";
import type { SessionEntry } from "@tiller/protocol/session-entry";
import { describe, expect, test } from "vitest";
import { createSessionView, type SessionSource, treeOf } from "./session-view.ts";

const entry = (id: string, parentId: string | null): SessionEntry =>
  ({ type: "custom", customType: "log", id, parentId, timestamp: "2026-01-01T00:00:00.000Z" }) as SessionEntry;

/** a - b - c, with d beside c; the leaf is d. */
const ENTRIES = [entry("a", null), entry("b", "a"), entry("c", "b"), entry("d", "b")];

function view(more: Partial<SessionSource> = {}) {
  return createSessionView({
    cwd: () => "/sea",
    sessionId: () => "session-1",
    sessionFile: () => "/logs/1.jsonl",
    sessionDir: () => "/logs",
    name: () => "Aurora",
    header: () => ({ type: "session", version: 3, id: "session-1", timestamp: "", cwd: "/sea" }),
    entries: () => ENTRIES,
    entry: (id) => ENTRIES.find((candidate) => candidate.id === id),
    leafId: () => "d",
    labels: () => new Map([["b", "home"]]),
    messages: () => [{ role: "user", content: "hi", timestamp: 0 } as AgentMessage],
    choice: () => ({ thinkingLevel: "low", model: null }),
    ...more,
  });
}
const ids = (entries: readonly SessionEntry[]): string => entries.map(({ id }) => id).join("");

describe("the session as extensions see it", () => {
  test("who it is", () => {
    const session = view();
    expect([
      session.getCwd(),
      session.getSessionId(),
      session.getSessionFile(),
      session.getSessionDir(),
      session.getSessionName(),
      session.isPersisted(),
      session.getHeader().version,
    ]).toEqual(["/sea", "session-1", "/logs/1.jsonl", "/logs", "Aurora", true, 3]);
    expect(view({ sessionFile: () => undefined }).isPersisted()).toBe(false);
  });

  test("what is in it: all entries, one, the children of one, the leaf", () => {
    const session = view();
    expect(ids(session.getEntries())).toBe("abcd");
    expect(session.getEntry("c")?.parentId).toBe("b");
    expect(session.getEntry("nowhere")).toBeUndefined();
    expect(ids(session.getChildren("b"))).toBe("cd");
    expect(ids(session.getChildren(null))).toBe("a");
    expect([session.getLeafId(), session.getLeafEntry()?.id]).toEqual(["d", "d"]);
    expect([session.getLabel("b"), session.getLabel("c")]).toEqual(["home", undefined]);
  });

  test("an empty one", () => {
    const session = view({ entries: () => [], entry: () => undefined, leafId: () => null });
    expect([session.getLeafEntry(), session.getBranch(), session.getTree()]).toEqual([undefined, [], []]);
  });

  test.each([
    ["the leaf", undefined, "abd"],
    ["another entry", "c", "abc"],
    ["the root", "a", "a"],
    ["an entry that is not there", "nowhere", ""],
  ])("the branch that ends at %s", (_what, fromId, path) => {
    expect(ids(view().getBranch(fromId))).toBe(path);
  });

  test("a branch of a damaged file ends where its entries run in a circle or out", () => {
    const circle = [entry("a", "b"), entry("b", "a")];
    const find = (list: SessionEntry[]) => (id: string) => list.find((candidate) => candidate.id === id);
    expect(ids(view({ entry: find(circle) }).getBranch("b"))).toBe("ab");
    expect(ids(view({ entry: find([entry("z", "gone")]) }).getBranch("z"))).toBe("z");
  });

  test("what the model sees", () => {
    const { messages, thinkingLevel, model } = view().buildSessionContext();
    expect([messages.length, thinkingLevel, model]).toEqual([1, "low", null]);
  });
});

test("the tree: children in the order of the file, labels with their entries, and lost ones as roots", () => {
  const tree = treeOf([...ENTRIES, entry("e", "gone")], new Map([["b", "home"]]));
  const shown = (nodes: typeof tree): string =>
    nodes.map(({ entry, label, children }) => `${entry.id}${label ?? ""}(${shown(children)})`).join("");
  expect(shown(tree)).toBe("a(bhome(c()d()))e()");
});

test("whatever is done to what it hands out, the session stays as it is", () => {
  const header = { type: "session", version: 3, id: "session-1", timestamp: "", cwd: "/sea" } as const;
  const messages = [{ role: "user", content: [{ type: "text", text: "hi" }], timestamp: 0 } as AgentMessage];
  const ours = { header, messages, entries: ENTRIES };
  const before = structuredClone(ours);
  const session = view({ header: () => header, messages: () => messages });
  const given: object[] = [
    session.getHeader(),
    ...session.getEntries(),
    session.getEntry("a")!,
    session.getLeafEntry()!,
    ...session.getBranch(),
    ...session.getChildren("b"),
    ...session.getTree().map(({ entry: root }) => root),
    ...session.buildSessionContext().messages,
  ];
  for (const one of given) Object.assign(one, { id: "spoiled", content: "spoiled" });
  session.getEntries().length = 0;
  expect(ours).toEqual(before);
});
