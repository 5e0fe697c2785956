import type { Result } from "@tiller/protocol/commands/index";
import type { AgentMessage, Usage } from "@tiller/protocol/message";
import type { SessionEntry } from "@tiller/protocol/session-entry";
import type { EntryLog } from "./store/entry-log.ts";
import { sumOfMoney } from "./usage-tally.ts";

export type Counts = Omit<Result<"get_session_stats">, "sessionFile" | "sessionId" | "contextUsage">;

/** Counts every entry of a session, on all of its branches: what was paid for is paid for. */
export interface SessionCounter {
  counts(log: EntryLog): Counts;
}

/** Goes on from where it stopped: entries are only ever added. */
export function createSessionCounter(): SessionCounter {
  let counted: EntryLog | undefined;
  let position = 0;
  let counts = nothing();
  return {
    counts(log) {
      if (log !== counted) {
        counted = log;
        position = 0;
        counts = nothing();
      }
      for (; position < log.length; position++) {
        const entry = COUNTED.has(log.kind(position)) ? log.look(position) : undefined;
        if (entry) count(counts, entry);
      }
      return { ...counts, tokens: { ...counts.tokens } };
    },
  };
}

/** Those that are messages or were paid for. */
const COUNTED: ReadonlySet<string> = new Set([
  "message",
  "custom_message",
  "compaction",
  "branch_summary",
  "usage",
  "",
]);

function nothing(): Counts {
  return {
    userMessages: 0,
    assistantMessages: 0,
    toolCalls: 0,
    toolResults: 0,
    totalMessages: 0,
    tokens: { input: 0, output: 0, cacheRead: 0, cacheWrite: 0, total: 0 },
    cost: 0,
    premiumRequests: 0,
  };
}

function count(counts: Counts, entry: SessionEntry): void {
  const { usage } = entry as { usage?: Partial<Usage> };
  if (usage) spend(counts, usage);
  if (entry.type === "message") countMessage(counts, entry.message);
  else if (entry.type === "custom_message") counts.totalMessages += 1;
}

function countMessage(counts: Counts, message: AgentMessage): void {
  counts.totalMessages += 1;
  if (message.role === "user") counts.userMessages += 1;
  else if (message.role === "toolResult") counts.toolResults += 1;
  else if (message.role === "assistant") {
    counts.assistantMessages += 1;
    counts.toolCalls += callsIn(message.content);
    if (message.usage) spend(counts, message.usage);
  }
}

/** In files of other programs it may be a text, or missing. */
function callsIn(content: unknown): number {
  return Array.isArray(content) ? content.filter((block) => block?.type === "toolCall").length : 0;
}

/** Files of other programs may leave some of it out. */
function spend(counts: Counts, usage: Partial<Usage>): void {
  const { tokens } = counts;
  for (const kind of ["input", "output", "cacheRead", "cacheWrite"] as const) {
    const spent = numberOr0(usage[kind]);
    tokens[kind] += spent;
    tokens.total += spent;
  }
  counts.cost = sumOfMoney(counts.cost, numberOr0(usage.cost?.total));
}

function numberOr0(value: unknown): number {
  return typeof value === "number" ? value : 0;
}
