import type { AgentMessage, AssistantMessage, ToolResultMessage, Usage, UserMessage } from "@tiller/protocol/message";
import type { Model } from "@tiller/protocol/model";
import type { SessionEntry } from "@tiller/protocol/session-entry";
import type { NewEntry } from "../store/session-store.ts";
import type { CompactionSettings } from "./policy.ts";

/** Conversations for the tests of this folder. A text of four characters is one token. */

export const tokens = (count: number, word = "word"): string => word.repeat(count);

export function usage(input: number, output = 0, cacheRead = 0): Usage {
  const cost = { input: 0, output: 0, cacheRead: 0, cacheWrite: 0, total: 0 };
  return { input, output, cacheRead, cacheWrite: 0, totalTokens: input + output + cacheRead, cost };
}

export function user(text: string): UserMessage {
  return { role: "user", content: text, timestamp: 0 };
}

export interface Call {
  id: string;
  name: string;
  arguments: Record<string, unknown>;
}

export function assistant(text: string, fields: Partial<AssistantMessage> = {}, calls: Call[] = []): AssistantMessage {
  return {
    role: "assistant",
    content: [
      ...(text === "" ? [] : [{ type: "text" as const, text }]),
      ...calls.map((call) => ({ type: "toolCall" as const, ...call })),
    ],
    api: "script",
    provider: "p",
    model: "m",
    usage: usage(0),
    stopReason: calls.length > 0 ? "toolUse" : "stop",
    timestamp: 0,
    ...fields,
  };
}

export function result(id: string, text: string, isError = false): ToolResultMessage {
  const content = [{ type: "text" as const, text }];
  return { role: "toolResult", toolCallId: id, toolName: "read", content, isError, timestamp: 0 };
}

export const read = (id: string, path = "a.ts"): Call => ({ id, name: "read", arguments: { path } });

export const model: Model = {
  id: "m",
  name: "M",
  api: "script",
  provider: "p",
  baseUrl: "",
  reasoning: false,
  input: ["text"],
  cost: { input: 0, output: 0, cacheRead: 0, cacheWrite: 0 },
  contextWindow: 1000,
  maxTokens: 1000,
};

export const settings: CompactionSettings = {
  enabled: true,
  reserveTokens: 200,
  keepRecentTokens: 100,
  thresholdTokens: -1,
  thresholdPercent: -1,
  autoContinue: false,
};

/** A path that grows; entries are called e1, e2, ... A string is a setting, anything else a message. */
export function branch(...items: (AgentMessage | NewEntry | string)[]) {
  const entries: SessionEntry[] = [];
  const append = (entry: NewEntry): string => {
    const id = `e${entries.length + 1}`;
    entries.push({ ...entry, id, parentId: entries.at(-1)?.id ?? null, timestamp: "" } as SessionEntry);
    return id;
  };
  const add = (item: AgentMessage | NewEntry | string): string => {
    if (typeof item === "string") return append({ type: "thinking_level_change", thinkingLevel: item });
    return append("type" in item ? item : { type: "message", message: item });
  };
  for (const item of items) add(item);
  return { entries, append, add, fromLeaf: () => entries.toReversed() };
}

export const compaction = (firstKeptEntryId: string, summary = "sum!", details?: unknown): NewEntry => ({
  type: "compaction",
  summary,
  firstKeptEntryId,
  tokensBefore: 0,
  details,
});
