import { type Static, Type } from "typebox";

/** The blocks messages are made of. */

export const TextContent = Type.Object({
  type: Type.Literal("text"),
  text: Type.String(),
  textSignature: Type.Optional(Type.String()),
});
export type TextContent = Static<typeof TextContent>;

export const ThinkingContent = Type.Object({
  type: Type.Literal("thinking"),
  thinking: Type.String(),
  thinkingSignature: Type.Optional(Type.String()),
  redacted: Type.Optional(Type.Boolean()),
});
export type ThinkingContent = Static<typeof ThinkingContent>;

export const ImageContent = Type.Object({
  type: Type.Literal("image"),
  data: Type.String({ description: "base64" }),
  mimeType: Type.String(),
});
export type ImageContent = Static<typeof ImageContent>;

export const ToolCall = Type.Object({
  type: Type.Literal("toolCall"),
  id: Type.String(),
  name: Type.String(),
  arguments: Type.Record(Type.String(), Type.Unknown()),
  thoughtSignature: Type.Optional(Type.String()),
});
export type ToolCall = Static<typeof ToolCall>;

export const UserContent = Type.Union([TextContent, ImageContent]);
export type UserContent = Static<typeof UserContent>;

export const AssistantContent = Type.Union([TextContent, ThinkingContent, ToolCall]);
export type AssistantContent = Static<typeof AssistantContent>;
