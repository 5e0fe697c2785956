import type { AgentSession } from "../../../session/agent-session.ts";
import { type Handlers, ok, refused } from "../answer.ts";

export function compactionHandlers(session: AgentSession): Handlers<"compact" | "handoff"> {
  return {
    async compact({ customInstructions }) {
      const outcome = await session.compact(customInstructions);
      return "refused" in outcome ? refused(outcome.refused) : ok(outcome);
    },
    async handoff({ customInstructions }) {
      const outcome = await session.handOff(customInstructions);
      if ("refused" in outcome) return refused(outcome.refused);
      return ok(outcome.cancelled ? null : { savedPath: outcome.savedPath });
    },
  };
}
