import type { AgentSession } from "../../../session/agent-session.ts";
import { type Handlers, ok } from "../answer.ts";

export function commandHandlers(
  session: AgentSession,
): Handlers<"get_commands" | "get_available_commands" | "get_context"> {
  const { resources } = session;
  return {
    get_commands: async () => ok((await resources()).commands()),
    get_available_commands: async () => ok((await resources()).availableCommands()),
    get_context: async () => ok(await (await resources()).context()),
  };
}
