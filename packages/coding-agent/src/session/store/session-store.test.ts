import { existsSync, mkdtempSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import type { IdSource } from "@tiller/protocol/clock";
import type { AgentMessage } from "@tiller/protocol/message";
import type { Model } from "@tiller/protocol/model";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { createEntryLog, type EntryLog } from "./entry-log.ts";
import { createSessionDisk, type SessionDisk } from "./session-disk.ts";
import { createSessionStore, type OpenSession } from "./session-store.ts";
import {
  assistant,
  bash,
  countingIds,
  entriesOf,
  loadedLog,
  messageEntry,
  plain,
  stillClock,
  testHeader,
  user,
} from "./test-sessions.ts";

const model = { provider: "p", id: "m" } as Model;

function open(first: OpenSession = { log: createEntryLog(testHeader) }, ids: IdSource = countingIds()) {
  return createSessionStore({ clock: stillClock, ids, first });
}

/** A disk that notes what is asked of it. */
function notedDisk(notes: string[], name = "disk"): SessionDisk {
  return {
    path: `/${name}`,
    isInUse: false,
    write: (log, begins) => void notes.push(`${name} write ${log.length}${begins ? " begins" : ""}`),
    problem: () => undefined,
    endTurn: () => void notes.push(`${name} endTurn`),
    async close() {
      notes.push(`${name} close`);
    },
  };
}

describe("a session store", () => {
  let dir = "";
  beforeEach(() => {
    dir = mkdtempSync(join(tmpdir(), "tiller-store-"));
  });
  afterEach(() => rmSync(dir, { recursive: true, force: true }));

  it("makes the file with the first message: header, what was chosen before, the message, each linked to the one before", async () => {
    const path = join(dir, "deep", "s.jsonl");
    const onNotice = () => undefined;
    const disk = createSessionDisk({
      path,
      locksFolder: join(dir, "locks"),
      fsync: "turn",
      clock: stillClock,
      onNotice,
    });
    const store = open({ log: createEntryLog(testHeader), path });
    store.appendModelChange(model);
    expect(store.needsDisk).toBe(true);
    store.attach(disk);
    store.appendThinkingLevel("low");
    expect([existsSync(path), store.needsDisk]).toEqual([false, false]);
    store.appendMessage(user("hi"));
    const lines = readFileSync(path, "utf8").trimEnd().split("\n");
    expect(lines.map((line) => JSON.parse(line))).toEqual([
      testHeader,
      plain("00000001", null, { type: "model_change", provider: "p", modelId: "m", model: "p/m" }),
      plain("00000002", "00000001", { type: "thinking_level_change", thinkingLevel: "low" }),
      messageEntry("00000003", "00000002", user("hi")),
    ]);
    await store.close();
  });

  it("keeps everything in memory without a file", () => {
    const store = open();
    store.appendMessage(user("hi"));
    expect(store.messages).toEqual([user("hi")]);
    expect([store.sessionFile, store.needsDisk, store.isInUse, store.writeProblem()]).toEqual([
      undefined,
      false,
      false,
      undefined,
    ]);
  });

  it("tells the disk of each entry before it returns, and which ones begin a conversation", () => {
    const notes: string[] = [];
    const store = open({ log: createEntryLog(testHeader), path: "/disk", disk: notedDisk(notes) });
    store.appendMessage(bash("ls"));
    store.append({ type: "session_info", name: "x" });
    store.appendMessage(user("hi"));
    store.appendMessage({ role: "custom", customType: "x", content: "", display: true, timestamp: 1 });
    store.endTurn();
    expect(notes).toEqual([
      "disk write 1",
      "disk write 2",
      "disk write 3 begins",
      "disk write 4 begins",
      "disk endTurn",
    ]);
  });

  it("gives each entry an id that no other entry has", () => {
    let n = 0;
    const drawn = ["a", "a", "loaded", "b"];
    const ids: IdSource = { ...countingIds(), short: () => drawn[n++] ?? "more" };
    const store = open({ log: loadedLog([messageEntry("loaded", null, user("old"))]) }, ids);
    expect([
      store.append({ type: "custom", customType: "x" }),
      store.append({ type: "custom", customType: "x" }),
    ]).toEqual(["a", "b"]);
  });

  it("shows the conversation without parsing what nobody asks for", () => {
    const log = loadedLog([messageEntry("a", null, user("hi")), messageEntry("b", "a", assistant("ho"))]);
    const seen: number[] = [];
    const watch = <T>(read: (position: number) => T) => ({
      value: (position: number) => {
        seen.push(position);
        return read(position);
      },
    });
    const watched: EntryLog = Object.create(log, { entry: watch(log.entry), message: watch(log.message) });
    const store = open({ log: watched });
    store.appendMessage(user("on"));
    expect([store.messageCount, store.context, store.leafId]).toEqual([3, [0, 1, 2], "00000001"]);
    expect(seen).toEqual([]);
    expect(store.messages).toEqual([user("hi"), assistant("ho"), user("on")]);
    store.appendMessage(assistant("more"));
    expect(store.messages).toHaveLength(4);
    expect(seen).toEqual([0, 1, 2]);
  });

  it("writes a message that is nobody's as an entry of its own kind, with the time that it was told with", () => {
    const store = open();
    const message = {
      role: "custom",
      customType: "x",
      content: "c",
      display: false,
      details: 7,
      timestamp: 5,
    } as const;
    store.appendMessage(message);
    expect(entriesOf(store.log)).toEqual([
      {
        ...plain("00000001", null, {
          type: "custom_message",
          customType: "x",
          content: "c",
          display: false,
          details: 7,
        }),
        timestamp: "1970-01-01T00:00:00.005Z",
      },
    ]);
    expect(store.messages).toEqual([message]);
  });

  const names: [story: string, lines: object[], title: string | undefined, name: string | undefined][] = [
    ["has none", [], undefined, undefined],
    [
      "has the last one that was given",
      [plain("a", null, { type: "session_info", name: "one" }), plain("b", "a", { type: "session_info", name: "two" })],
      "title",
      "two",
    ],
    [
      "has none after it was taken away",
      [plain("a", null, { type: "session_info", name: "one" }), plain("b", "a", { type: "session_info", name: " " })],
      undefined,
      undefined,
    ],
    ["has the title of its header", [messageEntry("a", null, user("hi"))], "title", "title"],
    ["has no empty title", [], " ", undefined],
  ];
  for (const [story, lines, title, name] of names) {
    it(`names its session: it ${story}`, () => {
      const header = { ...testHeader, ...(title === undefined ? {} : { title }) };
      expect(open({ log: loadedLog(lines).under(header) }).name).toBe(name);
    });
  }

  it("knows a new name at once", () => {
    const store = open();
    expect(store.name).toBeUndefined();
    store.append({ type: "session_info", name: "new" });
    expect(store.name).toBe("new");
  });
});

describe("leaving messages out", () => {
  const texts = (messages: readonly AgentMessage[]) => messages.map((message) => JSON.stringify(message.role));
  it("moves the leaf before the first of them, and what follows is on another branch", () => {
    const store = open();
    store.appendMessage(user("hi"));
    const failed = [assistant("one"), user("two")];
    for (const message of failed) store.appendMessage(message);
    store.leaveOut(failed);
    expect(store.messages).toEqual([user("hi")]);
    store.appendMessage(assistant("again"));
    expect(entriesOf(store.log).map(({ parentId }) => parentId)).toEqual([null, "00000001", "00000002", "00000001"]);
    expect(texts(store.messages)).toEqual(['"user"', '"assistant"']);
  });

  it("takes the choices along that were made meanwhile", () => {
    const store = open();
    store.appendMessage(user("hi"));
    const failed = assistant("failed");
    store.appendMessage(failed);
    store.appendModelChange(model);
    store.append({ type: "label", targetId: "00000001", label: "x" });
    store.appendThinkingLevel("high");
    store.leaveOut([failed]);
    expect(store.branch().map(({ type }) => type)).toEqual(["message", "model_change", "thinking_level_change"]);
  });

  it("knows the very object, not one that looks the same", () => {
    const store = open();
    store.appendMessage(user("hi"));
    store.leaveOut([user("hi")]);
    store.leaveOut([]);
    expect(store.messages).toHaveLength(1);
    store.leaveOut([store.messages[0]!]);
    expect([store.messages, store.leaf]).toEqual([[], -1]);
    store.appendMessage(user("anew"));
    expect(store.log.parent(1)).toBe(-1);
  });
});

describe("another session in the store", () => {
  it("is there for all who hold it, and the old one is closed first", async () => {
    const notes: string[] = [];
    const store = open({ log: createEntryLog(testHeader), path: "/one", disk: notedDisk(notes, "one") });
    store.append({ type: "session_info", name: "old" });
    store.appendMessage(user("old"));
    expect(store.name).toBe("old");
    const header = { ...testHeader, id: "s2", cwd: "/other" };
    await store.replace({
      log: loadedLog([messageEntry("a", null, user("new"))]).under(header),
      path: "/two",
      disk: notedDisk(notes, "two"),
    });
    expect([store.sessionId, store.cwd, store.sessionFile, store.name]).toEqual(["s2", "/other", "/two", undefined]);
    expect([store.messages, store.leafId, store.messageCount]).toEqual([[user("new")], "a", 1]);
    store.appendMessage(user("more"));
    await store.close();
    expect(notes.slice(2)).toEqual(["one close", "two write 2 begins", "two close"]);
  });

  it("is the same one, read again: what is in no file yet follows its end", () => {
    const notes: string[] = [];
    const store = open({
      log: loadedLog([messageEntry("a", null, user("one"))]),
      path: "/one",
      disk: notedDisk([], "old"),
    });
    store.appendMessage(user("unwritten"));
    store.appendThinkingLevel("low");
    const log = loadedLog([messageEntry("a", null, user("one")), messageEntry("b", "a", assistant("theirs"))]);
    store.reopen({ log, path: "/one", disk: notedDisk(notes, "new") });
    expect(store.messages).toEqual([user("one"), assistant("theirs"), user("unwritten")]);
    expect(entriesOf(store.log).map(({ parentId }) => parentId)).toEqual([null, "a", "b", store.log.id(2)]);
    expect(notes).toEqual(["new write 3 begins", "new write 4"]);
  });

  it("may be gone on with at any place", () => {
    const store = open({ log: loadedLog([messageEntry("a", null, user("one")), messageEntry("b", "a", user("two"))]) });
    store.moveTo(0);
    expect([store.messages, store.path(), store.leafId]).toEqual([[user("one")], [0], "a"]);
    store.moveTo(-1);
    expect([store.messages, store.path(), store.leafId]).toEqual([[], [], null]);
    store.appendMessage(user("other root"));
    expect([store.log.parent(2), store.messageCount]).toEqual([-1, 1]);
  });
});
