import { createContext, Script } from "node:vm";
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
  const check = () => (Check(tool.parameters, args) ? { args } : { error: problems(tool, given, args) });
  try {
    return hasPattern(tool.parameters) ? inTime(check) : check();
  } catch (error) {
    // A host or an extension may have given any schema: one that refers to itself for ever, or a pattern that is none.
    return { error: `Tool "${tool.name}" was not executed: its schema cannot be used: ${reasonOf(error)}` };
  }
}

function reasonOf(error: unknown): string {
  if (error instanceof RangeError) return "it refers to itself without end";
  const { code, message } = error as NodeJS.ErrnoException;
  return code === "ERR_SCRIPT_EXECUTION_TIMEOUT" ? `a pattern in it takes longer than ${MOST_MS} ms` : message;
}

/** There are patterns that take for ever on the right text, and nothing else happens meanwhile. */
const MOST_MS = 250;
const room: { work?: () => unknown } = createContext({});
const doWork = new Script("work()");

/** Only a script can be ended from outside, so the work is done by one. */
function inTime<T>(work: () => T): T {
  room.work = work;
  try {
    return doWork.runInContext(room, { timeout: MOST_MS }) as T;
  } finally {
    room.work = undefined;
  }
}

const patterned = new WeakMap<object, boolean>();

function hasPattern(schema: JsonSchema): boolean {
  const known = patterned.get(schema);
  if (known !== undefined) return known;
  const found = mentionsPattern(schema, new Set());
  patterned.set(schema, found);
  return found;
}

/** A property may have such a name too; what is said of it is then no text. */
function mentionsPattern(value: unknown, seen: Set<object>): boolean {
  if (typeof value !== "object" || value === null || seen.has(value)) return false;
  seen.add(value);
  return Object.entries(value).some(([key, inner]) => {
    const isPattern = key === "patternProperties" || (key === "pattern" && typeof inner === "string");
    return isPattern || mentionsPattern(inner, seen);
  });
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
    if (Object.hasOwn(result, key) && isObject(property)) result[key] = coerce(property, result[key]);
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
