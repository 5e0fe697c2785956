import { COMMAND_TABLE, EVENT_TABLE } from "@tiller/protocol/command-table.generated";
import type { Limits } from "@tiller/protocol/commands/state";
import { type Dialect, hasEvent } from "@tiller/protocol/dialects/dialect";
import type { EventType } from "@tiller/protocol/events";
import type { PendingDialog } from "@tiller/protocol/extension-ui";
import { PROTOCOL_VERSIONS } from "@tiller/protocol/frame-limits";
import type { SessionState } from "@tiller/protocol/state";
import { toJson } from "../../../lib/wire-json.ts";
import type { AgentSession } from "../../../session/agent-session.ts";
import { done, type Handlers, ok } from "../answer.ts";
import type { EventFrames } from "../event-frames.ts";
import type { Transport } from "../transport.ts";

export interface HostFacts {
  version: string;
  dialect: Dialect;
  limits: Limits;
  /** Dialogs that wait for an answer; the same list as long as nothing has changed. */
  pendingDialogs?(): readonly PendingDialog[];
}

export function stateHandlers(
  session: AgentSession,
  frames: EventFrames,
  facts: HostFacts,
  transport: Pick<Transport, "protocolVersion">,
): Handlers<"get_state" | "get_capabilities" | "set_update_mode"> {
  /** Hosts ask for the state again and again while nothing changes: its JSON is kept. */
  let told: SessionState | undefined;
  let dialogs: readonly PendingDialog[] | undefined;
  let answer = { dataJson: "" };
  return {
    get_state(_, { again }) {
      if (again) return answer;
      const state = session.state();
      const pending = facts.pendingDialogs?.();
      if (state !== told || pending !== dialogs) {
        told = state;
        dialogs = pending;
        answer = { dataJson: toJson(pending && pending.length > 0 ? { ...state, pendingDialogs: pending } : state) };
      }
      return answer;
    },
    get_capabilities: () =>
      ok({
        version: facts.version,
        dialect: facts.dialect.name,
        protocolVersion: transport.protocolVersion,
        supportedProtocolVersions: [...PROTOCOL_VERSIONS],
        commands: working(COMMAND_TABLE),
        events: working(EVENT_TABLE).filter((type) => hasEvent(facts.dialect, type as EventType)),
        limits: facts.limits,
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
