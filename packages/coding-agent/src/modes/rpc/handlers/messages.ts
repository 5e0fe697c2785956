import type { AgentSession } from "../../../session/agent-session.ts";
import { type Handlers, ok } from "../answer.ts";

export function messageHandlers(session: AgentSession): Handlers<"get_messages" | "get_last_assistant_text"> {
  return {
    get_messages: () => ok({ messages: [...session.messages()] }),
    get_last_assistant_text: () => ok({ text: session.lastAssistantText() }),
  };
}
