/** The library surface of the package: a session in your own process, see docs/library.md. */

export { createAgentSession } from "./library/create-agent-session.ts";
export type {
  AgentSession,
  AgentSessionEvent,
  AgentSessionListener,
  AgentSessionOptions,
  CreatedAgentSession,
  CustomTool,
  CustomToolResult,
  DialogOptions,
  Dialogs,
  PromptOptions,
  PromptResult,
} from "./library/types.ts";
