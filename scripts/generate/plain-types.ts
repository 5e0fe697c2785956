import { type TSchema, Type } from "typebox";
import { COMMANDS } from "../../packages/protocol/src/commands/index.ts";
import type { CommandRow, EventRow, FrameRow } from "../../packages/protocol/src/define.ts";
import { type EntryRow, entryOf } from "../../packages/protocol/src/define-entry.ts";
import { EVENT_ENVELOPE, EVENTS } from "../../packages/protocol/src/events.ts";
import { FRAMES } from "../../packages/protocol/src/frames.ts";
import { PromptLimits } from "../../packages/protocol/src/limits.ts";
import { ENTRIES } from "../../packages/protocol/src/session-entry.ts";
import { RuleInterruptMode, StreamRule } from "../../packages/protocol/src/stream-rule.ts";
import { JsonSchema as JSON_SCHEMA } from "../../packages/protocol/src/tool.ts";
import { NAMED_TYPES } from "../../packages/protocol/src/types.ts";
import { type Json, withReferences } from "./json-schema.ts";
import { GENERATED_NOTE } from "./note.ts";

/**
 * The tables as plain TypeScript types, for those who use the package and for the client: nobody shall have to install
 * the schema library to get them, and an editor shows them as they would have been written by hand. A test compares them
 * with what the tables infer.
 */
export function renderPlainTypes(): string {
  const commands = Object.values<CommandRow>(COMMANDS);
  const events = Object.values<EventRow>(EVENTS);
  const frames = Object.values<FrameRow>(FRAMES);
  return [
    `// ${GENERATED_NOTE}`,
    ...Object.entries(NAMED).map(([name, schema]) => declaration(name, withReferences(schema, true))),
    ...frames.map((row) => declaration(frameTypeName(row.type), withReferences(row.schema, false), row.summary)),
    LLM_MESSAGE,
    table("CommandParams", "The fields of each command, without `id` and `type`.", commands, (row) =>
      fields(row.params, row.type),
    ),
    table("CommandResults", "What each command gives back: `data` of its answer.", commands, ({ result }) =>
      result ? typeText(withReferences(result, false)) : "undefined",
    ),
    table("EventsByType", "What each event says, without the fields that all of them have.", events, (row) =>
      fields(row.fields),
    ),
    declaration("EventEnvelope", withReferences(Type.Object(EVENT_ENVELOPE), true), "Fields of every event."),
    `export type FrameType = ${frames.map(({ type }) => JSON.stringify(type)).join(" | ")};`,
    GENERIC_TYPES,
  ].join("\n\n");
}

const NAMED: Readonly<Record<string, TSchema>> = {
  ...NAMED_TYPES,
  // Without the kinds that nobody knows: their type is any text, which would make all kinds look like them.
  SessionEntry: Type.Union(
    Object.values<EntryRow>(ENTRIES).map((row) => entryOf(row)),
    {
      description: "An entry of a session file.",
    },
  ),
  PromptLimits,
  RuleInterruptMode,
  StreamRule,
};

/** Fields that their handlers look at themselves, to say better what is wrong: the schema lets everything through. */
const TOLD_BY_HANDLERS: Readonly<Record<string, string>> = {
  "set_host_tools.tools": "HostToolDefinition[]",
  "set_host_uri_schemes.schemes": "HostUriScheme[]",
  "get_subagent_messages.fromByte": "number",
  "set_subagent_subscription.level": "SubagentLevel",
};

function table<R extends { type: string; summary: string }>(
  name: string,
  says: string,
  rows: readonly R[],
  text: (row: R) => string,
): string {
  const lines = rows.map((row) => `${comment(row.summary, "  ")}  ${row.type}: ${indented(text(row))};`);
  return `${comment(says)}export interface ${name} {\n${lines.join("\n")}\n}`;
}

function fields(properties: Record<string, TSchema>, owner?: string): string {
  return typeText(withReferences(Type.Object(properties), true), owner);
}

function declaration(name: string, schema: unknown, summary = (schema as Json).description): string {
  const text = typeText(schema);
  const isOneObject = text.startsWith("{") && text.endsWith("}") && !/\n\} [|&]/.test(text);
  return `${comment(summary)}export ${isOneObject ? `interface ${name} ${text}` : `type ${name} = ${text};`}`;
}

export function comment(text: unknown, indent = ""): string {
  return text === undefined ? "" : `${indent}/** ${String(text).replaceAll("*/", "* /")} */\n`;
}

const indented = (text: string): string => text.replaceAll("\n", "\n  ");

/** A TypeScript type for the keywords that our tables use. */
function typeText(node: unknown, owner?: string): string {
  const schema = node as Json;
  if (typeof schema.$ref === "string") return referenceText(schema);
  if ("const" in schema) return JSON.stringify(schema.const);
  if (Array.isArray(schema.anyOf)) return schema.anyOf.map((each) => typeText(each)).join(" | ");
  if (Array.isArray(schema.allOf)) return schema.allOf.map((each) => typeText(each)).join(" & ");
  if (schema.type === "array") return arrayText(schema);
  if (schema.type === "object") return objectText(schema, owner);
  if (schema.type === "integer") return "number";
  return typeof schema.type === "string" ? schema.type : "unknown";
}

/** Any object with any fields has the structure of a JSON Schema; where it is meant, the description says so. */
function referenceText({ $ref, description }: Json): string {
  const name = String($ref).slice("#/$defs/".length);
  const isMeant = description === (withReferences(JSON_SCHEMA, true) as Json).description;
  return name === "JsonSchema" && !isMeant ? "Record<string, unknown>" : name;
}

function arrayText(schema: Json): string {
  const item = typeText(schema.items ?? {});
  return / [|&] /.test(item) ? `(${item})[]` : `${item}[]`;
}

function objectText(schema: Json, owner?: string): string {
  if (schema.patternProperties) {
    return `Record<string, ${typeText(Object.values(schema.patternProperties as Json)[0])}>`;
  }
  const properties = Object.entries((schema.properties ?? {}) as Record<string, Json>);
  if (properties.length === 0) return "Record<never, never>";
  const required = new Set((schema.required as string[] | undefined) ?? []);
  const lines = properties.map(([name, child]) => {
    const text = TOLD_BY_HANDLERS[`${owner}.${name}`] ?? typeText(child);
    return `${comment(child.description, "  ")}  ${name}${required.has(name) ? "" : "?"}: ${indented(text)};`;
  });
  return `{\n${lines.join("\n")}\n}`;
}

/** `extension_ui_request` becomes `ExtensionUIRequest`. */
function frameTypeName(type: string): string {
  const name = type.replaceAll(/(^|_)([a-z])/g, (_, __, letter: string) => letter.toUpperCase()).replace("Ui", "UI");
  return type.includes("_") ? name : `${name}Frame`;
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
