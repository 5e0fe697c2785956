import type { WorkingCommand } from "@tiller/protocol/command-table.generated";
import type { Dialect } from "@tiller/protocol/dialects/dialect";
import type { AgentSession } from "../../../session/agent-session.ts";
import type { ExtensionUi } from "../../../session/ports.ts";
import type { Handlers } from "../answer.ts";
import type { EventFrames } from "../event-frames.ts";
import type { HostSide } from "../host-side.ts";
import type { Transport } from "../transport.ts";
import { bashHandlers } from "./bash.ts";
import { commandHandlers } from "./commands.ts";
import { compactionHandlers } from "./compaction.ts";
import { hostToolHandlers } from "./host-tools.ts";
import { hostUriHandlers } from "./host-uris.ts";
import { loginHandlers } from "./logins.ts";
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
import { transportHandlers } from "./transport.ts";

export interface HandlerParts {
  session: AgentSession;
  frames: EventFrames;
  facts: HostFacts;
  dialect: Dialect;
  host: HostSide;
  transport: Transport;
  /** Undefined where nobody may ask the host anything. */
  ui: ExtensionUi | undefined;
}

/** Every command that works, by the group it belongs to: one that is missing here does not compile. */
export function createHandlers(parts: HandlerParts): Handlers<WorkingCommand> {
  const { session, frames, facts, dialect, host, transport, ui } = parts;
  return {
    ...promptingHandlers(session, dialect),
    ...queueHandlers(session),
    ...stateHandlers(session, frames, facts, transport),
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
    ...loginHandlers(session, ui),
    ...transportHandlers(session, transport, frames),
  };
}
