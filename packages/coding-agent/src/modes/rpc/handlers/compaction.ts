import type { AgentSession } from "../../../session/agent-session.ts";
import { type Handlers, ok, refused } from "../answer.ts";

export function compactionHandlers(session: AgentSession): Handlers<"compact"> {
  return {
    async compact({ customInstructions }) {
      const outcome = await session.compact(customInstructions);
      return "refused" in outcome ? refused(outcome.refused) : ok(outcome);
    },
  };
}
