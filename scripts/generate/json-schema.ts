import { Type } from "typebox";
import { eventSchema } from "../../packages/protocol/src/check.ts";
import { COMMANDS } from "../../packages/protocol/src/commands/index.ts";
import type { CommandRow, FrameRow } from "../../packages/protocol/src/define.ts";
import { EVENTS } from "../../packages/protocol/src/events.ts";
import { FRAMES } from "../../packages/protocol/src/frames.ts";
import { NAMED_TYPES } from "../../packages/protocol/src/types.ts";
import { forVersion, GENERATED_NOTE } from "./note.ts";
import { typeName } from "./type-names.ts";

/** The whole protocol as one JSON Schema: `HostFrame` is what a host writes, `AgentFrame` what it reads. */

export type Json = Record<string, unknown>;

const commandId = Type.Optional(Type.Union([Type.String(), Type.Number()]));

export function renderJsonSchema(): string {
  const commands: CommandRow[] = Object.values(COMMANDS);
  const events = Object.values(EVENTS);
  const frames: FrameRow[] = Object.values(FRAMES);
  const defs: Json = {};
  for (const [name, schema] of Object.entries(NAMED_TYPES)) defs[name] = withReferences(schema, true);
  for (const row of commands) {
    defs[`command.${row.type}`] = describedBy(row.summary, commandSchema(row));
    if (row.result) defs[`result.${row.type}`] = withReferences(row.result, false);
  }
  for (const row of events) defs[`event.${row.type}`] = describedBy(row.summary, eventSchema(row.type));
  for (const row of frames) defs[`frame.${row.type}`] = describedBy(row.summary, row.schema);

  const framesOf = (direction: string) => frames.filter((row) => row.direction === direction).map(frameReference);
  defs.HostFrame = { anyOf: [...commands.map((row) => reference(`command.${row.type}`)), ...framesOf("in")] };
  defs.AgentFrame = { anyOf: [...framesOf("out"), ...events.map((row) => reference(`event.${row.type}`))] };
  const schema = {
    $schema: "https://json-schema.org/draft/2020-12/schema",
    $comment: forVersion(),
    title: "Tiller RPC frames",
    description: `${GENERATED_NOTE} One frame is one line of JSON.`,
    anyOf: [reference("HostFrame"), reference("AgentFrame")],
    $defs: defs,
  };
  return `${JSON.stringify(schema, undefined, 2)}\n`;
}

function commandSchema(row: CommandRow) {
  return Type.Object({ id: commandId, type: Type.Literal(row.type), ...row.params });
}

function frameReference(row: FrameRow): Json {
  return reference(`frame.${row.type}`);
}

export function reference(name: string): Json {
  return { $ref: `#/$defs/${name}` };
}

export function describedBy(description: string, schema: object): Json {
  return { description, ...(withReferences(schema, false) as Json) };
}

/** The schema with every named type replaced by a reference; `isRoot` keeps a definition from naming itself. */
export function withReferences(node: unknown, isRoot: boolean): unknown {
  if (Array.isArray(node)) return node.map((item) => withReferences(item, false));
  if (typeof node !== "object" || node === null) return node;
  const name = isRoot ? undefined : typeName(node);
  if (name !== undefined) {
    const description = (node as Json).description;
    return description === undefined ? reference(name) : { description, ...reference(name) };
  }
  return Object.fromEntries(Object.entries(node).map(([key, value]) => [key, withReferences(value, false)]));
}
