import type { AgentMessage, AssistantMessage, Usage } from "@tiller/protocol/message";
import type { Model } from "@tiller/protocol/model";
import type { SessionEntry } from "@tiller/protocol/session-entry";
import type { ContextUsage } from "@tiller/protocol/state";
import { messageOf } from "../store/entry-rules.ts";

/** When a conversation is to be compacted. Pure; entries come from the leaf backwards, so that few have to be read. */

export interface CompactionSettings {
  /** By itself, that is; `compact` always works. */
  enabled: boolean;
  reserveTokens: number;
  keepRecentTokens: number;
  /** -1: not set. */
  thresholdTokens: number;
  /** -1: not set. */
  thresholdPercent: number;
  autoContinue: boolean;
}

type Window = Pick<Model, "contextWindow">;

const CHARACTERS_PER_TOKEN = 4;
const CHARACTERS_PER_IMAGE = 4800;

/** A rough count, the same for every model. */
export function estimateTokens(message: AgentMessage): number {
  return Math.ceil(charactersOf(message) / CHARACTERS_PER_TOKEN);
}

export function estimateAll(messages: readonly AgentMessage[]): number {
  return messages.reduce((sum, message) => sum + estimateTokens(message), 0);
}

export function estimateText(text: string): number {
  return Math.ceil(text.length / CHARACTERS_PER_TOKEN);
}

function charactersOf(message: AgentMessage): number {
  switch (message.role) {
    case "user":
    case "custom":
    case "toolResult":
      return contentCharacters(message.content);
    case "assistant":
      // No provider is sent an answer that failed.
      return isFailed(message) ? 0 : answerCharacters(message);
    case "bashExecution":
      return message.excludeFromContext ? 0 : message.command.length + message.output.length;
    case "branchSummary":
    case "compactionSummary":
      return message.summary.length;
    // A file may hold roles that only its writer knows; no model sees those.
    default:
      return 0;
  }
}

function contentCharacters(content: string | readonly { type: string; text?: string }[]): number {
  if (typeof content === "string") return content.length;
  let characters = 0;
  for (const block of content) characters += block.type === "image" ? CHARACTERS_PER_IMAGE : (block.text?.length ?? 0);
  return characters;
}

function answerCharacters({ content }: AssistantMessage): number {
  let characters = 0;
  for (const block of content) {
    if (block.type === "text") characters += block.text.length;
    else if (block.type === "thinking") characters += block.thinking.length;
    else characters += block.name.length + JSON.stringify(block.arguments).length;
  }
  return characters;
}

function isFailed({ stopReason }: AssistantMessage): boolean {
  return stopReason === "error" || stopReason === "aborted";
}

/** An answer whose usage tells how large the conversation was. */
function isMeasure(message: AgentMessage): message is AssistantMessage {
  return message.role === "assistant" && !isFailed(message) && totalOf(message.usage) > 0;
}

function totalOf(usage: Usage): number {
  return usage.totalTokens || usage.output + promptTokens(usage);
}

function promptTokens(usage: Usage): number {
  return usage.input + usage.cacheRead + usage.cacheWrite;
}

/** From how many tokens on the conversation is too large. Undefined when nothing is known of the model's window. */
export function thresholdOf({ contextWindow }: Window, settings: CompactionSettings): number | undefined {
  const { thresholdTokens, thresholdPercent, reserveTokens } = settings;
  const window = contextWindow > 0 ? contextWindow : undefined;
  if (thresholdTokens > 0) return Math.min(thresholdTokens, window ?? thresholdTokens);
  if (window === undefined) return undefined;
  if (thresholdPercent > 0) return Math.floor((window * Math.min(thresholdPercent, 100)) / 100);
  // Of a small window no more than half is reserved: otherwise nothing would be left to talk in.
  return Math.max(window - reserveTokens, Math.floor(window / 2));
}

/** How much of the end may stay as it is: what the setting says, but no more than half of what there is room for. */
export function keepTokens(model: Window, settings: CompactionSettings): number {
  const threshold = thresholdOf(model, settings);
  return threshold === undefined ? settings.keepRecentTokens : Math.min(settings.keepRecentTokens, threshold / 2);
}

export interface ContextSize {
  tokens: number;
  /** A model has counted it since the last compaction; the rest is estimated. */
  isMeasured: boolean;
  isCompacted: boolean;
  /** Messages came after the last compaction, so that another one has something to do. */
  hasNews: boolean;
}

/**
 * The usage of the last answer, and estimates of what followed it. What an answer said before the last compaction does not
 * count. Stops looking when there are more tokens than `enough`.
 */
export function contextSize(fromLeaf: Iterable<SessionEntry>, enough = Number.POSITIVE_INFINITY): ContextSize {
  let tokens = 0;
  let hasNews = false;
  let compaction: Extract<SessionEntry, { type: "compaction" }> | undefined;
  let kept = 0;
  for (const entry of fromLeaf) {
    if (entry.type === "compaction") {
      if (compaction) continue;
      compaction = entry;
      tokens += estimateText(entry.summary);
      continue;
    }
    const message = messageOf(entry);
    if (compaction) {
      kept += message ? estimateTokens(message) : 0;
      if (entry.id === compaction.firstKeptEntryId) return sized(tokens + kept);
      continue;
    }
    if (!message) continue;
    hasNews = true;
    if (isMeasure(message)) return { ...sized(tokens + totalOf(message.usage)), isMeasured: true };
    tokens += estimateTokens(message);
    if (tokens > enough) break;
  }
  // A first kept entry that is not on the path: nothing before the compaction is kept.
  return sized(tokens);

  function sized(found: number): ContextSize {
    return { tokens: found, isMeasured: false, isCompacted: compaction !== undefined, hasNews };
  }
}

/** For get_state and the statistics. Undefined when the model's window is not known. */
export function contextUsageOf(fromLeaf: Iterable<SessionEntry>, model: Window | null): ContextUsage | undefined {
  if (!model || !(model.contextWindow > 0)) return undefined;
  const { contextWindow } = model;
  const { tokens, isMeasured, isCompacted } = contextSize(fromLeaf);
  if (isCompacted && !isMeasured) return { tokens: null, contextWindow, percent: null };
  return { tokens, contextWindow, percent: (tokens / contextWindow) * 100 };
}

/** The conversation is over the threshold, and a compaction would have something to do. */
export function isOverThreshold(
  fromLeaf: Iterable<SessionEntry>,
  model: Window | null,
  settings: CompactionSettings,
): boolean {
  const threshold = model ? thresholdOf(model, settings) : undefined;
  if (threshold === undefined) return false;
  const { tokens, hasNews } = contextSize(fromLeaf, threshold);
  return hasNews && tokens > threshold;
}

/**
 * How large the conversation was right after the last compaction, told by the first answer that came after it: what the
 * model counted, less what was added in between. Undefined when there is no such answer.
 */
export function tokensAfterCompaction(fromLeaf: Iterable<SessionEntry>): number | undefined {
  let added = 0;
  let first: number | undefined;
  for (const entry of fromLeaf) {
    if (entry.type === "compaction") return first === undefined ? undefined : first - added;
    const message = messageOf(entry);
    if (!message) continue;
    if (isMeasure(message)) {
      first = promptTokens(message.usage);
      added = 0;
    } else added += estimateTokens(message);
  }
  return undefined;
}
