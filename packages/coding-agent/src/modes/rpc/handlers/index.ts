import type { WorkingCommand } from "@tiller/protocol/command-table.generated";
import type { Dialect } from "@tiller/protocol/dialects/dialect";
import type { AgentSession } from "../../../session/agent-session.ts";
import type { Handlers } from "../answer.ts";
import type { EventFrames } from "../event-frames.ts";
import type { HostSide } from "../host-side.ts";
import { bashHandlers } from "./bash.ts";
import { commandHandlers } from "./commands.ts";
import { compactionHandlers } from "./compaction.ts";
import { hostToolHandlers } from "./host-tools.ts";
import { hostUriHandlers } from "./host-uris.ts";
import { messageHandlers } from "./messages.ts";
import { modelHandlers } from "./model.ts";
import { modeHandlers } from "./modes.ts";
import { promptingHandlers } from "./prompting.ts";
import { queueHandlers } from "./queue.ts";
import { sessionHandlers } from "./session.ts";
import { type HostFacts, stateHandlers } from "./state.ts";
import { subAgentHandlers } from "./sub-agents.ts";
import { thinkingHandlers } from "./thinking.ts";
import { todoHandlers } from "./todos.ts";

/** Every command that works, by the group it belongs to: one that is missing here does not compile. */
export function createHandlers(
  session: AgentSession,
  frames: EventFrames,
  facts: HostFacts,
  dialect: Dialect,
  host: HostSide,
): Handlers<WorkingCommand> {
  return {
    ...promptingHandlers(session, dialect),
    ...queueHandlers(session),
    ...stateHandlers(session, frames, facts),
    ...messageHandlers(session),
    ...modelHandlers(session),
    ...thinkingHandlers(session),
    ...modeHandlers(session),
    ...bashHandlers(session),
    ...commandHandlers(session),
    ...compactionHandlers(session),
    ...sessionHandlers(session),
    ...hostToolHandlers(host),
    ...hostUriHandlers(host),
    ...todoHandlers(session),
    ...subAgentHandlers(session),
  };
}
