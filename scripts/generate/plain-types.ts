import { Type } from "typebox";
import { COMMANDS } from "../../packages/protocol/src/commands/index.ts";
import type { CommandRow, EventRow } from "../../packages/protocol/src/define.ts";
import { type EntryRow, entryOf } from "../../packages/protocol/src/define-entry.ts";
import { EVENT_ENVELOPE, EVENTS } from "../../packages/protocol/src/events.ts";
import * as extensionUi from "../../packages/protocol/src/extension-ui.ts";
import { FRAMES } from "../../packages/protocol/src/frames.ts";
import * as hostTools from "../../packages/protocol/src/host-tools.ts";
import * as hostUris from "../../packages/protocol/src/host-uris.ts";
import * as limits from "../../packages/protocol/src/limits.ts";
import { ENTRIES } from "../../packages/protocol/src/session-entry.ts";
import * as streamRules from "../../packages/protocol/src/stream-rule.ts";
import { NAMED_TYPES } from "../../packages/protocol/src/types.ts";
import type { JsonSchemaNode } from "./compile-check.ts";
import { GENERATED_NOTE } from "./note.ts";
import { typeName } from "./type-names.ts";

/**
 * The types of the protocol spelled out, for those who use the package: the tables infer them with the schema library,
 * which nobody shall have to install for that. A test compares the two.
 */
export function renderPlainTypes(): string {
  const commands = Object.values<CommandRow>(COMMANDS);
  const events = Object.values<EventRow>(EVENTS);
  const entries = Object.values<EntryRow>(ENTRIES).map((row) => entryOf(row) as JsonSchemaNode);
  const named = Object.entries(NAMED_TYPES).filter(([name]) => name !== "SessionEntry");
  return [
    `// ${GENERATED_NOTE}`,
    "// The types of the protocol without the schema library; what each command and event means stands in docs/protocol.md.",
    ...named.map(([name, schema]) => declared(name, schema)),
    ...otherTypes().map(([name, schema]) => declared(name, schema)),
    `/** An entry of a session file. */\nexport type SessionEntry = ${entries.map((entry) => spelled(entry)).join(" | ")};`,
    LLM_MESSAGE,
    table("CommandParams", "The fields of each command, without `id` and `type`.", commands, ({ type, params }) =>
      spelledObject(Type.Object(params), TOLD_BY_HANDLERS[type]),
    ),
    table("CommandResults", "What stands in `data` of each answer.", commands, ({ result }) =>
      result ? spelled(result) : "undefined",
    ),
    table("EventsByType", "What each event says, without its envelope.", events, ({ fields }) =>
      spelled(Type.Object(fields)),
    ),
    `/** Fields of every event. */\nexport type EventEnvelope = ${spelled(Type.Object(EVENT_ENVELOPE))};`,
    `export type FrameType = ${Object.keys(FRAMES)
      .map((type) => JSON.stringify(type))
      .join(" | ")};`,
    GENERIC_TYPES,
  ].join("\n\n");
}

/** Types that only their own modules call by name. */
function otherTypes(): [name: string, schema: JsonSchemaNode][] {
  const modules = { ...extensionUi, ...hostTools, ...hostUris, ...limits, ...streamRules } as Record<string, unknown>;
  return Object.entries(modules).flatMap(([name, schema]) => {
    const isType = /^[A-Z][a-z]/.test(name) && !Object.hasOwn(NAMED_TYPES, name);
    return isType ? [[name, schema as JsonSchemaNode] as [string, JsonSchemaNode]] : [];
  });
}

function declared(name: string, schema: JsonSchemaNode): string {
  return `${comment(schema)}export type ${name} = ${spelled(schema, true)};`;
}

function table<R extends { type: string; summary: string }>(
  name: string,
  says: string,
  rows: readonly R[],
  type: (row: R) => string,
): string {
  const lines = rows.map((row) => `  /** ${row.summary} */\n  ${row.type}: ${type(row)};`);
  return `/** ${says} */\nexport interface ${name} {\n${lines.join("\n")}\n}`;
}

