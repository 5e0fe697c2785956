import { describe, expect, it } from "vitest";
import { createSessionSwitch, textOfUser } from "./session-switch.ts";
import { beginSession } from "./store/begin-session.ts";
import type { SessionDisk } from "./store/session-disk.ts";
import { createSessionStore, type OpenSession } from "./store/session-store.ts";
import {
  assistant,
  countingIds,
  entriesOf,
  loadedLog,
  messageEntry,
  type PlainEntry,
  plain,
  stillClock,
  testHeader,
  user,
} from "./store/test-sessions.ts";
import { testHooks } from "./test-hooks.ts";

const lines: PlainEntry[] = [
  messageEntry("a", null, user("first")),
  messageEntry("b", "a", assistant("answer")),
  messageEntry("c", "b", user("second")),
  messageEntry("d", "c", assistant("other")),
  plain("l", "d", { type: "label", targetId: "b", label: "here" }),
];

/** A desk that notes in which order things are done. */
function desk({
  hooks,
  content = lines,
  path = "/now.jsonl",
  isFull = false,
}: {
  hooks?: Parameters<typeof testHooks>[0];
  content?: PlainEntry[];
  /** Null: it is kept in memory only. */
  path?: string | null;
  /** No new file can be written. */
  isFull?: boolean;
} = {}) {
  const notes: string[] = [];
  const disk: SessionDisk = {
    path: "/now.jsonl",
    isInUse: false,
    write: () => undefined,
    problem: () => undefined,
    endTurn: () => undefined,
    close: async () => void notes.push("old one closed"),
  };
  const ids = countingIds();
  const first: OpenSession = { log: loadedLog(content), path: path ?? undefined, disk };
  const store = createSessionStore({ clock: stillClock, ids, first });
  const subject = createSessionSwitch({
    store,
    clock: stillClock,
    ids,
    hooks: hooks && testHooks(hooks, notes),
    source: {
      begin: ({ parentSession }) =>
        beginSession({ clock: stillClock, ids, cwd: "/w" }, { parentSession, path: "/new.jsonl" }),
      open(given) {
        notes.push(`open ${given}`);
        if (given.includes("missing")) throw new Error(`${given} is not a session file`);
        return {
          log: loadedLog([messageEntry("x", null, user("there"))]).under({ ...testHeader, id: "s2" }),
          path: given,
        };
      },
      newestIn(folder) {
        if (folder === "/file") return { refused: "/file is not a folder" };
        return { path: { "/full": "/full/x.jsonl", "/": "/now.jsonl" }[folder] };
      },
      settleIn: (folder) => void notes.push(`settle in ${folder}`),
      keep(make, parentSession) {
        notes.push(`keep, from ${parentSession}`);
        if (isFull) throw new Error("/copy.jsonl cannot be written: ENOSPC");
        return { log: make({ ...testHeader, id: "copy" }), path: "/copy.jsonl" };
      },
    },
    stop: async (reason) => {
      notes.push(`stop: ${reason}`);
      await Promise.resolve();
      notes.push("stopped");
    },
    adopt: (how) => notes.push(`adopt ${how} of ${store.sessionId}`),
    resolvePath: (given) => (given.startsWith("/") ? given : `/base/${given}`),
    isOpen: (given) => given === "/now.jsonl" || given === "/link.jsonl",
  });
  return { subject, store, notes };
}

const no = () => ({ cancel: true });
const yes = () => ({ cancel: false });

describe("a new session", () => {
  it("comes after the old one is over; then model and level are taken along", async () => {
    const { subject, store, notes } = desk({ hooks: { session_before_switch: yes } });
    expect(await subject.newSession("/parent.jsonl")).toEqual({ cancelled: false });
    expect(notes).toEqual([
      'session_before_switch {"reason":"new"}',
      "stop: Request was aborted: new_session left the session",
      "stopped",
      'leave {"reason":"new","target":"/new.jsonl"}',
      "old one closed",
      "adopt new of session-1",
      'entered {"reason":"new","previous":"/now.jsonl"}',
    ]);
    expect([store.log.header.parentSession, store.sessionFile, store.messages]).toEqual([
      "/parent.jsonl",
      "/new.jsonl",
      [],
    ]);
  });

  it("does not come when an extension says no; nothing is stopped", async () => {
    const { subject, store, notes } = desk({ hooks: { session_before_switch: no } });
    expect(await subject.newSession()).toEqual({ cancelled: true });
    expect([notes, store.sessionId]).toEqual([['session_before_switch {"reason":"new"}'], "s1"]);
  });
});

