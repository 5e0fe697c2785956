import type { AgentMessage } from "@tiller/protocol/message";
import type { SessionEntry } from "@tiller/protocol/session-entry";
import { messageOf } from "../store/entry-rules.ts";
import { estimateTokens } from "./policy.ts";

/** What of a conversation is summarised and what stays as it is. Pure. */

export type CompactionEntry = Extract<SessionEntry, { type: "compaction" }>;

/** The part of a path that the model still sees as it was said, and the summary that stands before it. */
export interface Uncompacted {
  previous: CompactionEntry | undefined;
  entries: SessionEntry[];
  /** Messages came after the last compaction. */
  hasNews: boolean;
}

/** A repeated compaction begins where the one before began to keep. */
export function uncompacted(fromLeaf: Iterable<SessionEntry>): Uncompacted {
  const entries: SessionEntry[] = [];
  const removed = new Set<string>();
  let previous: CompactionEntry | undefined;
  let after = 0;
  let hasNews = false;
  let isFound = true;
  for (const entry of fromLeaf) {
    if (entry.type === "context_edit" && entry.replacement === null) removed.add(entry.targetId);
    if (entry.type === "compaction") {
      if (previous) continue;
      previous = entry;
      after = entries.length;
      isFound = false;
      continue;
    }
    if (!removed.has(entry.id)) entries.push(entry);
    if (!previous && messageOf(entry)) hasNews = true;
    if (previous && entry.id === previous.firstKeptEntryId) {
      isFound = true;
      break;
    }
  }
  // A first kept entry that is not on the path: nothing before the compaction was kept.
  return { previous, entries: (isFound ? entries : entries.slice(0, after)).reverse(), hasNews };
}

export interface Cut {
  /** Undefined when no message is kept. */
  firstKeptEntryId: string | undefined;
  /** Whole turns, to be summarised. */
  history: AgentMessage[];
  /** The beginning of the turn that the cut goes through; empty when it stands between two turns. */
  turnPrefix: AgentMessage[];
  kept: AgentMessage[];
}

export interface CutOptions {
  /** About so much of the end stays as it is. */
  keepTokens: number;
  /** When there is but one exchange, it may be summarised whole. Not while an answer is still to come. */
  mayKeepNothing: boolean;
}

/** Undefined when there is nothing to summarise. */
export function findCut(entries: readonly SessionEntry[], { keepTokens, mayKeepNothing }: CutOptions): Cut | undefined {
  const messages = entries.map((entry) => messageOf(entry));
  const first = messages.findIndex((message) => message !== undefined);
  const points = cutPoints(messages).filter((point) => point > first);
  const byTokens = pointByTokens(messages, points, keepTokens);
  if (byTokens !== undefined) return cutAt(entries, messages, byTokens);
  // All of it is less than what may be kept: the last exchange stays.
  const lastTurn = points.findLast((point) => isTurnStart(messages[point]));
  if (lastTurn !== undefined) return cutAt(entries, messages, lastTurn);
  if (first < 0) return undefined;
  if (mayKeepNothing) return cutAt(entries, messages, entries.length);
  const last = points.at(-1);
  return last === undefined ? undefined : cutAt(entries, messages, last);
}

/** Goes back from the end until there is enough; the cut is at the first good place from there on. */
function pointByTokens(
  messages: readonly (AgentMessage | undefined)[],
  points: readonly number[],
  keepTokens: number,
): number | undefined {
  let tokens = 0;
  for (let at = messages.length - 1; at >= 0; at--) {
    const message = messages[at];
    if (!message) continue;
    tokens += estimateTokens(message);
    if (tokens < keepTokens) continue;
    // Of a message that alone is much more than may be kept, a summary will do, if anything comes after it.
    const isHuge = tokens > keepTokens * 2;
    const point = isHuge ? points.find((place) => place > at) : undefined;
    // With no good place behind it, more is kept than was asked for.
    return point ?? points.find((place) => place >= at) ?? points.at(-1);
  }
  return undefined;
}

/** Where a cut may stand: at a message that is no tool result, and not between a call and its result. */
function cutPoints(messages: readonly (AgentMessage | undefined)[]): number[] {
  const callAt = new Map<string, number>();
  /** How many calls wait for their result from this place on: +1 behind a call, -1 behind its result. */
  const waiting = new Array<number>(messages.length + 1).fill(0);
  for (const [at, message] of messages.entries()) {
    if (message?.role === "assistant") {
      for (const block of message.content) if (block.type === "toolCall") callAt.set(block.id, at);
    }
    const call = message?.role === "toolResult" ? callAt.get(message.toolCallId) : undefined;
    if (call === undefined) continue;
    waiting[call + 1]! += 1;
    waiting[at + 1]! -= 1;
  }
  const points: number[] = [];
  let open = 0;
  for (const [at, message] of messages.entries()) {
    open += waiting[at]!;
    if (message && message.role !== "toolResult" && open === 0) points.push(at);
  }
  return points;
}

function isTurnStart(message: AgentMessage | undefined): boolean {
  return message !== undefined && message.role !== "assistant" && message.role !== "toolResult";
}

function cutAt(entries: readonly SessionEntry[], messages: readonly (AgentMessage | undefined)[], point: number): Cut {
  const isWhole = point === messages.length || isTurnStart(messages[point]);
  const turnStart = isWhole ? point : messages.slice(0, point).findLastIndex(isTurnStart);
  const split = turnStart < 0 ? point : turnStart;
  return {
    firstKeptEntryId: entries[firstKept(messages, point)]?.id,
    history: messages.slice(0, split).filter(isMessage),
    turnPrefix: messages.slice(split, point).filter(isMessage),
    kept: messages.slice(point).filter(isMessage),
  };
}

/** What was set right before the first message that is kept belongs to it. */
function firstKept(messages: readonly (AgentMessage | undefined)[], point: number): number {
  let at = point;
  while (at > 0 && messages[at - 1] === undefined) at--;
  return at;
}

function isMessage(message: AgentMessage | undefined): message is AgentMessage {
  return message !== undefined;
}
