import type { CompactionResult } from "@tiller/protocol/compaction";
import type { AgentMessage, Usage } from "@tiller/protocol/message";
import type { Model } from "@tiller/protocol/model";
import type { SessionEntry } from "@tiller/protocol/session-entry";
import type { CompactionCause, GivenCompaction, SessionHooks } from "../ports.ts";
import { messageOf } from "../store/entry-rules.ts";
import { type CompactionEntry, type Cut, findCut, uncompacted } from "./cut-point.ts";
import { fileLists, fileListText, withoutFileLists } from "./file-lists.ts";
import {
  type CompactionSettings,
  contextSize,
  estimateAll,
  estimateText,
  estimateTokens,
  keepTokens,
  thresholdOf,
} from "./policy.ts";
import { type AskModel, earlierDetails, type Summarizer, type Summary, summarize, sumOf } from "./summarize.ts";

/** Makes a compaction, without writing or telling it. Loaded with the first one. */

export interface CompactionTask extends CompactionCause {
  fromLeaf(): Iterable<SessionEntry>;
  ask: AskModel;
  model: Model;
  settings: CompactionSettings;
  signal: AbortSignal;
  focus?: string;
  hooks?: SessionHooks;
  sessionId?: string;
}

export type Made =
  | {
      done: {
        /** `firstKeptEntryId` is undefined when no message is kept. */
        result: Omit<CompactionResult, "firstKeptEntryId"> & { firstKeptEntryId: string | undefined };
        isUnderThreshold: boolean;
        /** The summary is an extension's. */
        isGiven: boolean;
        /** What an extension wants to find beside the summary. */
        preserveData?: unknown;
      };
    }
  | { nothing: string }
  | { failed: string; isPassing: boolean }
  | { aborted: true };

const NOTHING = "Nothing to compact (session too small)";
const ALREADY = "Already compacted";
const NO_HISTORY = "No prior history.";
const SPLIT_TURN = "\n\n---\n\n**Turn Context (split turn):**\n\n";

export async function compactBranch(task: CompactionTask): Promise<Made> {
  const { previous, entries, hasNews } = uncompacted(task.fromLeaf());
  if (previous && !hasNews) return { nothing: ALREADY };
  const hasAnswer = entries.some((entry) => entry.type === "message" && entry.message.role === "assistant");
  const cut = hasAnswer ? findCut(entries, cutOptions(task)) : undefined;
  if (!cut) return { nothing: NOTHING + whyTooLarge(entries, task.model) };

  const cutMessages = [...cut.history, ...cut.turnPrefix];
  const details = fileLists(cutMessages, [previous?.details, ...earlierDetails(entries)]);
  const decided = await askExtensions(task, { cut, previous, entries, details });
  if (task.signal.aborted || decided?.cancel) return { aborted: true };
  if (decided?.compaction) return { done: givenSummary(decided.compaction, task, cut, entries) };

  const made = await summariesOf(cut, previous, { ...task, focus: decided?.focus ?? task.focus });
  if (task.signal.aborted) return { aborted: true };
  if ("failed" in made) return made;

  const summary = made.text + fileListText(details);
  const replaced = estimateAll(cutMessages) + estimateText(previous?.summary ?? "");
  const size = estimateText(summary);
  // Whoever asked for it gets it, however long it is.
  if (task.reason !== "manual" && size >= replaced) {
    const text = `the summary (about ${size} tokens) is not shorter than what it would replace (about ${replaced} tokens)`;
    return { failed: text, isPassing: false };
  }
  const tokensBefore = contextSize(task.fromLeaf()).tokens;
  const estimatedTokensAfter = size + estimateAll(cut.kept);
  const { firstKeptEntryId } = cut;
  const result = { summary, firstKeptEntryId, tokensBefore, details, estimatedTokensAfter, usage: sumOf(made.usages) };
  const threshold = thresholdOf(task.model, task.settings) ?? Number.POSITIVE_INFINITY;
  const isUnderThreshold = estimatedTokensAfter <= threshold;
  return { done: { result, isUnderThreshold, isGiven: false, preserveData: decided?.preserveData } };
}

/** Who asks because of one huge question reads of a session that is too small, and needs another way out. */
function whyTooLarge(entries: readonly SessionEntry[], { contextWindow, provider, id }: Model): string {
  const sizes = entries.map(messageOf).map((message) => (message ? estimateTokens(message) : 0));
  const largest = Math.max(0, ...sizes);
  if (!(contextWindow > 0) || largest <= contextWindow) return "";
  return `: nothing in it has an answer yet, and one message alone (about ${largest} tokens) is larger than the ${contextWindow} tokens of ${provider}/${id}; choose a model with a larger window (set_model), go back before that message (fork), or begin anew (new_session)`;
}

