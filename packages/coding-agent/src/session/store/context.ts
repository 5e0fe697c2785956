import type { AgentMessage } from "@tiller/protocol/message";
import type { SessionEntry } from "@tiller/protocol/session-entry";
import type { EntryLog } from "./entry-log.ts";
import { isConversation, messageOf } from "./entry-rules.ts";

/** What the model is told of a path through the tree. Pure. */

type Entries = Pick<EntryLog, "kind" | "entry" | "find">;

/**
 * The positions on the path whose entries are messages of the conversation, in the order the model sees them. After a
 * compaction: its summary first, then what it kept, then what came after it.
 */
export function contextPositions(log: Entries, path: readonly number[]): number[] {
  // One that cannot be read is as if it were not there.
  const at = path.findLastIndex((position) => log.kind(position) === "compaction" && log.entry(position));
  const compaction = at < 0 ? undefined : (log.entry(path[at]!) as Extract<SessionEntry, { type: "compaction" }>);
  const removed = removedOn(log, path);
  const isShown = (position: number): boolean => isConversation(log.kind(position)) && !removed.has(position);
  if (!compaction) return path.filter(isShown);
  const kept = path.indexOf(log.find(compaction.firstKeptEntryId));
  // A first kept entry that is not on the path: nothing before the compaction is kept.
  const from = kept < 0 || kept > at ? at : kept;
  return [path[at]!, ...path.slice(from).filter(isShown)];
}

/** What was taken out of the conversation later on. Newer versions of pi write this; new words for old ones are passed over. */
function removedOn(log: Entries, path: readonly number[]): ReadonlySet<number> {
  const removed = new Set<number>();
  for (const position of path) {
    if (log.kind(position) !== "context_edit") continue;
    const { targetId, replacement } = (log.entry(position) ?? {}) as { targetId?: unknown; replacement?: unknown };
    if (typeof targetId === "string" && replacement === null) removed.add(log.find(targetId));
  }
  return removed;
}

/** Entries whose bytes cannot be read are left out. */
export function contextMessages(log: Entries, positions: readonly number[]): AgentMessage[] {
  const messages: AgentMessage[] = [];
  for (const position of positions) {
    const entry = log.entry(position);
    const message = entry && messageOf(entry);
    if (message) messages.push(message);
  }
  return messages;
}
