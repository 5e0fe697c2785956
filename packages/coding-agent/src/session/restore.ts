import type { ToolCall } from "@tiller/protocol/content";
import type { AssistantMessage, ToolResultMessage } from "@tiller/protocol/message";
import type { ModelEntry, SessionEntry } from "@tiller/protocol/session-entry";
import type { EntryLog } from "./store/entry-log.ts";

/** What a session that is opened says about how it was left. Pure. */

export interface RecordedChoice {
  model?: { provider: string; id: string };
  thinkingLevel?: string;
}

/** The last model that was chosen or that answered, and the last thinking level, on this path. */
export function recordedChoice(log: EntryLog, path: readonly number[]): RecordedChoice {
  const choice: RecordedChoice = {};
  const saysLevel = log.holds("thinking_level_change");
  for (let at = path.length - 1; at >= 0; at--) {
    const position = path[at]!;
    choice.model ??= modelOf(log, position);
    if (choice.thinkingLevel === undefined && log.kind(position) === "thinking_level_change") {
      const { thinkingLevel } = (log.entry(position) ?? {}) as { thinkingLevel?: unknown };
      if (typeof thinkingLevel === "string") choice.thinkingLevel = thinkingLevel;
    }
    if (choice.model && (choice.thinkingLevel !== undefined || !saysLevel)) break;
  }
  return choice;
}

function modelOf(log: EntryLog, position: number): RecordedChoice["model"] {
  const kind = log.kind(position);
  if (kind === "model_change") {
    const { provider, modelId, role = "default" } = (log.entry(position) ?? {}) as Partial<ModelEntry>;
    // Others name models for side jobs with a role.
    const isMain = role === "default" && provider !== undefined && modelId !== undefined;
    return isMain ? { provider, id: modelId } : undefined;
  }
  if (kind !== "message" || log.role(position) !== "assistant") return undefined;
  const entry = log.entry(position);
  if (entry?.type !== "message" || entry.message.role !== "assistant") return undefined;
  return { provider: entry.message.provider, id: entry.message.model };
}

/** A run that a crash has cut off: its tool calls that never got a result. */
export interface Interruption {
  openCalls: { id: string; name: string }[];
}

/** Undefined when the last run came to its end. */
export function interruption(log: EntryLog, path: readonly number[]): Interruption | undefined {
  const answered = new Set<string>();
  let isAsked = false;
  for (let at = path.length - 1; at >= 0; at--) {
    const entry = log.entry(path[at]!);
    if (!entry) continue;
    if (endsRun(entry)) return isAsked ? { openCalls: [] } : undefined;
    if (entry.type === "custom_message") isAsked ||= ASKING.has(entry.customType);
    if (entry.type !== "message") continue;
    const { message } = entry;
    if (message.role === "toolResult") answered.add(message.toolCallId);
    else if (message.role === "user") return { openCalls: [] };
    else if (message.role === "assistant")
      return isAsked || answered.size > 0 || asksForTools(message) ? open(message, answered) : undefined;
  }
  return isAsked ? { openCalls: [] } : undefined;
}

/** Messages of ours with which a run begins, or goes on after an answer: behind them the model is always asked. */
export const ASKING: ReadonlySet<string> = new Set([
  "job-result",
  "todo-plan",
  "todo-reminder",
  "ttsr-injection",
  "auto-continue",
]);

const ENDED: ReadonlySet<string> = new Set(["tiller.run_end", "tiller.leaf"]);

/** Entries that are written where a run ended, or where somebody went who did not run anything. */
function endsRun(entry: SessionEntry): boolean {
  return entry.type === "branch_summary" || (entry.type === "custom" && ENDED.has(entry.customType));
}

function asksForTools(message: AssistantMessage): boolean {
  const isFailed = message.stopReason === "error" || message.stopReason === "aborted";
  return !isFailed && callsOf(message).length > 0;
}

function open(message: AssistantMessage, answered: ReadonlySet<string>): Interruption {
  const openCalls = callsOf(message).filter(({ id }) => !answered.has(id));
  return { openCalls: openCalls.map(({ id, name }) => ({ id, name })) };
}

/** Files of other programs may have a text in place of the list, or nothing. */
function callsOf({ content }: AssistantMessage): ToolCall[] {
  return Array.isArray(content) ? content.filter((block) => block?.type === "toolCall") : [];
}

/** What the model is told about a call whose end nobody saw. */
export function interruptedResult(call: { id: string; name: string }, timestamp: number): ToolResultMessage {
  const text = "Interrupted: the process ended before this tool call did. What it has done until then is not known.";
  return {
    role: "toolResult",
    toolCallId: call.id,
    toolName: call.name,
    content: [{ type: "text", text }],
    isError: true,
    timestamp,
  };
}

/** Entries from the leaf back to the root, parsed as they are asked for. */
export function* fromLeaf(log: EntryLog, leaf: number): Generator<SessionEntry> {
  for (let at = leaf; at >= 0; at = log.parent(at)) {
    const entry = log.entry(at);
    if (entry) yield entry;
  }
}