describe("the session of a folder", () => {
  const here = { sessionId: "s1", sessionFile: "/now.jsonl" };

  it("is its latest one", async () => {
    const { subject, notes } = desk();
    expect(await subject.openIn("/full")).toEqual({
      cancelled: false,
      resumed: true,
      sessionId: "s2",
      sessionFile: "/full/x.jsonl",
    });
    expect(notes).toEqual([
      "open /full/x.jsonl",
      "stop: Request was aborted: switch_session left the session",
      "stopped",
      "old one closed",
      "adopt resume of s2",
      "settle in /full",
    ]);
  });

  it("is a new one when there is none; it begins in that folder", async () => {
    const { subject, notes } = desk();
    expect(await subject.openIn("empty")).toMatchObject({ cancelled: false, resumed: false, sessionId: "session-1" });
    expect(notes.slice(0, 3)).toEqual([
      "stop: Request was aborted: open_session left the session",
      "stopped",
      "settle in /base/empty",
    ]);
  });

  it("that is open already stays open, and nothing is stopped", async () => {
    const { subject, notes } = desk();
    expect(await subject.openIn("/")).toEqual({ cancelled: false, resumed: true, ...here });
    expect(notes).toEqual(["settle in /"]);
  });

  it("is not entered when an extension says no, or the folder is none", async () => {
    const { subject, notes } = desk({ hooks: { session_before_switch: no } });
    expect(await subject.openIn("/full")).toEqual({ cancelled: true, resumed: false, ...here });
    expect(await subject.openIn("/empty")).toEqual({ cancelled: true, resumed: false, ...here });
    expect(notes.filter((note) => !note.startsWith("session_before"))).toEqual([]);
    expect(await subject.openIn("/file")).toEqual({ refused: "/file is not a folder" });
    expect(await subject.openIn(" ")).toEqual({ refused: '"sessionDir" must be the path of a folder, got " "' });
  });

  it.each(["", " "])("needs a path, which %j is not", async (given) => {
    const { subject, notes } = desk();
    const refused = `"sessionPath" must be the path of a session file, got "${given}"`;
    expect([await subject.switchTo(given), notes]).toEqual([{ refused }, []]);
  });
});

describe("switching to another session", () => {
  it("opens it, ends the old one, and goes on in the new one", async () => {
    const { subject, store, notes } = desk({ hooks: { session_before_switch: yes } });
    expect(await subject.switchTo("there.jsonl")).toEqual({ cancelled: false });
    expect(notes).toEqual([
      'session_before_switch {"reason":"resume","targetSessionFile":"/base/there.jsonl"}',
      "open /base/there.jsonl",
      "stop: Request was aborted: switch_session left the session",
      "stopped",
      'leave {"reason":"resume","target":"/base/there.jsonl"}',
      "old one closed",
      "adopt resume of s2",
      'entered {"reason":"resume","previous":"/now.jsonl"}',
    ]);
    expect([store.sessionFile, store.messages]).toEqual(["/base/there.jsonl", [user("there")]]);
  });

  it("that cannot be opened leaves everything as it was", async () => {
    const { subject, store, notes } = desk({ hooks: { session_before_switch: yes } });
    expect(await subject.switchTo("/missing.jsonl")).toEqual({ refused: "/missing.jsonl is not a session file" });
    expect(notes.slice(1)).toEqual(["open /missing.jsonl"]);
    expect([store.sessionId, store.leafId]).toEqual(["s1", "l"]);
  });

  it("is not done when an extension says no", async () => {
    const { subject, store, notes } = desk({ hooks: { session_before_switch: no } });
    expect(await subject.switchTo("/there.jsonl")).toEqual({ cancelled: true });
    expect([notes, store.sessionId]).toEqual([
      ['session_before_switch {"reason":"resume","targetSessionFile":"/there.jsonl"}'],
      "s1",
    ]);
  });

  for (const path of ["/now.jsonl", "/link.jsonl"]) {
    it(`that is open already, by ${path}, goes to its last entry`, async () => {
      const { subject, store, notes } = desk({ hooks: {} });
      store.moveTo(0);
      expect(await subject.switchTo(path)).toEqual({ cancelled: false });
      expect(notes).toEqual([
        "stop: Request was aborted: switch_session left the session",
        "stopped",
        `leave {"reason":"resume","target":"${path}"}`,
        "adopt resume of s1",
        `entered {"reason":"resume","previous":"${path}"}`,
      ]);
      expect(store.leafId).toBe("l");
    });
  }
});

