import type { JsonSchema } from "@tiller/protocol/tool";
import { Check, Errors } from "typebox/schema";
import type { AgentTool } from "./types.ts";

/**
 * Checks what the model sent against the tool's schema, after the small repairs models need: a number, a boolean, a list
 * or an object that came as text. Loaded with the first tool call, because the schema library is too heavy for the start.
 */
export function checkArguments(
  tool: Pick<AgentTool, "name" | "parameters">,
  given: unknown,
): { args: Record<string, unknown> } | { error: string } {
  const args = coerce(tool.parameters, given) as Record<string, unknown>;
  try {
    return Check(tool.parameters, args) ? { args } : { error: problems(tool, given, args) };
  } catch (error) {
    // A host or an extension may have given any schema: one that refers to itself for ever, or a pattern that is none.
    const reason = error instanceof RangeError ? "it refers to itself without end" : (error as Error).message;
    return { error: `Tool "${tool.name}" was not executed: its schema cannot be used: ${reason}` };
  }
}

function problems(tool: Pick<AgentTool, "name" | "parameters">, given: unknown, args: unknown): string {
  const [, errors] = Errors(tool.parameters, args);
  const lines = errors.map(
    (error) => `  - ${error.instancePath.slice(1).replaceAll("/", ".") || "root"}: ${error.message}`,
  );
  const received = JSON.stringify(given, null, 2);
  return `Validation failed for tool "${tool.name}":\n${lines.join("\n")}\n\nReceived arguments:\n${received}`;
}

function coerce(schema: JsonSchema, value: unknown): unknown {
  if (typeof value === "string") {
    const repaired = coerceText(schema.type, value);
    return typeof repaired === "object" ? coerce(schema, repaired) : repaired;
  }
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
  if (type === "array" || type === "object") return ofType(type, text) ?? text;
  return text;
}

/** Undefined when the text is no JSON, or JSON of something else. One object where a list is wanted is a list of one. */
function ofType(type: "array" | "object", text: string): object | undefined {
  try {
    const value: unknown = JSON.parse(text);
    if (type === "array" && Array.isArray(value)) return value;
    if (!isObject(value)) return undefined;
    return type === "array" ? [value] : value;
  } catch {
    return undefined;
  }
}

function isObject(value: unknown): value is Record<string, unknown> {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}
