import { COMMANDS } from "../../packages/protocol/src/commands/index.ts";
import type { CommandRow, FrameRow } from "../../packages/protocol/src/define.ts";
import { EVENTS } from "../../packages/protocol/src/events.ts";
import { FRAMES } from "../../packages/protocol/src/frames.ts";
import { type Json, renderJsonSchema } from "./json-schema.ts";
import { GENERATED_NOTE } from "./note.ts";
import { oneLine, PythonTypes, pascalCase, snakeCase } from "./python-types.ts";

/** The generated half of clients/python: the types of the schema, and a method for each command. */

const FOLDER = "clients/python/src/tiller_rpc";

/** These run beside the others and yet are answered soon; all other background commands take as long as they take. */
const SOON_ANSWERED = new Set(["prompt", "abort_and_prompt"]);

interface Method {
  type: string;
  /** The parameters as Python writes them, without `self`. */
  parameters: string[];
  /** `("message", message)`, one for each field. */
  fields: string[];
  result: string;
  summary: string;
  notes: string[];
}

export function pythonClientFiles(): Map<string, string> {
  const { $defs } = JSON.parse(renderJsonSchema()) as { $defs: Record<string, Json> };
  const types = new PythonTypes();
  for (const [name, schema] of Object.entries($defs)) {
    if (/^[A-Z]/.test(name) && !name.endsWith("Frame")) types.define(name, schema);
  }
  const methods = Object.values<CommandRow>(COMMANDS).map((row) => method(row, $defs, types));
  const events = Object.keys(EVENTS).map((type) => defineAs(`${pascalCase(type)}Event`, $defs[`event.${type}`], types));
  types.alias("Event", `Union[${events.join(", ")}]`, "Everything that the agent tells by itself.");
  const frames = Object.values<FrameRow>(FRAMES).map((row) => ({
    ...row,
    name: defineAs(`${pascalCase(row.type)}Frame`, $defs[`frame.${row.type}`], types),
  }));
  const told = frames.filter((row) => row.direction === "out" && row.type !== "response").map(({ name }) => name);
  types.alias("Notification", `Union[Event, ${told.join(", ")}]`, "Every frame that is not the answer to a command.");
  return new Map([
    [`${FOLDER}/types.py`, typesModule(types)],
    [`${FOLDER}/commands.py`, commandsModule(methods)],
  ]);
}

function defineAs(name: string, schema: Json | undefined, types: PythonTypes): string {
  types.define(name, schema ?? {});
  return name;
}

function method(row: CommandRow, defs: Record<string, Json>, types: PythonTypes): Method {
  const schema = defs[`command.${row.type}`] ?? {};
  const required = new Set((schema.required ?? []) as string[]);
  const fields = Object.entries((schema.properties ?? {}) as Record<string, Json>).filter(
    ([name]) => name in row.params,
  );
  const must = fields.filter(([name]) => required.has(name));
  const may = fields.filter(([name]) => !required.has(name));
  const type = ([name, node]: [string, Json]) => types.annotation(node, `${pascalCase(row.type)}${pascalCase(name)}`);
  const result = defs[`result.${row.type}`];
  return {
    type: row.type,
    parameters: [
      ...must.map((field) => `${snakeCase(field[0])}: ${type(field)}`),
      "*",
      ...may.map((field) => `${snakeCase(field[0])}: Optional[${type(field)}] = None`),
      "request_timeout: Optional[float] = None",
    ],
    fields: fields.map(([name]) => `"${name}": ${snakeCase(name)}`),
    result: result === undefined ? "None" : types.annotation(result, `${pascalCase(row.type)}Result`),
    summary: row.summary,
    notes: [
      ...(row.opens === undefined ? [] : [`Not there yet: it comes with ${row.opens}.`]),
      ...fields
        .filter(([, node]) => node.description !== undefined)
        .map(([name, node]) => `:param ${snakeCase(name)}: ${oneLine(node.description)}`),
    ],
  };
}

function typesModule(types: PythonTypes): string {
  const names = types.names().map((name) => `    "${name}",\n`);
  return `# ${GENERATED_NOTE}
"""The types of the protocol. On the wire all of them are plain dictionaries, lists and values."""

from __future__ import annotations

from typing import Any, Dict, List, Literal, TypedDict, Union

__all__ = [
${names.join("")}]


${types.source()}
`;
}

function commandsModule(methods: readonly Method[]): string {
  const used = new Set(methods.flatMap(({ parameters, result }) => [...parameters, result].flatMap(typeWords)));
  const late = Object.values<CommandRow>(COMMANDS)
    .filter((row) => row.lane === "background" && !SOON_ANSWERED.has(row.type))
    .map((row) => `"${row.type}"`);
  return `# ${GENERATED_NOTE}
"""A method for every command. The clients bring \`_command\`, which sends it and waits for the answer."""

from __future__ import annotations

from typing import Any, Dict, FrozenSet, List, Literal, Optional, Tuple, Union

from .types import (
${[...used]
  .toSorted()
  .map((name) => `    ${name},\n`)
  .join("")})

#: Every command of this version.
COMMANDS: Tuple[str, ...] = (
${methods.map(({ type }) => `    "${type}",\n`).join("")})

#: They take as long as they take: without a time-out of their own the client waits for their answer for ever.
ANSWERED_LATE: FrozenSet[str] = frozenset({${late.join(", ")}})


class Commands:
    """The commands for a program that waits."""

    def _command(self, type_: str, fields: Dict[str, Any], timeout: Optional[float]) -> Any:
        raise NotImplementedError

${methods.map((row) => renderMethod(row, false)).join("\n")}

class AsyncCommands:
    """The commands for asyncio."""

    async def _command(self, type_: str, fields: Dict[str, Any], timeout: Optional[float]) -> Any:
        raise NotImplementedError

${methods.map((row) => renderMethod(row, true)).join("\n")}`;
}

const TYPING = new Set(["Any", "Dict", "List", "Literal", "None", "Optional", "Union", "True", "False"]);

/** The names of our own types in an annotation. */
function typeWords(text: string): string[] {
  const words = text.replaceAll(/"[^"]*"/g, "").match(/[A-Z]\w*/g) ?? [];
  return words.filter((word) => !TYPING.has(word));
}

function renderMethod({ type, parameters, fields, result, summary, notes }: Method, isAsync: boolean): string {
  const call = `self._command("${type}", {${fields.join(", ")}}, request_timeout)`;
  const wait = isAsync ? `await ${call}` : call;
  const doc = notes.length === 0 ? "" : `\n\n${notes.map((line) => `        ${line}`).join("\n")}\n        `;
  return `    ${isAsync ? "async " : ""}def ${type}(
        self,
${parameters.map((parameter) => `        ${parameter},\n`).join("")}    ) -> ${result}:
        """${oneLine(summary)}${doc}"""
        ${result === "None" ? wait : `result: ${result} = ${wait}\n        return result`}
`;
}
