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
  if (!compaction) return path.filter((position) => isConversation(log.kind(position)));
  const kept = path.indexOf(log.find(compaction.firstKeptEntryId));
  // A first kept entry that is not on the path: nothing before the compaction is kept.
  const from = kept < 0 || kept > at ? at : kept;
  const shown = path.slice(from).filter((position) => isConversation(log.kind(position)));
  return [path[at]!, ...shown];
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
