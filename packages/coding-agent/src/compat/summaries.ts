import { SUMMARY_TAGS, SUMMARY_TASK, tagged } from "@tiller/ai/summary-task";
import type { AgentMessage, AssistantMessage, Usage } from "@tiller/protocol/message";
import type { Model } from "@tiller/protocol/model";
import type { SessionEntry } from "@tiller/protocol/session-entry";
import { messageOf } from "../session/store/entry-rules.ts";
import { askModel } from "./ask-model.ts";
import type { CompatHost } from "./host.ts";
import { contentText } from "./model-context.ts";

/** Summaries and token counts for extensions that compact in their own way. */

export const DEFAULT_COMPACTION_SETTINGS = { enabled: true, reserveTokens: 16384, keepRecentTokens: 20000 };

type CompactionSettings = typeof DEFAULT_COMPACTION_SETTINGS;

interface Preparation {
  firstKeptEntryId?: string;
  messagesToSummarize: readonly AgentMessage[];
  turnPrefixMessages?: readonly AgentMessage[];
  tokensBefore: number;
  previousSummary?: string;
  settings?: Partial<CompactionSettings>;
}

type Headers = Record<string, string>;

export async function summaryNames(host: CompatHost): Promise<Record<string, unknown>> {
  const conversation = await host.conversation();

  async function generateSummary(
    messages: readonly AgentMessage[],
    model: Model,
    reserveTokens: number,
    apiKey?: string,
    headers?: Headers,
    signal?: AbortSignal,
    customInstructions?: string,
    previousSummary?: string,
  ): Promise<string> {
    const text = [
      tagged(SUMMARY_TAGS.conversation, conversation.serialise(messages).join("\n\n")),
      ...(previousSummary ? [tagged(SUMMARY_TAGS.previous, previousSummary)] : []),
      ...(customInstructions ? [`Pay attention to: ${customInstructions}`] : []),
    ].join("\n\n");
    const context = {
      systemPrompt: `${SUMMARY_TASK} Keep goals, decisions, names of files and what is still to be done.`,
      messages: [{ role: "user" as const, content: text, timestamp: host.clock.now() }],
    };
    const maxTokens = Math.max(1, Math.floor(reserveTokens * 0.8));
    const answer = await askModel(host, host.stream, model, context, { apiKey, headers, signal, maxTokens }).result();
    return textOfAnswer(answer);
  }

  async function compact(
    preparation: Preparation,
    model: Model,
    apiKey?: string,
    headers?: Headers,
    customInstructions?: string,
    signal?: AbortSignal,
  ): Promise<object> {
    const {
      messagesToSummarize,
      turnPrefixMessages = [],
      firstKeptEntryId,
      tokensBefore,
      previousSummary,
    } = preparation;
    const messages = [...messagesToSummarize, ...turnPrefixMessages];
    const { reserveTokens = DEFAULT_COMPACTION_SETTINGS.reserveTokens } = preparation.settings ?? {};
    const how = [apiKey, headers, signal, customInstructions, previousSummary] as const;
    return { summary: await generateSummary(messages, model, reserveTokens, ...how), firstKeptEntryId, tokensBefore };
  }

  async function generateBranchSummary(
    entries: readonly SessionEntry[],
    options: { model: Model; apiKey?: string; headers?: Headers; signal?: AbortSignal; customInstructions?: string },
  ): Promise<object> {
    const { model, apiKey, headers, signal, customInstructions } = options;
    const messages = entries.flatMap((entry) => messageOf(entry) ?? []);
    if (messages.length === 0) return { summary: "No content to summarize" };
    const { reserveTokens } = DEFAULT_COMPACTION_SETTINGS;
    try {
      return {
        summary: await generateSummary(messages, model, reserveTokens, apiKey, headers, signal, customInstructions),
      };
    } catch (error) {
      return signal?.aborted ? { aborted: true } : { error: error instanceof Error ? error.message : String(error) };
    }
  }

  return {
    DEFAULT_COMPACTION_SETTINGS,
    convertToLlm: conversation.toLlm,
    serializeConversation: (messages: readonly AgentMessage[]) => conversation.serialise(messages).join("\n\n"),
    estimateTokens: conversation.estimateTokens,
    generateSummary,
    compact,
    generateBranchSummary,
    calculateContextTokens,
    getLastAssistantUsage,
    shouldCompact: (tokens: number, contextWindow: number, settings: CompactionSettings) =>
      settings.enabled && tokens > contextWindow - settings.reserveTokens,
  };
}

function textOfAnswer({ stopReason, errorMessage, content }: AssistantMessage): string {
  if (stopReason === "error" || stopReason === "aborted") {
    throw new Error(`Summarization failed: ${errorMessage ?? stopReason}`);
  }
  return contentText(content);
}

function calculateContextTokens({ totalTokens, input, output, cacheRead, cacheWrite }: Usage): number {
  return totalTokens || input + output + cacheRead + cacheWrite;
}

/** Of the last answer that came to its end. */
function getLastAssistantUsage(entries: readonly SessionEntry[]): Usage | undefined {
  for (const entry of entries.toReversed()) {
    const message = messageOf(entry);
    if (message?.role === "assistant" && message.stopReason !== "error" && message.stopReason !== "aborted") {
      return message.usage;
    }
  }
  return undefined;
}
