import type { AgentTool, AgentToolResult, ToolInvocation } from "@tiller/agent/types";
import type { JsonSchema, ToolResult } from "@tiller/protocol/tool";
import { plainJson } from "../lib/plain-json.ts";
import { objectSchemaProblem } from "../lib/schema-problem.ts";
import { contentOf, isRecord } from "./answers.ts";
import { type Call, newCall } from "./call.ts";
import type { Extension, ToolDefinition } from "./extension.ts";
import { errorText } from "./guards/rejections.ts";

/** Why this is no tool, in one sentence; undefined when it is one. */
export function toolProblem(given: unknown): string | undefined {
  if (!isRecord(given)) return "a tool must be an object";
  const { name, execute, parameters, description } = given;
  if (typeof name !== "string" || !/^[\w-]{1,64}$/.test(name))
    return `a tool needs a name of letters, digits, "_" and "-", not ${JSON.stringify(name)}`;
  if (typeof execute !== "function") return `the tool "${name}" has no function execute`;
  if (description !== undefined && typeof description !== "string")
    return `the description of "${name}" must be a text`;
  const wrong = schemaProblem(parameters);
  return wrong && `the parameters of the tool "${name}" are no JSON Schema of an object: ${wrong}`;
}

function schemaProblem(schema: unknown): string | undefined {
  if (schema === undefined) return undefined;
  if (!isRecord(schema)) return `they are ${Array.isArray(schema) ? "a list" : typeof schema}`;
  // First of all: what is wrong with it may be that it has no end.
  const unwritable = jsonProblem(schema);
  if (unwritable !== undefined) return unwritable;
  return objectSchemaProblem(schema);
}

function jsonProblem(value: unknown): string | undefined {
  try {
    plainJson(value);
    return undefined;
  } catch (error) {
    return errorText(error).split("\n", 1)[0];
  }
}

export interface ToolSurroundings {
  context(extension: Extension, call: Call): object;
  enter(label: string): () => void;
  /** It is at work until the function that this gives back is called: those who are loaded anew let it end. */
  use(): () => void;
  /** What a built-in tool of the same name is, so that one in its place is the same. */
  concurrencyOf(name: string): AgentTool["concurrency"] | undefined;
}

/** With what the system prompt says of it. */
export interface ExtensionTool extends AgentTool {
  promptSnippet: string;
  promptGuidelines: readonly string[];
}

/** What the loop runs. */
export function agentTool(extension: Extension, definition: ToolDefinition, around: ToolSurroundings): ExtensionTool {
  const { name, label = name, description = "", parameters, executionMode } = definition;
  return {
    name,
    label,
    description,
    parameters: plainSchema(parameters),
    concurrency: executionMode
      ? executionMode === "parallel"
        ? "shared"
        : "exclusive"
      : (around.concurrencyOf(name) ?? "exclusive"),
    promptSnippet: definition.promptSnippet ?? "",
    promptGuidelines: definition.promptGuidelines ?? [],
    ...(definition.prepareArguments && { prepareArguments: (args: unknown) => definition.prepareArguments?.(args) }),
    async execute(invocation) {
      const call = newCall(invocation.signal);
      const over = around.use();
      // Nobody waits for one that does not listen to the abort.
      invocation.signal.addEventListener("abort", over, { once: true });
      try {
        return resultOf(name, await execute(extension, definition, { invocation, call }, around));
      } finally {
        call.isOver = true;
        invocation.signal.removeEventListener("abort", over);
        over();
      }
    },
  };
}

/** The symbols that a schema library leaves in it are nobody else's business. */
function plainSchema(parameters: unknown): JsonSchema {
  if (parameters === undefined) return { type: "object", properties: {} };
  const plain = plainJson(parameters) as JsonSchema;
  return plain.type === undefined && plain.properties === undefined
    ? { type: "object", properties: {}, ...plain }
    : plain;
}

function execute(
  extension: Extension,
  definition: ToolDefinition,
  { invocation: { toolCallId, args, signal, onUpdate }, call }: { invocation: ToolInvocation; call: Call },
  { context, enter }: ToolSurroundings,
): unknown {
  const update = (partial: unknown): void => {
    const result = partialOf(partial);
    if (result) onUpdate(result);
  };
  const leave = enter(`${extension.source.path} (tool ${definition.name})`);
  try {
    return definition.execute(toolCallId, args, signal, update, context(extension, call));
  } finally {
    leave();
  }
}

function partialOf(partial: unknown): ToolResult | undefined {
  if (!isRecord(partial)) return undefined;
  const content = contentOf(partial.content ?? []);
  return content && { content, ...(partial.details === undefined ? {} : { details: plainJson(partial.details) }) };
}

function resultOf(name: string, given: unknown): AgentToolResult {
  if (typeof given === "string") return { content: [{ type: "text", text: given.toWellFormed() }] };
  const result = partialOf(given);
  if (!result || !isRecord(given))
    throw new Error(
      `The tool "${name}" gave back no result: it must be an object with content (text and image blocks)`,
    );
  return {
    ...result,
    ...(given.isError === true && { isError: true }),
    ...(given.terminate === true && { terminate: true }),
  };
}
