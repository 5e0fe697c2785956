import { type Static, Type } from "typebox";
import { AvailableCommand } from "./commands/commands.ts";
import { exampleModel } from "./commands/examples.ts";
import { defineFrame, table } from "./define.ts";
import { Model, ThinkingLevel } from "./model.ts";

/** Frames that are sent once protocol version 2 is negotiated. */

export const RpcChunk = Type.Object({
  type: Type.Literal("rpc_chunk"),
  chunkId: Type.String({ description: "the same for all chunks of one frame" }),
  index: Type.Integer({ minimum: 0 }),
  count: Type.Integer({ minimum: 2, description: "of the chunks of this frame" }),
  byteLength: Type.Integer({ description: "of the whole frame, without its LF" }),
  data: Type.String({ description: "base64" }),
});
export type RpcChunk = Static<typeof RpcChunk>;

export const RpcFrameError = Type.Object({
  type: Type.Literal("rpc_frame_error"),
  originalType: Type.Optional(Type.String({ description: "of the frame that is missing" })),
  error: Type.String(),
});
export type RpcFrameError = Static<typeof RpcFrameError>;

const later = { direction: "out", systems: ["later"] } as const;

export const TRANSPORT_FRAMES = table({
  rpc_chunk: defineFrame({
    type: "rpc_chunk",
    summary:
      "A piece of a frame that is longer than `maxFrameBytes`. The pieces follow each other with nothing in between; their bytes, joined, are the frame.",
    schema: RpcChunk,
    ...later,
    examples: [
      {
        type: "rpc_chunk",
        chunkId: "rpc-1",
        index: 0,
        count: 5,
        byteLength: 1300000,
        data: "eyJpZCI6InJlcS0xIiwi",
      },
    ],
  }),
  rpc_frame_error: defineFrame({
    type: "rpc_frame_error",
    summary:
      "Stands for a frame that is longer than `maxReassembledFrameBytes`. A response of that size becomes a failure as well, and an `agent_end` comes without its messages, so that nobody waits for them in vain.",
    schema: RpcFrameError,
    ...later,
    examples: [
      {
        type: "rpc_frame_error",
        originalType: "agent_end",
        error: "agent_end has more than 67108864 bytes, which is the longest frame that can be sent in chunks",
      },
    ],
  }),
  available_commands_update: defineFrame({
    type: "available_commands_update",
    summary: "What a prompt can call with a slash: after the negotiation, and when another session is entered.",
    schema: Type.Object({
      type: Type.Literal("available_commands_update"),
      commands: Type.Array(AvailableCommand),
    }),
    ...later,
    examples: [
      {
        type: "available_commands_update",
        commands: [{ name: "review", description: "Review the staged changes", source: "prompt" }],
      },
    ],
  }),
  session_info_update: defineFrame({
    type: "session_info_update",
    summary: "Another session was entered, or the session has another name.",
    schema: Type.Object({
      type: Type.Literal("session_info_update"),
      title: Type.Optional(Type.String({ description: "absent when it has no name" })),
      sessionId: Type.String(),
    }),
    ...later,
    examples: [
      {
        type: "session_info_update",
        title: "repair the build",
        sessionId: "019b7618-5f00-7000-8000-000000000001",
      },
    ],
  }),
  config_update: defineFrame({
    type: "config_update",
    summary: "The model or the thinking level is another one.",
    schema: Type.Object({
      type: Type.Literal("config_update"),
      model: Type.Union([Model, Type.Null()]),
      thinkingLevel: ThinkingLevel,
    }),
    ...later,
    examples: [{ type: "config_update", model: exampleModel, thinkingLevel: "medium" }],
  }),
});
