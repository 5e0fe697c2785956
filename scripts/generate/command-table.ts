import { Type } from "typebox";
import { COMMANDS } from "../../packages/protocol/src/commands/index.ts";
import type { CommandRow } from "../../packages/protocol/src/define.ts";
import { EVENTS } from "../../packages/protocol/src/events.ts";
import { compileFields, HelperFunctions, type JsonSchemaNode } from "./compile-check.ts";
import { GENERATED_NOTE } from "./note.ts";

/** The tables as plain code, for the start path: no schema library, checks already compiled. */
export function renderCommandTable(): string {
  const helpers = new HelperFunctions();
  const rows = Object.values(COMMANDS).map((row) => renderCommand(row, helpers));
  const working = Object.values<CommandRow>(COMMANDS)
    .filter((row) => row.opens === undefined)
    .map((row) => row.type);
  const events = Object.values(EVENTS).map((row) => {
    const opens = row.opens === undefined ? "" : `, opens: ${JSON.stringify(row.opens)}`;
    return `  ${row.type}: { promptScoped: ${row.promptScoped}, persisted: ${row.persisted}${opens} },`;
  });
  return `// ${GENERATED_NOTE}
import type { CommandType } from "./commands/index.ts";
import type { Lane } from "./define.ts";
import type { EventType } from "./events.ts";

export interface CommandTableRow {
  readonly lane: Lane;
  /** The capability that is still missing; absent when the command works. */
  readonly opens?: string;
  /** Fields in which \`null\` means absent: remove them before \`check\`. One inside another is \`outer.inner\`. */
  readonly optional: readonly string[];
  /** Do the fields fit? Fields that are not in the table are ignored. */
  readonly check: (v: Record<string, unknown>) => boolean;
}

export interface EventTableRow {
  readonly promptScoped: boolean;
  readonly persisted: boolean;
  readonly opens?: string;
}

/** The commands that this version can do: each must have a handler. */
export type WorkingCommand = ${working.map((type) => JSON.stringify(type)).join(" | ")};

const isObject = (v: unknown): v is Record<string, unknown> => typeof v === "object" && v !== null && !Array.isArray(v);
${helpers.source()}

export const COMMAND_TABLE: Readonly<Record<CommandType, CommandTableRow>> = {
${rows.join("\n")}
};

export const EVENT_TABLE: Readonly<Record<EventType, EventTableRow>> = {
${events.join("\n")}
};
`;
}

/** Also those inside of objects. Inside of lists there is none: a field there that may be absent has to take `null` itself. */
function optionalFields({ properties = {}, required = [] }: JsonSchemaNode): string[] {
  return Object.entries(properties).flatMap(([name, node]) => [
    ...(required.includes(name) ? [] : [name]),
    ...optionalFields(node).map((inner) => `${name}.${inner}`),
  ]);
}

function renderCommand(row: CommandRow, helpers: HelperFunctions): string {
  const schema: JsonSchemaNode = Type.Object(row.params);
  const opens = row.opens === undefined ? "" : `opens: ${JSON.stringify(row.opens)}, `;
  const check = compileFields(schema, "v", helpers);
  const parameter = check === "true" ? "()" : "(v)";
  return `  ${row.type}: { lane: "${row.lane}", ${opens}optional: ${JSON.stringify(optionalFields(schema))}, check: ${parameter} => ${check} },`;
}
