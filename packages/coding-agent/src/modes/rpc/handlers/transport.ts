import { type Handlers, ok, refused } from "../answer.ts";
import type { EventFrames } from "../event-frames.ts";
import type { Transport } from "../transport.ts";

export function transportHandlers(
  transport: Transport,
  frames: EventFrames,
): Handlers<"negotiate_protocol" | "set_event_filter"> {
  return {
    async negotiate_protocol({ protocolVersion }) {
      if (protocolVersion !== 2) return refused(`Unsupported RPC protocol version: ${protocolVersion}`);
      const { begin } = await transport.negotiate();
      return { data: { protocolVersion }, job: async () => begin() };
    },
    set_event_filter({ events }) {
      if (events?.includes("")) return refused("events must be null or an array of non-empty event type strings");
      frames.only = events === null ? undefined : new Set(events);
      return ok({ events });
    },
  };
}
