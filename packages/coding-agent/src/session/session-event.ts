import type { AgentEvent } from "@tiller/agent/types";
import type { AgentMessage } from "@tiller/protocol/message";
import type { ThinkingLevel } from "@tiller/protocol/model";

/** Hosts send strings; a number is echoed as a number. */
export type CommandId = string | number;

/** How one accepted prompt ended. Exactly one for each, whatever happened. */
export interface PromptResult {
  type: "prompt_result";
  /** The id of the command, when it had one. */
  id?: CommandId;
  status: "completed" | "aborted" | "error";
  agentInvoked: boolean;
  error?: { message: string; provider?: string; model?: string; httpStatus?: number; retryable: boolean };
  /** The built-in offline model answered, not a language model. */
  offline?: true;
  sessionSettled: boolean;
}

/** What a session says: the loop's events, with the session's own around them. */
export type SessionEvent =
  | AgentEvent
  | { type: "agent_end"; messages: AgentMessage[]; willRetry: boolean }
  | { type: "agent_settled"; aborted: boolean }
  | PromptResult
  | { type: "session_settled" }
  | { type: "thinking_level_changed"; level: ThinkingLevel }
  | { type: "notice"; level: "info" | "warning" | "error"; message: string; source?: string };

/** Takes one event; a promise means "not yet, wait for me". `promptId` names the prompt that caused the event. */
export type SessionListener = (event: SessionEvent, promptId: string | undefined) => undefined | Promise<void>;
