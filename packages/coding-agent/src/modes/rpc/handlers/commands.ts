import type { AgentSession } from "../../../session/agent-session.ts";
import { type Handlers, ok, refused } from "../answer.ts";

export function commandHandlers(
  session: AgentSession,
): Handlers<"get_commands" | "get_available_commands" | "get_context"> {
  const { resources } = session;
  return {
    get_commands: async () => ok((await resources()).commands()),
    get_available_commands: async () => ok((await resources()).availableCommands()),
    async get_context() {
      // Which tools there are, and how much fits, depends on it.
      if (!session.models.model) return refused("There is no model that could see anything: choose one with set_model");
      return ok(await (await resources()).context());
    },
  };
}