interface Planned {
  cut: Cut;
  previous: CompactionEntry | undefined;
  entries: readonly SessionEntry[];
  details: unknown;
}

/** They may say no, bring a summary of their own, or say what ours shall respect. */
async function askExtensions(task: CompactionTask, { cut, previous, entries, details }: Planned) {
  const { hooks, signal, focus } = task;
  if (!hooks) return undefined;
  const decided: { cancel: boolean; compaction?: GivenCompaction; focus?: string; preserveData?: unknown } = {
    cancel: false,
  };
  if (hooks.listens("session_before_compact")) {
    const preparation = {
      firstKeptEntryId: cut.firstKeptEntryId,
      messagesToSummarize: cut.history,
      turnPrefixMessages: cut.turnPrefix,
      isSplitTurn: cut.turnPrefix.length > 0,
      tokensBefore: contextSize(task.fromLeaf()).tokens,
      previousSummary: previous?.summary,
      fileOps: details,
      settings: task.settings,
    };
    const { reason, willRetry } = task;
    const event = { preparation, branchEntries: [...entries], customInstructions: focus, signal, reason, willRetry };
    Object.assign(decided, await hooks.run("session_before_compact", event, signal));
  }
  if (!decided.cancel && !decided.compaction && hooks.listens("session.compacting")) {
    const messages = [...cut.history, ...cut.turnPrefix];
    const more = await hooks.run("session.compacting", { sessionId: task.sessionId ?? "", messages }, signal);
    decided.preserveData = more.preserveData;
    decided.focus = [focus, more.prompt, ...more.context].filter((text) => text).join("\n\n") || undefined;
  }
  return decided;
}

/** A place to keep from that is not on this branch cannot be meant. */
function givenSummary(given: GivenCompaction, task: CompactionTask, cut: Cut, entries: readonly SessionEntry[]) {
  const { summary, details } = given;
  const isKnown = entries.some(({ id }) => id === given.firstKeptEntryId);
  const firstKeptEntryId = isKnown ? given.firstKeptEntryId : cut.firstKeptEntryId;
  const tokensBefore = given.tokensBefore ?? contextSize(task.fromLeaf()).tokens;
  const estimatedTokensAfter = estimateText(summary) + estimateAll(cut.kept);
  const threshold = thresholdOf(task.model, task.settings) ?? Number.POSITIVE_INFINITY;
  const result = { summary, firstKeptEntryId, tokensBefore, details, estimatedTokensAfter };
  return { result, isUnderThreshold: estimatedTokensAfter <= threshold, isGiven: true };
}

/** Somebody asked for it: then a short conversation is summarised too. */
function cutOptions({ model, settings, reason }: CompactionTask) {
  return { keepTokens: keepTokens(model, settings), mayKeepNothing: reason === "manual" };
}

type Text = { text: string; usages: Usage[] } | Extract<Made, { failed: string }>;

/** The notes on whole turns, and apart from them those on the beginning of a turn that is cut in two. */
async function summariesOf(cut: Cut, previous: CompactionEntry | undefined, task: CompactionTask): Promise<Text> {
  const summarizer: Summarizer = { ...task, reserveTokens: task.settings.reserveTokens };
  const { focus } = task;
  const before = previous && withoutFileLists(previous.summary);
  const history = await historyNotes(cut.history, before, summarizer, focus);
  if ("failed" in history || cut.turnPrefix.length === 0) return history;
  const prefix = asText(
    await summarize("turn prefix", cut.turnPrefix, summarizer, { focus }),
    "Turn prefix summarization failed",
  );
  if ("failed" in prefix) return prefix;
  return { text: history.text + SPLIT_TURN + prefix.text, usages: [...history.usages, ...prefix.usages] };
}

async function historyNotes(
  messages: readonly AgentMessage[],
  previous: string | undefined,
  summarizer: Summarizer,
  focus: string | undefined,
): Promise<Text> {
  // Nothing to add: the notes there are stay as they are.
  if (messages.length === 0) return { text: previous ?? NO_HISTORY, usages: [] };
  return asText(await summarize("history", messages, summarizer, { previous, focus }), "Summarization failed");
}

function asText(summary: Summary, failure: string): Text {
  if ("error" in summary) {
    const { message, retryable } = summary.error;
    return { failed: `${failure}: ${message}`, isPassing: retryable };
  }
  if ("empty" in summary) return { failed: `${failure}: the model gave an empty summary`, isPassing: false };
  return { text: withoutFileLists(summary.text), usages: summary.usages };
}
