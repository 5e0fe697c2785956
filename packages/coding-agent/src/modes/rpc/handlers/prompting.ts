import type { AgentSession } from "../../../session/agent-session.ts";
import { done, type Handlers, refused } from "../answer.ts";

export function promptingHandlers(session: AgentSession): Handlers<"prompt" | "abort"> {
  return {
    prompt({ message, images, streamingBehavior }, { id }) {
      const admission = session.admit({ message, images, streamingBehavior, commandId: id });
      if ("refused" in admission) return refused(admission.refused);
      return { data: { disposition: "started" }, job: admission.job };
    },
    async abort() {
      await session.abort();
      return done;
    },
  };
}
