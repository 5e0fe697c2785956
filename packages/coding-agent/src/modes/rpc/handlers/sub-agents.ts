import type { AgentSession } from "../../../session/agent-session.ts";
import { type Handlers, ok } from "../answer.ts";

export function subAgentHandlers({
  subAgents,
}: AgentSession): Handlers<"get_subagents" | "get_subagent_messages" | "set_subagent_subscription"> {
  return {
    get_subagents: () => ok({ subagents: subAgents.made?.list() ?? [] }),
    async get_subagent_messages(params) {
      const read = (await subAgents.load()).messages(params);
      return "refused" in read ? read : ok(read);
    },
    async set_subagent_subscription({ level }) {
      const chosen = (await subAgents.load()).subscribe(level);
      return "refused" in chosen ? chosen : ok(chosen);
    },
  };
}
