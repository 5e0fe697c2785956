import type { AgentEvent } from "@tiller/agent/types";
import type { ProviderErrorKind } from "@tiller/ai/errors";
import type { CompactionResult } from "@tiller/protocol/compaction";
import type { AgentMessage, Usage } from "@tiller/protocol/message";
import type { ThinkingLevel } from "@tiller/protocol/model";
import type { SessionEntry } from "@tiller/protocol/session-entry";
import type { StreamRule } from "@tiller/protocol/stream-rule";
import type { Subagent, SubagentEvent } from "@tiller/protocol/sub-agent";
import type { TodoItem } from "@tiller/protocol/todo";
import type { LimitUse } from "./limits.ts";

/** Hosts send strings; a number is echoed as a number. */
export type CommandId = string | number;

/** A prompt that was accepted: it gets exactly one result. */
export interface AcceptedPrompt {
  promptId: string;
  commandId: CommandId | undefined;
  /** An extension has begun the run, or a background job that ended: nobody waits for a result. */
  isOwn?: true;
}

/** How one accepted prompt ended. Exactly one for each, whatever happened. */
export interface PromptResult {
  type: "prompt_result";
  /** The id of the command, when it had one. */
  id?: CommandId;
  status: "completed" | "aborted" | "error";
  agentInvoked: boolean;
  error?: {
    message: string;
    provider?: string;
    model?: string;
    kind?: ProviderErrorKind;
    httpStatus?: number;
    retryable: boolean;
  };
  /** The limit that ended it. */
  limit?: LimitUse;
  /** The built-in offline model answered, not a language model. */
  offline?: true;
  usage?: Usage;
  turns?: number;
  toolCalls?: number;
  durationMs?: number;
  sessionSettled: boolean;
}

/** How a compaction ended. Neither a result nor an error: it was aborted, or there was nothing to do. */
interface CompactionEnding {
  result?: CompactionResult;
  aborted: boolean;
  /** The run that could not go on without it goes on. */
  willRetry: boolean;
  errorMessage?: string;
  skipped?: true;
}

/** The first two only when nobody asked for it, the others always. */
export type CompactionEvent =
  | { type: "auto_compaction_start"; reason: "threshold" | "overflow"; action: "context-full" }
  | ({ type: "auto_compaction_end"; action: "context-full" } & CompactionEnding)
  | { type: "compaction_start"; reason: "manual" | "threshold" | "overflow" }
  | ({ type: "compaction_end"; reason: "manual" | "threshold" | "overflow" } & CompactionEnding);

/** What a session says: the loop's events, with the session's own around them. */
export type SessionEvent =
  | AgentEvent
  | { type: "agent_end"; messages: AgentMessage[]; willRetry: boolean; awaitingAsyncWork?: true }
  | { type: "agent_settled"; aborted: boolean }
  | PromptResult
  | { type: "session_settled" }
  | { type: "auto_retry_start"; attempt: number; maxAttempts: number; delayMs: number; errorMessage: string }
  | { type: "auto_retry_end"; success: boolean; attempt: number; finalError?: string }
  | CompactionEvent
  | { type: "thinking_level_changed"; level: ThinkingLevel }
  | { type: "session_info_changed"; name?: string }
  | { type: "entry_appended"; entry: SessionEntry }
  | { type: "bash_execution_update"; id?: CommandId; delta: string }
  | { type: "todo_reminder"; todos: TodoItem[]; attempt: number; maxAttempts: number }
  | { type: "todo_auto_clear" }
  | { type: "subagent_lifecycle"; payload: Subagent }
  | { type: "subagent_progress"; payload: Subagent }
  | { type: "subagent_event"; payload: SubagentEvent }
  | { type: "ttsr_triggered"; rules: StreamRule[] }
  | { type: "extension_error"; extensionPath: string; event: string; error: string }
  | { type: "notice"; level: "info" | "warning" | "error"; message: string; source?: string };

/** Where an event belongs. The same object for a whole run; it is read when the event is told, not later. */
export interface EventPlace {
  promptId: string;
  /** Counts the turns of a prompt from 0, over its retries. */
  turnIndex?: number;
  /** On the events of a message: all of one message have the same. */
  messageId?: string;
}

/** Takes one event; a promise means "not yet, wait for me". */
export type SessionListener = (event: SessionEvent, place: EventPlace | undefined) => undefined | Promise<void>;
