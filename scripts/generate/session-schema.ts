import { Type } from "typebox";
import { ENTRY_BASE, type EntryRow, entryOf } from "../../packages/protocol/src/define-entry.ts";
import { AgentMessage } from "../../packages/protocol/src/message.ts";
import { ENTRIES, OtherEntry, SessionHeader, TitleLine } from "../../packages/protocol/src/session-entry.ts";
import { NAMED_TYPES } from "../../packages/protocol/src/types.ts";
import type { JsonSchemaNode } from "./compile-check.ts";
import { describedBy, type Json, reference, withReferences } from "./json-schema.ts";
import { forVersion, GENERATED_NOTE } from "./note.ts";

/** A line of a session file as JSON Schema. What we know must fit; what we do not know is welcome. */
export function renderSessionSchema(): string {
  const rows: EntryRow[] = Object.values(ENTRIES);
  const defs: Json = {
    SessionHeader: withReferences(SessionHeader, true),
    TitleLine: describedBy("The first line of files that newer omp releases write.", TitleLine),
  };
  for (const row of rows) defs[`entry.${row.type}`] = describedBy(row.summary, entrySchema(row));
  defs.OtherEntry = describedBy(
    "An entry of a kind that only its writer knows.",
    without(OtherEntry, "type", Object.keys(ENTRIES)),
  );
  defs.OtherMessage = describedBy("A message of a role that is not ours.", otherMessage());
  defs.Entry = { anyOf: [...rows.map((row) => reference(`entry.${row.type}`)), reference("OtherEntry")] };
  addNamedTypes(defs);
  const schema = {
    $schema: "https://json-schema.org/draft/2020-12/schema",
    $comment: forVersion(),
    title: "A line of a Tiller session file",
    description: `${GENERATED_NOTE} Version 3. The first line is the header, or a title line and then the header.`,
    anyOf: [reference("SessionHeader"), reference("TitleLine"), reference("Entry")],
    $defs: defs,
  };
  return `${JSON.stringify(schema, undefined, 2)}\n`;
}

function entrySchema(row: EntryRow): object {
  if (row.type === "message") return withMessageOfAnybody(entryOf(row));
  if (!row.elsewhere) return entryOf(row);
  const other = Type.Object({ type: Type.Literal(row.type), ...ENTRY_BASE, ...row.elsewhere.fields });
  return { anyOf: [entryOf(row), other] };
}

function withMessageOfAnybody(schema: JsonSchemaNode): object {
  const message = { anyOf: [reference("AgentMessage"), reference("OtherMessage")] };
  return { ...schema, properties: { ...schema.properties, message } };
}

function otherMessage(): object {
  const roles = AgentMessage.anyOf.map((message) => message.properties.role.const);
  return without(Type.Object({ role: Type.String() }), "role", roles);
}

/** The schema, but its text field must not be one of these. */
function without(schema: JsonSchemaNode, field: string, taken: readonly string[]): object {
  return { ...schema, properties: { ...schema.properties, [field]: { type: "string", not: { enum: taken } } } };
}

/** The types that are mentioned, and those that they mention. */
function addNamedTypes(defs: Json): void {
  const mentioned = (): string[] =>
    [...JSON.stringify(defs).matchAll(/"#\/\$defs\/([^"]+)"/g)].map(([, name]) => name ?? "");
  for (let missing = mentioned(); missing.length > 0; missing = mentioned().filter((name) => !(name in defs))) {
    for (const name of missing) {
      const schema = NAMED_TYPES[name];
      if (!(name in defs) && schema) defs[name] = withReferences(schema, true);
    }
  }
}
