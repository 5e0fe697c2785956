import { Type } from "typebox";
import { defineCommand, table } from "../define.ts";

/** What a host says about the frames it wants, not about the session. */
export const TRANSPORT = table({
  negotiate_protocol: defineCommand({
    type: "negotiate_protocol",
    summary:
      "Chooses protocol version 2. Frames longer than `maxFrameBytes` then come as `rpc_chunk` frames, and `available_commands_update`, `session_info_update` and `config_update` are sent.",
    params: { protocolVersion: Type.Number({ description: "2; version 1 needs no negotiation" }) },
    result: Type.Object({ protocolVersion: Type.Integer({ description: "of all frames behind this answer" }) }),
    lane: "ordered",
    systems: ["later"],
    examples: [
      { params: { protocolVersion: 2 }, data: { protocolVersion: 2 } },
      { params: { protocolVersion: 3 }, error: "Unsupported RPC protocol version: 3" },
    ],
  }),
  subscribe: defineCommand({
    type: "subscribe",
    summary:
      "Tells once more the events behind a number, directly behind the answer and under the numbers they had; after a restart of the process, too. Without `after` it only tells where the events stand.",
    params: {
      after: Type.Optional(Type.Integer({ minimum: 0, description: "`seq` of the last event that the host has" })),
    },
    result: Type.Object({
      oldest: Type.Integer({ description: "from this number on events are kept" }),
      latest: Type.Integer({ description: "no event above it was told; what comes next has a higher number" }),
      missed: Type.Boolean({
        description: "events behind `after` are not kept any more: read the session anew (`get_messages`)",
      }),
      count: Type.Integer({ description: "events that follow this answer with nothing in between" }),
    }),
    lane: "ordered",
    systems: ["tiller"],
    examples: [
      { params: { after: 41 }, data: { oldest: 1, latest: 57, missed: false, count: 6 } },
      {
        note: "the journal is full and had to let go of old events",
        params: { after: 7 },
        data: { oldest: 30, latest: 57, missed: true, count: 11 },
      },
      { note: "only where the events stand", params: {}, data: { oldest: 1, latest: 57, missed: false, count: 0 } },
    ],
  }),
  set_event_filter: defineCommand({
    type: "set_event_filter",
    summary:
      "From now on only these events are sent; `null` is all of them. Responses and other frames come anyway, and so do `prompt_result`, `session_settled`, `extension_error` and the events of sub-agents that were asked for.",
    params: {
      events: Type.Union([Type.Array(Type.String()), Type.Null()], {
        description: "types of events; one that does not exist is not missed",
      }),
    },
    result: Type.Object({ events: Type.Union([Type.Array(Type.String()), Type.Null()]) }),
    lane: "ordered",
    systems: ["later"],
    examples: [
      { params: { events: ["message_end", "agent_end"] }, data: { events: ["message_end", "agent_end"] } },
      { params: { events: [""] }, error: "events must be null or an array of non-empty event type strings" },
    ],
  }),
});