/** Fields that their handlers look at themselves, to say better what is wrong: the schema lets everything through. */
const TOLD_BY_HANDLERS: Record<string, Record<string, string>> = {
  set_host_tools: { tools: "HostToolDefinition[]" },
  set_host_uri_schemes: { schemes: "HostUriScheme[]" },
  get_subagent_messages: { fromByte: "number" },
  set_subagent_subscription: { level: "SubagentLevel" },
};

interface SchemaNode extends JsonSchemaNode {
  allOf?: SchemaNode[];
}

/** A schema as a type; `isRoot` keeps a definition from naming itself. */
function spelled(node: SchemaNode, isRoot = false): string {
  const name = isRoot ? undefined : typeName(node);
  // It says no more than that it is an object, and so do others.
  if (name !== undefined && name !== "JsonSchema") return name;
  if (node.allOf) return node.allOf.map((part) => spelled(part)).join(" & ");
  if (node.anyOf) return node.anyOf.map((option) => spelled(option)).join(" | ");
  if ("const" in node) return JSON.stringify(node.const);
  switch (node.type) {
    case "string":
    case "boolean":
    case "null":
    case "number":
      return node.type;
    case "integer":
      return "number";
    case "array":
      return `(${spelled(node.items ?? {})})[]`;
    case "object":
      return spelledObject(node);
    case undefined:
      return "unknown";
    default:
      throw new Error(`no type for ${JSON.stringify(node)}`);
  }
}

function spelledObject(
  { properties, required = [], patternProperties }: JsonSchemaNode,
  told: Record<string, string> = {},
): string {
  const [values] = Object.values(patternProperties ?? {});
  if (values) return `Record<string, ${spelled(values)}>`;
  const fields = Object.entries(properties ?? {}).map(([name, node]) => {
    const key = /^\w+$/.test(name) ? name : JSON.stringify(name);
    return `${comment(node)}${key}${required.includes(name) ? "" : "?"}: ${told[name] ?? spelled(node)}`;
  });
  return fields.length === 0 ? "{}" : `{ ${fields.join("; ")} }`;
}

function comment({ description }: JsonSchemaNode): string {
  return description === undefined ? "" : `/** ${description.replaceAll("*/", "* /")} */ `;
}

const LLM_MESSAGE = `/** What a model is shown. */
export type LlmMessage = UserMessage | AssistantMessage | ToolResultMessage;

/** The increments inside the process: without the message so far. */
export type StreamEvent = AssistantMessageEvent extends infer E
  ? E extends { partial: unknown }
    ? Omit<E, "partial">
    : E
  : never;`;

const GENERIC_TYPES = `/** How a command is scheduled. */
export type Lane = "control" | "ordered" | "background";
/** Who has it. */
export type System = "pi" | "omp" | "xcsh" | "later" | "tiller";
/** A tool as the model is told about it. */
export interface ToolSpec {
  name: string;
  description: string;
  parameters: JsonSchema;
}

export type CommandType = keyof CommandParams;
export type EventType = keyof EventsByType;
/** Echoed as it came. */
export type RpcId = string | number;
export type Params<K extends CommandType> = CommandParams[K];
export type Result<K extends CommandType> = CommandResults[K];
export type EventFields<K extends EventType> = EventsByType[K];

/** A command as it stands on the wire; \`RpcCommand<"prompt">\` for one, \`RpcCommand\` for all. */
export type RpcCommand<K extends CommandType = CommandType> = {
  [T in K]: { id?: RpcId; type: T } & CommandParams[T];
}[K];

/** An event as it stands on the wire. */
export type RpcEvent<K extends EventType = EventType> = {
  [T in K]: { type: T } & EventEnvelope & EventsByType[T];
}[K];

export interface RpcFailure {
  id?: RpcId;
  type: "response";
  /** \`parse\` when the line could not be understood as a command. */
  command: string;
  success: false;
  error: string;
}

export type RpcSuccess<K extends CommandType = CommandType> = {
  [T in K]: { id?: RpcId; type: "response"; command: T; success: true } & (Result<T> extends undefined
    ? { data?: undefined }
    : { data: Result<T> });
}[K];

export type RpcResponse<K extends CommandType = CommandType> = RpcSuccess<K> | RpcFailure;
`;
