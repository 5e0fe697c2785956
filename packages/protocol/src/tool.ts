import { type Static, Type } from "typebox";
import { ImageContent, TextContent } from "./content.ts";

/** What a tool returns, partly (an update) or finally. */
export const ToolResult = Type.Object({
  content: Type.Array(Type.Union([TextContent, ImageContent])),
  details: Type.Optional(Type.Unknown()),
});
export type ToolResult = Static<typeof ToolResult>;

export const JsonSchema = Type.Record(Type.String(), Type.Unknown(), { description: "a JSON Schema object" });
export type JsonSchema = Static<typeof JsonSchema>;

/** A tool as the model is told about it. */
export interface ToolSpec {
  name: string;
  description: string;
  parameters: JsonSchema;
}
