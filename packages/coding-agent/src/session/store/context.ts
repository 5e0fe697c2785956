import type { AgentMessage } from "@tiller/protocol/message";
import type { SessionEntry } from "@tiller/protocol/session-entry";
import type { EntryLog } from "./entry-log.ts";
import { isConversation } from "./entry-rules.ts";

/** What the model is told of a path through the tree. Pure. */

type Entries = Pick<EntryLog, "kind" | "holds" | "entry" | "message" | "find">;

/**
 * The positions on the path whose entries are messages of the conversation, in the order the model sees them. After a
 * compaction: its summary first, then what it kept, then what came after it.
 */
export function contextPositions(log: Entries, path: readonly number[]): number[] {
  // One that cannot be read is as if it were not there.
  const isCompaction = (position: number) => log.kind(position) === "compaction" && log.entry(position);
  const at = log.holds("compaction") ? path.findLastIndex(isCompaction) : -1;
  const compaction = at < 0 ? undefined : (log.entry(path[at]!) as Extract<SessionEntry, { type: "compaction" }>);
  const edits = editsOn(log, path);
  const isShown = (position: number): boolean => isConversation(log.kind(position)) && edits.get(position) !== null;
  if (!compaction) return path.filter(isShown);
  const kept = path.indexOf(log.find(compaction.firstKeptEntryId));
  // A first kept entry that is not on the path: nothing before the compaction is kept.
  const from = kept < 0 || kept > at ? at : kept;
  return [path[at]!, ...path.slice(from).filter(isShown)];
}

/** What was said about entries later on, by their positions: null takes them out, everything else are new words for them. */
function editsOn(log: Entries, path: readonly number[]): ReadonlyMap<number, unknown> {
  const edits = new Map<number, unknown>();
  if (!log.holds("context_edit")) return edits;
  for (const position of path) {
    if (log.kind(position) !== "context_edit") continue;
    const { targetId, replacement } = (log.entry(position) ?? {}) as { targetId?: unknown; replacement?: unknown };
    if (typeof targetId === "string" && replacement !== undefined) edits.set(log.find(targetId), replacement);
  }
  return edits;
}

/** Entries whose bytes cannot be read are left out. */
export function contextMessages(
  log: Entries,
  positions: readonly number[],
  path: readonly number[] = [],
): AgentMessage[] {
  const edits = editsOn(log, path);
  const messages: AgentMessage[] = [];
  for (const position of positions) {
    const message = log.message(position);
    if (message) messages.push(edits.has(position) ? reworded(message, edits.get(position)) : message);
  }
  return messages;
}

/** The same message with other words; as it was, when the words do not fit. */
function reworded(message: AgentMessage, replacement: unknown): AgentMessage {
  if (
    message.role !== "user" &&
    message.role !== "assistant" &&
    message.role !== "toolResult" &&
    message.role !== "custom"
  )
    return message;
  const needsBlocks = message.role === "assistant" || message.role === "toolResult";
  const content = typeof replacement === "string" && needsBlocks ? [{ type: "text", text: replacement }] : replacement;
  if (typeof content !== "string" && !Array.isArray(content)) return message;
  return { ...message, content } as AgentMessage;
}
