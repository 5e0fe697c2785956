import type { AgentMessage } from "@tiller/protocol/message";
import type { SessionEntry, SessionHeader } from "@tiller/protocol/session-entry";
import { FILE_VERSION } from "../session/store/begin-session.ts";
import { contextMessages, contextPositions } from "../session/store/context.ts";
import { createEntryLog, type EntryLog } from "../session/store/entry-log.ts";
import { type Line, migrate } from "../session/store/migrations.ts";
import { parseLine } from "../session/store/session-head.ts";
import { pathTo } from "../session/store/tree.ts";

/** Entries as extensions get them: a list of objects. */

export interface SessionContext {
  messages: AgentMessage[];
  thinkingLevel: string;
  model: { provider: string; modelId: string } | null;
}

export function contextOf(log: EntryLog, leaf: number): SessionContext {
  const path = pathTo(log, leaf);
  const last = <K extends SessionEntry["type"]>(kind: K): Extract<SessionEntry, { type: K }> | undefined => {
    const position = path.findLast((at) => log.kind(at) === kind);
    return position === undefined ? undefined : (log.entry(position) as Extract<SessionEntry, { type: K }>);
  };
  const messages = contextMessages(log, contextPositions(log, path), path);
  const answer = messages.findLast((message) => message.role === "assistant");
  const chosen = last("model_change") as { provider?: string; modelId?: string } | undefined;
  const model = answer
    ? { provider: answer.provider, modelId: answer.model }
    : chosen?.provider !== undefined && chosen.modelId !== undefined
      ? { provider: chosen.provider, modelId: chosen.modelId }
      : null;
  return { messages, thinkingLevel: last("thinking_level_change")?.thinkingLevel ?? "off", model };
}

/** Without a leaf the last entry is it; null is the place before the first. */
export function buildSessionContext(entries: readonly SessionEntry[], leafId?: string | null): SessionContext {
  const header: SessionHeader = { type: "session", version: FILE_VERSION, id: "", timestamp: "", cwd: "" };
  const log = createEntryLog(header);
  for (const entry of entries) if ((entry.type as string) !== "session") log.append(entry);
  const leaf = leafId === null ? -1 : leafId === undefined ? log.length - 1 : log.find(leafId);
  return contextOf(log, leaf);
}

/** Lines that are no JSON are passed over. */
export function parseSessionEntries(text: string): Record<string, unknown>[] {
  const lines = text.split("\n").filter((line) => line.trim() !== "");
  return lines.map((line) => parseLine(Buffer.from(line))).filter((entry) => entry !== undefined);
}

/** In place, as its callers expect. */
export function migrateSessionEntries(entries: Line[], newId: () => string): void {
  const at = entries.findIndex((entry) => entry.type === "session");
  const header = entries[at];
  if (!header) return;
  const rest = entries.filter((entry) => entry !== header);
  const migrated = migrate(header, rest, newId);
  if (migrated.changed) entries.splice(0, entries.length, migrated.header, ...migrated.entries);
}

export function getLatestCompactionEntry(entries: readonly SessionEntry[]): SessionEntry | null {
  return entries.findLast((entry) => entry.type === "compaction") ?? null;
}