describe("a fork", () => {
  it("is a copy that ends before a user's message, with the labels of what is in it", async () => {
    const { subject, store, notes } = desk({ hooks: { session_before_fork: yes, session_before_branch: yes } });
    expect(await subject.fork("c")).toEqual({ cancelled: false, text: "second" });
    expect(entriesOf(store.log)).toMatchObject([lines[0]!, lines[1]!, { type: "label", targetId: "b", label: "here" }]);
    expect([store.sessionId, store.sessionFile]).toEqual(["copy", "/copy.jsonl"]);
    expect(notes).toEqual([
      'session_before_fork {"entryId":"c","position":"before"}',
      'session_before_branch {"entryId":"c"}',
      "stop: Request was aborted: fork left the session",
      "stopped",
      "keep, from /now.jsonl",
      'leave {"reason":"fork","target":"/copy.jsonl"}',
      "old one closed",
      "adopt fork of copy",
      'entered {"reason":"fork","previous":"/now.jsonl"}',
    ]);
  });

  it("at the very first message is empty", async () => {
    const { subject, store } = desk();
    expect(await subject.fork("a")).toEqual({ cancelled: false, text: "first" });
    expect([store.log.length, store.leafId]).toEqual([0, null]);
  });

  for (const entryId of ["nobody", "b", "l", ""]) {
    it(`is refused at "${entryId}", which is no message of a user's`, async () => {
      const { subject, notes } = desk();
      expect(await subject.fork(entryId)).toEqual({ refused: "Invalid entry ID for forking" });
      expect(notes).toEqual([]);
    });
  }

  it("that is called a branch says so", async () => {
    const { subject, notes } = desk();
    expect(await subject.fork("b", "branch")).toEqual({ refused: "Invalid entry ID for branching" });
    await subject.fork("c", "branch");
    expect(notes).toContain("stop: Request was aborted: branch left the session");
  });

  it("that cannot be written is refused, and the old session goes on", async () => {
    const { subject, store } = desk({ isFull: true });
    const refused = { refused: "/copy.jsonl cannot be written: ENOSPC" };
    expect([await subject.fork("c"), await subject.clone()]).toEqual([refused, refused]);
    expect(store.sessionId).toBe("s1");
  });

  it("is not made when an extension says no", async () => {
    const { subject, store, notes } = desk({ hooks: { session_before_fork: no } });
    expect(await subject.fork("c")).toEqual({ cancelled: true });
    expect([notes, store.sessionId]).toEqual([['session_before_fork {"entryId":"c","position":"before"}'], "s1"]);
  });

  it("of a session without a file names no parent", async () => {
    const { subject, notes } = desk({ path: null });
    await subject.fork("c");
    expect(notes).toContain("keep, from undefined");
  });
});

describe("a clone", () => {
  it("is a copy of the conversation as it stands when everything is over", async () => {
    const { subject, store, notes } = desk({ hooks: { session_before_fork: yes } });
    store.moveTo(1);
    expect(await subject.clone()).toEqual({ cancelled: false });
    expect(entriesOf(store.log)).toMatchObject([lines[0]!, lines[1]!, { type: "label", targetId: "b" }]);
    expect(notes[0]).toBe('session_before_fork {"entryId":"b","position":"at"}');
    expect(notes.slice(-2)).toEqual(["adopt fork of copy", 'entered {"reason":"fork","previous":"/now.jsonl"}']);
  });

  it("of nothing is refused", async () => {
    const { subject, notes } = desk({ content: [] });
    expect(await subject.clone()).toEqual({ refused: "Cannot clone session: no current entry selected" });
    expect(notes).toEqual([]);
  });

  it("is not made when an extension says no", async () => {
    const { subject, store, notes } = desk({ hooks: { session_before_fork: no } });
    expect(await subject.clone()).toEqual({ cancelled: true });
    expect([notes, store.sessionId]).toEqual([['session_before_fork {"entryId":"l","position":"at"}'], "s1"]);
  });
});

it("a copy of the way to any entry ends with it", async () => {
  const { subject, store } = desk();
  expect(await subject.copyUpTo("b")).toEqual({ cancelled: false });
  expect(entriesOf(store.log)).toMatchObject([lines[0]!, lines[1]!, { type: "label", targetId: "b" }]);
  expect(await subject.copyUpTo("nobody")).toEqual({ refused: "Entry not found: nobody" });
});

it("the text of a user's message is that of all its parts; other entries have none", () => {
  const log = loadedLog([
    ...lines,
    messageEntry("i", null, {
      role: "user",
      content: [
        { type: "text", text: "one" },
        { type: "image", data: "", mimeType: "" },
      ],
      timestamp: 1,
    }),
  ]);
  expect(["a", "b", "l", "i"].map((id) => textOfUser(log.entry(log.find(id))))).toEqual([
    "first",
    undefined,
    undefined,
    "one",
  ]);
  expect(textOfUser(undefined)).toBeUndefined();
});
