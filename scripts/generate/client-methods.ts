import { Type } from "typebox";
import { COMMANDS } from "../../packages/protocol/src/commands/index.ts";
import type { CommandRow } from "../../packages/protocol/src/define.ts";
import { EVENTS } from "../../packages/protocol/src/events.ts";
import { GENERATED_NOTE } from "./note.ts";
import { comment } from "./plain-types.ts";

/** The client's method for each command. */
export function renderClientMethods(): string {
  const commands = Object.values<CommandRow>(COMMANDS);
  const signatures = commands.map((row) => {
    const params = `params${needsNothing(row) ? "?" : ""}: CommandParams["${row.type}"]`;
    const result = `Promise<CommandResults["${row.type}"]>`;
    return `${comment(row.summary, "  ")}  ${camel(row.type)}(${params}, options?: CallOptions): ${result};`;
  });
  const bodies = commands.map((row) => {
    const params = needsNothing(row) ? "params = {}" : "params";
    return `    ${camel(row.type)}: (${params}, options) => call("${row.type}", params, options),`;
  });
  return `// ${GENERATED_NOTE}
import type { CommandParams, CommandResults, EventType } from "@tiller/protocol/plain-types.generated";
import type { Call, CallOptions } from "./call.ts";

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
export const EVENT_TYPES: readonly EventType[] = ${JSON.stringify(Object.keys(EVENTS))};
`;
}

function needsNothing(row: CommandRow): boolean {
  const { required = [] } = Type.Object(row.params) as { required?: string[] };
  return required.length === 0;
}

function camel(type: string): string {
  return type.replaceAll(/_([a-z])/g, (_, letter: string) => letter.toUpperCase());
}
