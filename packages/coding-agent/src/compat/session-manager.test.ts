import { existsSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { answer } from "@tiller/ai/testing";
import { afterEach, beforeEach, expect, test } from "vitest";
import { tryLock } from "../session/store/session-lock.ts";
import { buildSessionContext, migrateSessionEntries, parseSessionEntries } from "./session-entries.ts";
import { type SessionInfo, type SessionManager, sessionManagerFor } from "./session-manager.ts";
import { createTestHost, type TestHost } from "./test-host.ts";

interface Statics {
  create(cwd?: string, sessionDir?: string): SessionManager;
  open(path: string): SessionManager;
  continueRecent(cwd?: string): SessionManager;
  inMemory(cwd?: string): SessionManager;
  forkFrom(path: string, cwd: string): SessionManager;
  list(cwd?: string): Promise<SessionInfo[]>;
  listAll(): Promise<SessionInfo[]>;
}

let host: TestHost;
let sessions: Statics;
beforeEach(() => {
  host = createTestHost();
  sessions = sessionManagerFor(host) as Statics;
});
afterEach(() => host.remove());

const question = (text: string) => ({ role: "user" as const, content: text, timestamp: 1 });

test("a session in memory has a tree, labels and a context", () => {
  const session = sessions.inMemory();
  const first = session.appendMessage(question("one"));
  const second = session.appendMessage(answer([{ type: "text", text: "yes" }]));
  session.branch(first);
  const other = session.appendMessage(question("two"));
  session.appendLabelChange(first, "start");
  session.appendSessionInfo("named");
  expect(session.isPersisted()).toBe(false);
  expect([session.getSessionFile(), session.getSessionName(), session.getLabel(first)]).toEqual([
    undefined,
    "named",
    "start",
  ]);
  expect(session.getChildren(first).map(({ id }) => id)).toEqual([second, other]);
  expect(session.getBranch(other).map(({ id }) => id)).toEqual([first, other]);
  const [root] = session.getTree();
  expect([root?.entry.id, root?.label, root?.children.length]).toEqual([first, "start", 2]);
  expect(session.buildSessionContext().messages).toMatchObject([{ content: "one" }, { content: "two" }]);
  session.resetLeaf();
  expect([session.getLeafId(), session.getLeafEntry()]).toEqual([null, undefined]);
  expect(() => session.branch("nowhere")).toThrow("Entry nowhere not found");
});

test("a message that is nobody's is an entry like those of the program itself", () => {
  const session = sessions.inMemory();
  const message = { role: "custom" as const, customType: "x", content: "c", display: true, timestamp: 5 };
  const id = session.appendMessage(message);
  expect(session.getEntry(id)).toEqual({
    type: "custom_message",
    id,
    parentId: null,
    timestamp: "1970-01-01T00:00:00.005Z",
    customType: "x",
    content: "c",
    display: true,
  });
  expect(session.buildSessionContext().messages).toEqual([message]);
  session.appendMessage({ ...message, timestamp: Number.NaN });
  expect(session.getLeafEntry()?.timestamp).toMatch(/^\d{4}-/);
});

test("a file appears with the first message, is listed, and can be opened and continued", async () => {
  const session = sessions.create();
  const path = session.getSessionFile()!;
  session.appendModelChange("p", "m");
  expect(existsSync(path)).toBe(false);
  session.appendMessage(question("Hello"));
  session.appendCustomEntry("mine", { n: 1 });
  expect(readFileSync(path, "utf8").trim().split("\n")).toHaveLength(4);

  const listed = await sessions.list();
  expect(listed).toMatchObject([
    { path, file: path, id: session.getSessionId(), cwd: host.root, firstMessage: "Hello" },
  ]);
  expect(listed[0]?.modified).toBeInstanceOf(Date);
  expect(await sessions.listAll()).toHaveLength(1);
  expect(await sessions.list("/elsewhere")).toEqual([]);

  const again = sessions.open(path);
  expect(again.getEntries()).toEqual(session.getEntries());
  expect(again.buildSessionContext()).toMatchObject({ model: { provider: "p", modelId: "m" }, thinkingLevel: "off" });
  expect(sessions.continueRecent().getSessionId()).toBe(session.getSessionId());
});

test("a file that somebody uses, or has changed, is not written", () => {
  const session = sessions.create();
  const path = session.getSessionFile()!;
  session.appendMessage(question("one"));
  const claim = tryLock({ locksFolder: join(host.agentDir, "locks"), sessionPath: path, clock: host.clock });
  expect(() => session.appendMessage(question("two"))).toThrow("is in use by process");
  if ("lock" in claim) claim.lock.release();
  const other = sessions.open(path);
  other.appendMessage(question("three"));
  expect(() => session.appendMessage(question("four"))).toThrow("was changed meanwhile");
  expect(readFileSync(path, "utf8")).not.toMatch(/two|four/);
  expect(session.getEntries()).toHaveLength(1);
});

test("branches and other folders get files of their own", () => {
  const session = sessions.create();
  const first = session.appendMessage(question("one"));
  session.appendMessage(question("two"));
  const source = session.getSessionFile()!;
  const fork = sessions.forkFrom(source, join(host.root, "other"));
  expect(fork.getHeader()).toMatchObject({ cwd: join(host.root, "other"), parentSession: source });
  expect(fork.getEntries()).toHaveLength(2);
  const path = session.createBranchedSession(first)!;
  expect([path === source, sessions.open(path).getEntries().length]).toEqual([false, 1]);
  session.newSession({ parentSession: source });
  expect([session.getEntries(), session.getHeader().parentSession]).toEqual([[], source]);
});

test("a branch that was left is summed up where it was left", () => {
  const session = sessions.inMemory();
  const first = session.appendMessage(question("one"));
  const second = session.appendMessage(question("two"));
  session.branchWithSummary(first, "what happened");
  expect(session.getLeafEntry()).toMatchObject({ type: "branch_summary", fromId: second, parentId: first });
  session.branchWithSummary(null, "all over");
  expect(session.getBranch()).toHaveLength(1);
});

test("the context of a list of entries", () => {
  const session = sessions.inMemory();
  session.appendMessage(question("old"));
  const kept = session.appendMessage(question("kept"));
  session.appendThinkingLevelChange("high");
  session.appendCompaction("sum", kept, 100);
  const entries = session.getEntries();
  const { messages, thinkingLevel } = buildSessionContext(entries);
  expect(messages.map(({ role }) => role)).toEqual(["compactionSummary", "user"]);
  expect(thinkingLevel).toBe("high");
  expect(buildSessionContext(entries, kept).messages).toHaveLength(2);
  expect(buildSessionContext(entries, null).messages).toEqual([]);
});

test("text becomes entries, and old ones new ones", () => {
  const entries = parseSessionEntries(
    '{"type":"session","id":"s"}\n\nbroken\n{"type":"message","message":{"role":"user"}}\n',
  );
  expect(entries).toHaveLength(2);
  migrateSessionEntries(entries, () => "id");
  expect(entries).toMatchObject([{ version: 3 }, { id: "id", parentId: null }]);
});
