import { type Static, Type } from "typebox";
import { defineFrame, table } from "./define.ts";
import { JsonSchema, ToolResult } from "./tool.ts";

/** Tools that the host runs: it registers them, we ask it to run them over the same pipe. */

export const HostToolDefinition = Type.Object({
  name: Type.String({ description: "unique, not empty, not the name of another tool" }),
  label: Type.Optional(Type.Union([Type.String(), Type.Null()])),
  description: Type.String({ description: "what the model is told, not empty" }),
  parameters: JsonSchema,
  hidden: Type.Optional(Type.Union([Type.Boolean(), Type.Null()], { description: "registered but not active" })),
  timeoutMs: Type.Optional(
    Type.Union([Type.Number(), Type.Null()], {
      description: "how long the host may take; without it as long as it likes",
    }),
  ),
});
export type HostToolDefinition = Static<typeof HostToolDefinition>;

export const HostToolCall = Type.Object({
  type: Type.Literal("host_tool_call"),
  id: Type.String({ description: "of this call; updates and the result repeat it" }),
  toolCallId: Type.String(),
  toolName: Type.String(),
  arguments: Type.Record(Type.String(), Type.Unknown()),
});
export type HostToolCall = Static<typeof HostToolCall>;

export const HostToolCancel = Type.Object({
  type: Type.Literal("host_tool_cancel"),
  id: Type.String(),
  targetId: Type.String({ description: "id of the host_tool_call that is given up" }),
});
export type HostToolCancel = Static<typeof HostToolCancel>;

export const HostToolUpdate = Type.Object({
  type: Type.Literal("host_tool_update"),
  id: Type.String(),
  partialResult: ToolResult,
});
export type HostToolUpdate = Static<typeof HostToolUpdate>;

export const HostToolResult = Type.Object({
  type: Type.Literal("host_tool_result"),
  id: Type.String(),
  result: ToolResult,
  isError: Type.Optional(Type.Boolean()),
});
export type HostToolResult = Static<typeof HostToolResult>;

const later = { systems: ["xcsh"] } as const;

export const HOST_TOOL_FRAMES = table({
  host_tool_call: defineFrame({
    type: "host_tool_call",
    summary: "Asks the host to run one of its tools; the host answers with `host_tool_result`.",
    direction: "out",
    schema: HostToolCall,
    ...later,
    examples: [
      {
        type: "host_tool_call",
        id: "host-1",
        toolCallId: "toolu_01",
        toolName: "open_ticket",
        arguments: { title: "Build is red" },
      },
    ],
  }),
  host_tool_cancel: defineFrame({
    type: "host_tool_cancel",
    summary: "Tells the host that the result of a call is no longer wanted.",
    direction: "out",
    schema: HostToolCancel,
    ...later,
    examples: [{ type: "host_tool_cancel", id: "host-2", targetId: "host-1" }],
  }),
  host_tool_update: defineFrame({
    type: "host_tool_update",
    summary: "Progress of a call: the result so far. It becomes a `tool_execution_update` event.",
    direction: "in",
    schema: HostToolUpdate,
    ...later,
    examples: [
      { type: "host_tool_update", id: "host-1", partialResult: { content: [{ type: "text", text: "half way" }] } },
    ],
  }),
  host_tool_result: defineFrame({
    type: "host_tool_result",
    summary: "The final result of a call. With `isError` the model sees the text as a failure.",
    direction: "in",
    schema: HostToolResult,
    ...later,
    examples: [
      { type: "host_tool_result", id: "host-1", result: { content: [{ type: "text", text: "ticket 7" }] } },
      {
        type: "host_tool_result",
        id: "host-1",
        result: { content: [{ type: "text", text: "no permission" }] },
        isError: true,
      },
    ],
  }),
});
