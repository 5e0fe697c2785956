import type { AgentSession } from "../../../session/agent-session.ts";
import { type Handlers, ok, refused } from "../answer.ts";
import type { EventFrames } from "../event-frames.ts";
import type { Transport } from "../transport.ts";

export function transportHandlers(
  session: AgentSession,
  transport: Transport,
  frames: EventFrames,
): Handlers<"negotiate_protocol" | "set_event_filter" | "subscribe"> {
  return {
    async subscribe({ after }) {
      // Whoever had the session before may still be writing down how it ended.
      const unwritable = await session.writeProblem();
      if (unwritable !== undefined) return refused(unwritable);
      const [journal, { replayAfter }] = await Promise.all([session.journal.load(), import("../replay.ts")]);
      return {
        now() {
          const told = frames.told(journal, replayAfter, after);
          const { latest } = told;
          if (after !== undefined && after > latest) return refused(unheardOf(after, latest));
          const { frames: missing, ...places } = told;
          return { data: { ...places, count: missing.length }, behind: () => transport.send(missing) };
        },
      };
    },
    async negotiate_protocol({ protocolVersion }) {
      if (protocolVersion !== 2) return refused(`Unsupported RPC protocol version: ${protocolVersion}`);
      const { begin } = await transport.negotiate();
      return { now: () => ({ data: { protocolVersion }, behind: begin }) };
    },
    set_event_filter({ events }) {
      if (events?.includes("")) return refused("events must be null or an array of non-empty event type strings");
      frames.only = events === null ? undefined : new Set(events);
      return ok({ events });
    },
  };
}

function unheardOf(after: number, latest: number): string {
  return `"after" is ${after}, but the last event of this session has the number ${latest}: the journal was removed, or the number is one of another session. Read the session anew, and subscribe with {"after":${latest}}`;
}
