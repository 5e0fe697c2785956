import type { AgentSession } from "../../../session/agent-session.ts";
import { type Handlers, ok, refused } from "../answer.ts";

export function messageHandlers(
  session: AgentSession,
): Handlers<"get_messages" | "get_messages_page" | "get_last_assistant_text"> {
  const { history } = session;
  return {
    get_messages: async () => ({ dataPieces: (await history()).views.messages() }),
    async get_messages_page(params) {
      const page = (await history()).views.messagesPage(params);
      return "refused" in page ? refused(page.refused) : { dataPieces: page };
    },
    get_last_assistant_text: () => ok({ text: session.lastAssistantText() }),
  };
}
