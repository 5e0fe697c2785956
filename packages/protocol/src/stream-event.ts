import { type Static, Type } from "typebox";
import { ToolCall } from "./content.ts";
import { AssistantMessage } from "./message.ts";

/**
 * The sub-events inside `message_update`. `partial` is the assistant message so far; in `delta` update mode it is
 * thin (role and empty content), in `snapshot` mode it is whole.
 */
export const PartialAssistant = Type.Object({ role: Type.Literal("assistant"), content: Type.Array(Type.Unknown()) });

const contentIndex = Type.Integer({ minimum: 0 });
const partial = PartialAssistant;
const delta = Type.String();
const content = Type.String();

export const AssistantMessageEvent = Type.Union([
  Type.Object({ type: Type.Literal("start"), partial }),
  Type.Object({ type: Type.Literal("text_start"), contentIndex, partial }),
  Type.Object({ type: Type.Literal("text_delta"), contentIndex, delta, partial }),
  Type.Object({ type: Type.Literal("text_end"), contentIndex, content, partial }),
  Type.Object({ type: Type.Literal("thinking_start"), contentIndex, partial }),
  Type.Object({ type: Type.Literal("thinking_delta"), contentIndex, delta, partial }),
  Type.Object({ type: Type.Literal("thinking_end"), contentIndex, content, partial }),
  Type.Object({
    type: Type.Literal("toolcall_start"),
    contentIndex,
    id: Type.String(),
    toolName: Type.String(),
    partial,
  }),
  Type.Object({ type: Type.Literal("toolcall_delta"), contentIndex, delta, partial }),
  Type.Object({ type: Type.Literal("toolcall_end"), contentIndex, toolCall: ToolCall, partial }),
  Type.Object({
    type: Type.Literal("done"),
    reason: Type.Union([Type.Literal("stop"), Type.Literal("length"), Type.Literal("toolUse")]),
    message: AssistantMessage,
  }),
  Type.Object({
    type: Type.Literal("error"),
    reason: Type.Union([Type.Literal("aborted"), Type.Literal("error")]),
    error: AssistantMessage,
  }),
]);
export type AssistantMessageEvent = Static<typeof AssistantMessageEvent>;

/** The same without the snapshot: what travels inside the process; the edge adds `partial` as the update mode asks. */
export type StreamEvent = AssistantMessageEvent extends infer E
  ? E extends { partial: unknown }
    ? Omit<E, "partial">
    : E
  : never;
