import type { Clock, IdSource } from "@tiller/protocol/clock";
import type { AgentMessage, AssistantMessage, BashExecutionMessage, UserMessage } from "@tiller/protocol/message";
import type { SessionEntry, SessionHeader } from "@tiller/protocol/session-entry";
import { indexEntries } from "./entry-index.ts";
import { createEntryLog, type EntryLog, type LoadedEntries } from "./entry-log.ts";
import { loadEntries } from "./loaded-entries.ts";
import { createSessionStore, type SessionStore } from "./session-store.ts";

/** Sessions for tests, and what a reader makes of them who parses everything and remembers nothing. */

export const START = Date.UTC(2026, 0, 1);
export const STARTED = "2026-01-01T00:00:00.000Z";
export const stillClock: Clock = { now: () => START, after: () => () => undefined };

/** Ids that are counted: 00000001, 00000002, ... */
export function countingIds(): IdSource {
  let [entries, sessions] = [0, 0];
  return {
    uuid: () => `session-${++sessions}`,
    short: () => (++entries).toString(16).padStart(8, "0"),
    lot: () => 0,
    count: (prefix) => prefix,
  };
}

export const testHeader: SessionHeader = { type: "session", version: 3, id: "s1", timestamp: STARTED, cwd: "/w" };

export const user = (text: string): UserMessage => ({ role: "user", content: text, timestamp: 1 });

export function assistant(text: string, fields: Partial<AssistantMessage> = {}): AssistantMessage {
  const cost = { input: 0, output: 0, cacheRead: 0, cacheWrite: 0, total: 0 };
  return {
    role: "assistant",
    content: [{ type: "text", text }],
    api: "script",
    provider: "p",
    model: "m",
    usage: { input: 3, output: 2, cacheRead: 1, cacheWrite: 0, totalTokens: 6, cost },
    stopReason: "stop",
    timestamp: 2,
    ...fields,
  };
}

export const bash = (command: string): BashExecutionMessage => ({
  role: "bashExecution",
  command,
  output: "",
  cancelled: false,
  truncated: false,
  timestamp: 3,
});

/** An entry as it may stand in a file. */
export type PlainEntry = { type: string; id: string; parentId: string | null; timestamp: string } & Record<
  string,
  unknown
>;

export function plain(id: string, parentId: string | null, fields: { type: string } & Record<string, unknown>) {
  const { type, ...rest } = fields;
  return { type, id, parentId, timestamp: STARTED, ...rest } as PlainEntry;
}

export const messageEntry = (id: string, parentId: string | null, message: AgentMessage): PlainEntry =>
  plain(id, parentId, { type: "message", message });

export function fileOf(lines: readonly (object | string)[], header: object = testHeader): Buffer {
  const texts = [header, ...lines].map((line) => (typeof line === "string" ? line : JSON.stringify(line)));
  return Buffer.from(texts.map((text) => `${text}\n`).join(""));
}

/** The log of a file that was opened. */
export function loadedLog(lines: readonly (object | string)[]): EntryLog {
  return createEntryLog(testHeader, entriesInFile(lines));
}

export function entriesInFile(lines: readonly (object | string)[]): LoadedEntries {
  const bytes = fileOf(lines);
  return loadEntries({ bytes, index: indexEntries(bytes), isWholeFile: true });
}

export function storeOf(log: EntryLog): SessionStore {
  return createSessionStore({ clock: stillClock, ids: countingIds(), first: { log } });
}

/** From the root to an entry. */
export function naivePath(entries: readonly PlainEntry[], leafId: string | null): PlainEntry[] {
  const path: PlainEntry[] = [];
  for (let id = leafId; id !== null; id = path[0]!.parentId) {
    const entry = entries.find((candidate) => candidate.id === id);
    if (!entry) throw new Error(`no entry ${id}`);
    path.unshift(entry);
  }
  return path;
}

/** What the model sees of a path. */
export function naiveContext(path: readonly PlainEntry[]): unknown[] {
  const at = path.findLastIndex(({ type }) => type === "compaction");
  const compaction = path[at];
  if (!compaction) return path.flatMap(naiveMessage);
  const kept = path.findIndex(({ id }) => id === compaction.firstKeptEntryId);
  const shown = path.slice(kept >= 0 && kept < at ? kept : at);
  const { summary, tokensBefore } = compaction;
  const first = { role: "compactionSummary", summary, tokensBefore, timestamp: START };
  return [first, ...shown.flatMap(naiveMessage)];
}

function naiveMessage(entry: PlainEntry): unknown[] {
  const { type, timestamp: _, id: _id, parentId: _parent, ...fields } = entry;
  if (type === "message") return [fields.message];
  if (type === "custom_message") return [{ role: "custom", ...fields, timestamp: START }];
  const { summary, fromId } = fields;
  return type === "branch_summary" ? [{ role: "branchSummary", summary, fromId, timestamp: START }] : [];
}

export function naiveLabels(entries: readonly PlainEntry[]): Map<string, string> {
  const labels = new Map<string, string>();
  for (const { type, targetId, label } of entries as (PlainEntry & { targetId: string; label?: string })[]) {
    if (type !== "label") continue;
    if (label) labels.set(targetId, label);
    else labels.delete(targetId);
  }
  return labels;
}

interface Node {
  entry: PlainEntry;
  children: Node[];
  label?: string;
  labelTimestamp?: string;
}

export function naiveTree(entries: readonly PlainEntry[]): Node[] {
  const labels = naiveLabels(entries);
  const nodes = new Map<string, Node>();
  const roots: Node[] = [];
  for (const entry of entries) {
    const label = labels.get(entry.id);
    const node: Node = { entry, children: [], ...(label === undefined ? {} : { label, labelTimestamp: STARTED }) };
    nodes.set(entry.id, node);
    const parent = entry.parentId === null ? undefined : nodes.get(entry.parentId);
    (parent?.children ?? roots).push(node);
  }
  return roots;
}

/** Everything that a log holds, by parsing it. */
export function entriesOf(log: EntryLog): SessionEntry[] {
  return Array.from({ length: log.length }, (_, at) => log.look(at)).flatMap((entry) => entry ?? []);
}
