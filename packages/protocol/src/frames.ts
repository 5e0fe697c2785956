import { type Static, Type } from "typebox";
import { Limits } from "./commands/state.ts";
import { defineFrame, table } from "./define.ts";
import { EXTENSION_UI_FRAMES } from "./extension-ui.ts";
import { HOST_TOOL_FRAMES } from "./host-tools.ts";
import { HOST_URI_FRAMES } from "./host-uris.ts";
import { TRANSPORT_FRAMES } from "./transport.ts";

/** Every frame that is neither a command nor an event. The dispatcher sorts what comes in. */

const id = Type.Optional(
  Type.Union([Type.String(), Type.Number()], { description: "of the command, if it had one; echoed as it came" }),
);

export const RpcResponseFrame = Type.Union([
  Type.Object({
    id,
    type: Type.Literal("response"),
    command: Type.String(),
    success: Type.Literal(true),
    data: Type.Optional(Type.Unknown({ description: "see the command" })),
  }),
  Type.Object({
    id,
    type: Type.Literal("response"),
    command: Type.String({ description: "`parse` when the line was not understood as a command" }),
    success: Type.Literal(false),
    error: Type.String(),
  }),
]);

export const ReadyFrame = Type.Object({
  type: Type.Literal("ready"),
  version: Type.String({ description: "of the program" }),
  dialect: Type.String(),
  protocolVersion: Type.Integer(),
  supportedProtocolVersions: Type.Array(Type.Integer()),
  maxFrameBytes: Type.Integer({ description: "as in `limits`; where omp has it" }),
  maxReassembledFrameBytes: Type.Integer({ description: "as in `limits`; where omp has it" }),
  limits: Limits,
});
export type ReadyFrame = Static<typeof ReadyFrame>;

export const FRAMES = {
  ...table({
    ready: defineFrame({
      type: "ready",
      summary: "The first frame: the process takes commands.",
      direction: "out",
      schema: ReadyFrame,
      systems: ["later"],
      examples: [
        {
          type: "ready",
          version: "0.1.0",
          dialect: "union",
          protocolVersion: 1,
          supportedProtocolVersions: [1, 2],
          maxFrameBytes: 1048576,
          maxReassembledFrameBytes: 67108864,
          limits: { maxLineBytes: 268435456, maxFrameBytes: 1048576, maxReassembledFrameBytes: 67108864 },
        },
      ],
    }),
    response: defineFrame({
      type: "response",
      summary: "The answer to a command.",
      direction: "out",
      schema: RpcResponseFrame,
      systems: ["pi", "omp", "xcsh"],
      examples: [
        { id: "req-1", type: "response", command: "prompt", success: true, data: { disposition: "started" } },
        { id: "req-2", type: "response", command: "set_model", success: false, error: "Model not found: acme/m1" },
        {
          type: "response",
          command: "parse",
          success: false,
          error: 'Failed to parse command: expected a JSON object with a "type", got null',
        },
      ],
    }),
  }),
  ...TRANSPORT_FRAMES,
  ...EXTENSION_UI_FRAMES,
  ...HOST_TOOL_FRAMES,
  ...HOST_URI_FRAMES,
} as const;

export type FrameType = keyof typeof FRAMES;
