import type { AgentSession } from "../../../session/agent-session.ts";
import { done, type Handlers, ok } from "../answer.ts";

export function thinkingHandlers(
  session: AgentSession,
): Handlers<"set_thinking_level" | "cycle_thinking_level" | "get_available_thinking_levels"> {
  const { models } = session;
  return {
    set_thinking_level({ level }) {
      models.setThinkingLevel(level);
      return done;
    },
    cycle_thinking_level() {
      const level = models.cycleThinkingLevel();
      return ok(level && { level });
    },
    get_available_thinking_levels: () => ok({ levels: [...models.levels()] }),
  };
}
