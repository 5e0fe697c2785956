import type { JsonSchema } from "@tiller/protocol/tool";
import { Check, Errors } from "typebox/schema";
import type { AgentTool } from "./types.ts";

/**
 * Checks what the model sent against the tool's schema, after the small repairs models need: a number or a boolean that
 * came as text. Loaded with the first tool call, because the schema library is too heavy for the start.
 */
export function checkArguments(
  tool: Pick<AgentTool, "name" | "parameters">,
  given: Record<string, unknown>,
): { args: Record<string, unknown> } | { error: string } {
  const args = coerce(tool.parameters, given) as Record<string, unknown>;
  if (Check(tool.parameters, args)) return { args };
  const [, errors] = Errors(tool.parameters, args);
  const lines = errors.map(
    (error) => `  - ${error.instancePath.slice(1).replaceAll("/", ".") || "root"}: ${error.message}`,
  );
  const received = JSON.stringify(given, null, 2);
  return {
    error: `Validation failed for tool "${tool.name}":\n${lines.join("\n")}\n\nReceived arguments:\n${received}`,
  };
}

function coerce(schema: JsonSchema, value: unknown): unknown {
  if (typeof value === "string") return coerceText(schema.type, value);
  if (Array.isArray(value)) {
    const { items } = schema;
    return isObject(items) ? value.map((item) => coerce(items, item)) : value;
  }
  if (!isObject(value) || !isObject(schema.properties)) return value;
  const result: Record<string, unknown> = { ...value };
  for (const [key, property] of Object.entries(schema.properties)) {
    if (key in result && isObject(property)) result[key] = coerce(property, result[key]);
  }
  return result;
}

function coerceText(type: unknown, text: string): unknown {
  if ((type === "number" || type === "integer") && text.trim() !== "" && Number.isFinite(Number(text)))
    return Number(text);
  if (type === "boolean" && (text === "true" || text === "false")) return text === "true";
  return text;
}

function isObject(value: unknown): value is Record<string, unknown> {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}
