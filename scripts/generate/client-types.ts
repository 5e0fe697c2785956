import { type TSchema, Type } from "typebox";
import { COMMANDS } from "../../packages/protocol/src/commands/index.ts";
import type { CommandRow, FrameRow } from "../../packages/protocol/src/define.ts";
import { EVENTS } from "../../packages/protocol/src/events.ts";
import { FRAMES } from "../../packages/protocol/src/frames.ts";
import { JsonSchema as JSON_SCHEMA } from "../../packages/protocol/src/tool.ts";
import { NAMED_TYPES } from "../../packages/protocol/src/types.ts";
import { type Json, withReferences } from "./json-schema.ts";
import { GENERATED_NOTE } from "./note.ts";

/**
 * The tables as plain TypeScript types, for the client: whoever installs the package gets them without the schema library,
 * and reads them in an editor as they would have been written by hand.
 */

const commands: CommandRow[] = Object.values(COMMANDS);

/** Where a schema says less than its table means. */
const SPELLED_OUT: Readonly<Record<string, string>> = {
  "set_host_tools.tools": "HostToolDefinition[]",
  "set_host_uri_schemes.schemes": "HostUriScheme[]",
  "get_subagent_messages.fromByte": "number",
  "set_subagent_subscription.level": "SubagentLevel",
};

export function renderClientTypes(): string {
  const named = Object.entries(NAMED_TYPES).map(([name, schema]) =>
    declaration(name, toldApart(withReferences(schema, true) as Json)),
  );
  const frames = Object.values<FrameRow>(FRAMES).map((row) =>
    declaration(frameTypeName(row.type), withReferences(row.schema, false), row.summary),
  );
  return `// ${GENERATED_NOTE}

${[...named, ...frames].join("\n\n")}

/** The fields of each command, without \`id\` and \`type\`. */
export interface CommandParams {
${commands.map((row) => member(row.type, fields(row.params, row.type), row.summary)).join("\n")}
}

/** What each command gives back: \`data\` of its answer. */
export interface CommandResults {
${commands.map((row) => member(row.type, row.result ? typeText(withReferences(row.result, false)) : "undefined")).join("\n")}
}

/** What each event says, without the fields that all of them have. */
export interface EventFields {
${Object.values(EVENTS)
  .map((row) => member(row.type, fields(row.fields), row.summary))
  .join("\n")}
}
`;
}

/** One method for each command. */
export function renderClientMethods(): string {
  const isFree = (row: CommandRow) => Object.keys(requiredOf(row)).length === 0;
  const signatures = commands.map((row) => {
    const params = `params${isFree(row) ? "?" : ""}: CommandParams["${row.type}"]`;
    const result = `Promise<CommandResults["${row.type}"]>`;
    return `${comment(row.summary, "  ")}  ${camel(row.type)}(${params}, options?: CallOptions): ${result};`;
  });
  const bodies = commands.map((row) => {
    const params = isFree(row) ? "params = {}" : "params";
    return `    ${camel(row.type)}: (${params}, options) => call("${row.type}", params, options),`;
  });
  return `// ${GENERATED_NOTE}
import type { Call, CallOptions } from "./call.ts";
import type { CommandParams, CommandResults, EventFields } from "./wire-types.generated.ts";

/** Every command as a method: its fields go in, \`data\` of its answer comes out. */
export interface CommandMethods {
${signatures.join("\n")}
}

export function createCommandMethods(call: Call): CommandMethods {
  return {
${bodies.join("\n")}
  };
}

/** Every event, by its type. */
export const EVENT_TYPES: readonly (keyof EventFields)[] = ${JSON.stringify(Object.keys(EVENTS))};
`;
}

/** A kind of entry whose type is any text would make all kinds look like it. */
function toldApart(schema: Json): Json {
  const kinds = schema.anyOf as Json[] | undefined;
  const isAny = (kind: Json) => {
    const type = (kind.properties as Record<string, Json> | undefined)?.type;
    return type !== undefined && !("const" in type);
  };
  return kinds?.some(isAny) ? { ...schema, anyOf: kinds.filter((kind) => !isAny(kind)) } : schema;
}

function requiredOf(row: CommandRow): string[] {
  return (Type.Object(row.params) as { required?: string[] }).required ?? [];
}

function fields(properties: Record<string, TSchema>, owner?: string): string {
  return typeText(withReferences(Type.Object(properties), true), owner);
}

function declaration(name: string, schema: unknown, summary?: string): string {
  const text = typeText(schema);
  const intro = comment(summary, "");
  return text.startsWith("{") && text.endsWith("}") && !text.includes("\n} |")
    ? `${intro}export interface ${name} ${text}`
    : `${intro}export type ${name} = ${text};`;
}

function member(name: string, text: string, summary?: string): string {
  return `${comment(summary, "  ")}  ${name}: ${indented(text)};`;
}

function comment(text: string | undefined, indent: string): string {
  return text === undefined ? "" : `${indent}/** ${text.replaceAll("*/", "* /")} */\n`;
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
  const isMeant = description === JSON.parse(JSON.stringify(JSON_SCHEMA)).description;
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
    const text = SPELLED_OUT[`${owner}.${name}`] ?? typeText(child);
    return `${comment(child.description as string | undefined, "  ")}  ${name}${required.has(name) ? "" : "?"}: ${indented(text)};`;
  });
  return `{\n${lines.join("\n")}\n}`;
}

/** `extension_ui_request` becomes `ExtensionUIRequest`. */
function frameTypeName(type: string): string {
  const name = type.replaceAll(/(^|_)([a-z])/g, (_, __, letter: string) => letter.toUpperCase()).replace("Ui", "UI");
  return type.includes("_") ? name : `${name}Frame`;
}

export function camel(type: string): string {
  return type.replaceAll(/_([a-z])/g, (_, letter: string) => letter.toUpperCase());
}
