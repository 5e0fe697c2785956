import type { AgentMessage } from "@tiller/protocol/message";
import type { SessionEntry } from "@tiller/protocol/session-entry";

type EntryOf<K extends string> = Extract<SessionEntry, { type: K }>;

/** The kinds of entries that are part of the conversation, and the message that each is. All others are not. */
const MESSAGES: { readonly [K in SessionEntry["type"]]?: (entry: EntryOf<K>) => AgentMessage } = {
  message: ({ message }) => message,
  custom_message: ({ customType, content, display, details, timestamp }) => ({
    role: "custom",
    customType,
    content,
    display,
    ...(details === undefined ? {} : { details }),
    timestamp: Date.parse(timestamp),
  }),
  branch_summary: ({ summary, fromId, timestamp }) => ({
    role: "branchSummary",
    summary,
    fromId,
    timestamp: Date.parse(timestamp),
  }),
  compaction: ({ summary, tokensBefore, timestamp }) => ({
    role: "compactionSummary",
    summary,
    tokensBefore,
    timestamp: Date.parse(timestamp),
  }),
};

const made = new WeakMap<SessionEntry, AgentMessage>();

/** The same object each time: what was worked out for a message is found again by it. */
export function messageOf(entry: SessionEntry): AgentMessage | undefined {
  if (entry.type === "message") return (entry as EntryOf<"message">).message;
  const known = made.get(entry);
  if (known) return known;
  if (!Object.hasOwn(MESSAGES, entry.type)) return undefined;
  const message = (MESSAGES[entry.type] as (entry: SessionEntry) => AgentMessage)(entry);
  made.set(entry, message);
  return message;
}

/** Whether entries of this kind are messages of the conversation where they stand; a compaction is one at its beginning. */
export function isConversation(kind: string): boolean {
  return kind === "message" || kind === "custom_message" || kind === "branch_summary";
}

/** A shell command, a name or a choice of model is not yet a conversation: they are written with its first message. */
export function beginsConversation(kind: string, role: string): boolean {
  return kind === "custom_message" || (kind === "message" && role !== "bashExecution");
}
