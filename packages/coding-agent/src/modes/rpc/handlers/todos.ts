import type { AgentSession } from "../../../session/agent-session.ts";
import { type Handlers, ok } from "../answer.ts";

export function todoHandlers(session: AgentSession): Handlers<"set_todos"> {
  return {
    async set_todos({ phases }) {
      const kept = await session.setTodos(phases);
      return "refused" in kept ? kept : ok({ todoPhases: kept });
    },
  };
}
