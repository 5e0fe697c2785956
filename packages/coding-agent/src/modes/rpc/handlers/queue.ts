import type { AgentSession } from "../../../session/agent-session.ts";
import { done, type Handlers, ok } from "../answer.ts";

export function queueHandlers(session: AgentSession): Handlers<"clear_queue" | "abort_retry"> {
  return {
    clear_queue: () => ok(session.clearQueue()),
    async abort_retry() {
      await session.abortRetry();
      return done;
    },
  };
}
