import { COMMAND_TABLE, EVENT_TABLE } from "@tiller/protocol/command-table.generated";
import type { AgentSession } from "../../../session/agent-session.ts";
import { done, type Handlers, ok } from "../answer.ts";
import type { EventFrames } from "../event-frames.ts";

export interface HostFacts {
  version: string;
  dialect: string;
  maxLineBytes: number;
}

export function stateHandlers(
  session: AgentSession,
  frames: EventFrames,
  facts: HostFacts,
): Handlers<"get_state" | "get_capabilities" | "set_update_mode"> {
  return {
    get_state: () => ok(session.state()),
    get_capabilities: () =>
      ok({
        version: facts.version,
        dialect: facts.dialect,
        commands: working(COMMAND_TABLE),
        events: working(EVENT_TABLE),
        limits: { maxLineBytes: facts.maxLineBytes },
      }),
    set_update_mode({ mode }) {
      frames.mode = mode;
      return done;
    },
  };
}

function working(rows: Readonly<Record<string, { opens?: string }>>): string[] {
  return Object.keys(rows).filter((name) => rows[name]?.opens === undefined);
}
