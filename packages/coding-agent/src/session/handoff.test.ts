import { describe, expect, it } from "vitest";
import { createHandoff, type HandoffOptions } from "./handoff.ts";
import { user } from "./store/test-sessions.ts";

const never = new AbortController().signal;

function desk(changes: Partial<HandoffOptions> = {}, store: Partial<HandoffOptions["store"]> = {}) {
  const notes: string[] = [];
  const kept = {
    messages: [user("go")],
    sessionFile: "/old.jsonl",
    leafId: "a",
    writeProblem: () => undefined,
    ...store,
  };
  const handoff = createHandoff({
    store: kept,
    isBusy: () => false,
    summarize: async (focus) => ({ summary: `what matters (${focus})` }),
    keep: (text) => {
      notes.push(`keep ${text}`);
      return "/notes.md";
    },
    files: {
      newSession: async (parent) => {
        notes.push(`new session from ${parent}`);
        return { cancelled: false };
      },
    },
    add: async (message) => void notes.push(`add ${message.customType}: ${message.content}`),
    ...changes,
  });
  return { run: () => handoff.run("names", never), notes, kept };
}

describe("handing a session over", () => {
  it("keeps the notes, begins a new session, and puts them into it", async () => {
    const { run, notes } = desk();
    expect(await run()).toEqual({ cancelled: false, savedPath: "/notes.md" });
    expect(notes).toEqual([
      "keep what matters (names)",
      "new session from /old.jsonl",
      expect.stringMatching(/^add tiller\.handoff: The work goes on [\s\S]*\n\nwhat matters \(names\)$/),
    ]);
  });

  it("works without files", async () => {
    expect(await desk({ keep: () => undefined }).run()).toEqual({ cancelled: false, savedPath: undefined });
  });

  it.each([
    ["during a run", { isBusy: () => true }, {}, "Cannot hand off while a response is in progress"],
    ["without messages", {}, { messages: [] }, "Nothing to hand off: the session has no messages yet"],
    ["of a file in use", {}, { writeProblem: async () => "in use by 7" }, "in use by 7"],
    ["without an answer", { summarize: async () => ({ refused: "Handoff failed: 500" }) }, {}, "Handoff failed: 500"],
    [
      "on a full disk",
      {
        keep: () => {
          throw new Error("ENOSPC");
        },
      },
      {},
      "The notes cannot be written, and the session goes on: ENOSPC",
    ],
  ] as const)("%s is refused, and nothing is left", async (_when, changes, store, refused) => {
    const { run, notes } = desk(changes, store);
    expect(await run()).toEqual({ refused });
    expect(notes).toEqual([]);
  });

  it("stays when the session has gone on meanwhile", async () => {
    const { run, notes, kept } = desk({
      summarize: async () => {
        (kept as { leafId: string }).leafId = "b";
        return { summary: "late" };
      },
    });
    expect(await run()).toEqual({
      refused: "The session went on while the notes were being written, so it was not left; the notes are in /notes.md",
    });
    expect(notes).toEqual(["keep late"]);
  });

  it("is one at a time: a second one is refused and writes no notes, a later one is as good as any", async () => {
    const { run, notes } = desk();
    const [first, second] = await Promise.all([run(), run()]);
    expect(first).toEqual({ cancelled: false, savedPath: "/notes.md" });
    expect(second).toEqual({ refused: "A handoff is already in progress" });
    expect(notes.filter((note) => note.startsWith("keep"))).toHaveLength(1);
    expect(await run()).toEqual({ cancelled: false, savedPath: "/notes.md" });
  });

  it("may be tried again after one that broke", async () => {
    let isBroken = true;
    const newSession = async () => {
      if (isBroken) throw new Error("broken");
      return { cancelled: false };
    };
    const { run } = desk({ files: { newSession } });
    await expect(run()).rejects.toThrow("broken");
    isBroken = false;
    expect(await run()).toEqual({ cancelled: false, savedPath: "/notes.md" });
  });

  it("stays when an extension says no", async () => {
    const { run, notes } = desk({ files: { newSession: async () => ({ cancelled: true }) } });
    expect(await run()).toEqual({ cancelled: true });
    expect(notes).toEqual(["keep what matters (names)"]);
  });
});
