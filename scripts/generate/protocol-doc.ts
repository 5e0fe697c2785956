import { readFileSync } from "node:fs";
import { type TSchema, Type } from "typebox";
import { COMMAND_GROUPS } from "../../packages/protocol/src/commands/index.ts";
import type { CommandExample, CommandRow, EventRow, FrameRow, System } from "../../packages/protocol/src/define.ts";
import type { Dialect } from "../../packages/protocol/src/dialects/dialect.ts";
import { DIALECTS } from "../../packages/protocol/src/dialects/index.ts";
import { EVENT_GROUPS } from "../../packages/protocol/src/events.ts";
import { FRAMES } from "../../packages/protocol/src/frames.ts";
import { NAMED_TYPES } from "../../packages/protocol/src/types.ts";
import type { JsonSchemaNode } from "./compile-check.ts";
import { GENERATED_NOTE } from "./note.ts";
import { typeName } from "./type-names.ts";

/** docs/protocol.md: the tables as prose. What a table cannot say comes from docs/prose/NAME.md. */
export function renderProtocolDoc(): string {
  const parts = [
    `<!-- ${GENERATED_NOTE} The prose comes from docs/prose. -->`,
    "# The RPC protocol",
    prose("framing"),
    "## Overview of the commands",
    commandOverview(),
    prose("lanes"),
    prose("endings"),
    prose("streaming"),
    prose("journal"),
    prose("errors"),
    prose("host-tools"),
    prose("host-uris"),
    prose("todos"),
    prose("sub-agents"),
    prose("stream-rules"),
    prose("approvals"),
    "## Commands",
    "Every command may have an `id` (string or number), which its answer repeats. A number that would come back as another one, because a double does not hold its digits (beyond ±9007199254740991, which is 2^53 - 1, or behind the point), is refused, in an answer without `id`: use a string. `1.10` comes back as `1.1`, and what 17 digits say of a fraction (`0.10000000000000001`) in the shortest way (`0.1`); what is read as a whole number up to that one is taken for it. In an optional field, also inside of another such as `limits`, `null` means absent; fields that are not listed are ignored.",
    ...groups(COMMAND_GROUPS, renderCommand),
    "## Events",
    "Every event has `seq`, a number that is higher with each event of the session. Events of a prompt have its `promptId`. Only `prompt_result` and `bash_execution_update` have an `id`.",
    ...groups(EVENT_GROUPS, renderEvent),
    "## Other frames",
    ...Object.values(FRAMES).map((row) => renderFrame(row)),
    "## Dialects",
    prose("dialects"),
    dialectTable(),
    "## Types",
    ...Object.entries(NAMED_TYPES).map(([name, schema]) => renderType(name, schema)),
  ];
  return `${parts.join("\n\n")}\n`;
}

export function prose(name: string): string {
  return readFileSync(`docs/prose/${name}.md`, "utf8").trim();
}

function groups<Row>(tables: Record<string, Record<string, Row>>, render: (row: Row) => string): string[] {
  return Object.entries(tables).map(([title, rows]) =>
    [`### ${title}`, ...Object.values(rows).map((row) => render(row))].join("\n\n"),
  );
}

function commandOverview(): string {
  const lines = ["| command | lane | known from | |", "|---|---|---|---|"];
  for (const rows of Object.values<Record<string, CommandRow>>(COMMAND_GROUPS)) {
    for (const row of Object.values(rows)) {
      const state = row.opens === undefined ? "" : `comes with ${row.opens}`;
      lines.push(`| [\`${row.type}\`](#${row.type}) | ${row.lane} | ${knownFrom(row.systems)} | ${state} |`);
    }
  }
  return lines.join("\n");
}

const SYSTEM_NAMES: Record<System, string> = {
  pi: "pi",
  omp: "omp",
  xcsh: "xcsh",
  later: "newer releases of the family",
  tiller: "Tiller",
};

export function knownFrom(systems: readonly System[]): string {
  return systems.map((system) => SYSTEM_NAMES[system]).join(", ");
}

function status(opens: string | undefined): string[] {
  return opens === undefined ? [] : [`*Not there yet: it comes with ${opens}.*`];
}

function renderCommand(row: CommandRow): string {
  const missing =
    row.opens === undefined ? [] : [`*For now it answers \`success:false\`: it comes with ${row.opens}.*`];
  const facts = `Lane: ${row.lane}. Known from: ${knownFrom(row.systems)}.`;
  return [
    `#### ${row.type}`,
    row.summary,
    ...missing,
    facts,
    ...fieldTable(Type.Object(row.params)),
    ...resultText(row.result),
    ...row.examples.map((example) => renderExchange(row.type, example)),
  ].join("\n\n");
}

function resultText(schema: JsonSchemaNode | undefined): string[] {
  if (schema === undefined) return ["The answer has no `data`."];
  const isSpelledOut = schema.properties !== undefined && typeName(schema) === undefined;
  return isSpelledOut
    ? ["`data` of the answer:", ...fieldTable(schema)]
    : [`\`data\` of the answer: ${typeText(schema)}.`];
}

function renderExchange(type: string, example: CommandExample<Record<string, TSchema>, TSchema | undefined>): string {
  const request = { id: "req-1", type, ...example.params };
  const answer = { id: "req-1", type: "response", command: type };
  const outcome =
    example.error === undefined ? { success: true, data: example.data } : { success: false, error: example.error };
  const title = example.note === undefined ? "" : `${example.note}:\n\n`;
  return `${title}\`\`\`\n> ${JSON.stringify(request)}\n< ${JSON.stringify({ ...answer, ...outcome })}\n\`\`\``;
}

function renderEvent(row: EventRow): string {
  const facts = [
    `Known from: ${knownFrom(row.systems)}.`,
    row.persisted ? "Written to the session file before it is sent." : "",
    row.promptScoped ? "Has `promptId`." : "",
  ];
  const envelope = row.promptScoped ? { seq: 7, promptId: "prompt-1" } : { seq: 7 };
  return [
    `#### ${row.type}`,
    row.summary,
    ...status(row.opens),
    facts.filter((fact) => fact !== "").join(" "),
    ...fieldTable(Type.Object(row.fields)),
    fenced(row.examples.map((fields) => ({ type: row.type, ...envelope, ...fields }))),
  ].join("\n\n");
}

function renderFrame(row: FrameRow): string {
  const direction = row.direction === "in" ? "From the host." : "To the host.";
  return [
    `### ${row.type}`,
    row.summary,
    ...status(row.opens),
    `${direction} Known from: ${knownFrom(row.systems)}.`,
    ...formText(row.schema),
    fenced(row.examples),
  ].join("\n\n");
}

function renderType(name: string, schema: TSchema): string {
  const node: JsonSchemaNode = schema;
  return [`### Type ${name}`, ...(node.properties ? fieldTable(node) : [unionText(node)])].join("\n\n");
}

/** One table for a single form; a line for each when there are several. */
function formText(schema: JsonSchemaNode): string[] {
  return schema.anyOf ? [unionText(schema)] : fieldTable(schema);
}

function unionText(node: JsonSchemaNode): string {
  const options = node.anyOf ?? [];
  const isSpelled = options.some((option) => option.properties !== undefined && typeName(option) === undefined);
  if (!isSpelled) return options.length === 0 ? typeTextOf(node) : options.map(typeText).join(" \\| ");
  return options.map((option) => `- \`${inlineObject(option)}\``).join("\n");
}

function inlineObject(node: JsonSchemaNode): string {
  const required = new Set(node.required ?? []);
  const fields = Object.entries(node.properties ?? {}).map(([name, field]) => {
    const type = typeText(field)
      .replaceAll(/\[([^\]]+)\]\(#[^)]*\)/g, "$1")
      .replaceAll("`", "")
      .replaceAll("\\|", "|");
    return `${name}${required.has(name) ? "" : "?"}: ${type}`;
  });
  return `{ ${fields.join(", ")} }`;
}

export function fieldTable(schema: JsonSchemaNode): string[] {
  const required = new Set(schema.required ?? []);
  const rows = Object.entries(schema.properties ?? {}).map(([name, field]) => {
    const label = required.has(name) ? `\`${name}\`` : `\`${name}\` (optional)`;
    return `| ${label} | ${typeText(field)} | ${field.description ?? ""} |`;
  });
  return rows.length === 0 ? [] : [["| field | type | |", "|---|---|---|", ...rows].join("\n")];
}

function typeText(node: JsonSchemaNode): string {
  const name = typeName(node);
  return name === undefined ? typeTextOf(node) : `[${name}](#type-${name.toLowerCase()})`;
}

function typeTextOf(node: JsonSchemaNode): string {
  if (node.anyOf) return node.anyOf.map(typeText).join(" \\| ");
  if ("const" in node) return `\`${JSON.stringify(node.const)}\``;
  if (node.type === "array") return `list of ${typeText(node.items ?? {})}`;
  if (node.properties) return `\`${inlineObject(node)}\``;
  return node.type ?? "anything";
}

export function fenced(frames: readonly unknown[]): string {
  return ["```json", ...frames.map((frame) => JSON.stringify(frame)), "```"].join("\n");
}

const DIALECT_ROWS: [string, (dialect: Dialect) => string][] = [
  ["first frame is `ready`", (dialect) => yesNo(dialect.sendsReady)],
  ["unknown command is answered with its `id`", (dialect) => yesNo(dialect.echoesIdOnUnknownCommand)],
  ["unexpected exception is answered as `parse`", (dialect) => yesNo(dialect.unexpectedExceptionAsParse)],
  ["events left out", (dialect) => [...dialect.omittedEvents].map((type) => `\`${type}\``).join(", ") || "none"],
  ["interrupt mode at the start", (dialect) => `\`${dialect.defaults.interruptMode}\``],
  ["thinking level at the start", (dialect) => `\`${dialect.defaults.thinkingLevel}\``],
  ["`setTitle` requests", (dialect) => (dialect.sendsTitle ? "sent" : "only with `PI_RPC_EMIT_TITLE=1`")],
  ["`cancel` for withdrawn dialogs", (dialect) => yesNo(dialect.sendsDialogCancel)],
  ["answer to a command of an extension", (dialect) => (dialect.answersCommandLate ? "when it is done" : "at once")],
  [
    "a message of an extension that cannot be sent",
    (dialect) =>
      dialect.answersFailedSends
        ? "`extension_error`, and a failed response `extension_send` or `extension_send_user` without `id`"
        : "`extension_error`",
  ],
  ["unknown command-line flag", (dialect) => dialect.unknownFlag],
  ["prompt while busy", (dialect) => dialect.busyText],
];

function dialectTable(): string {
  const dialects = Object.values(DIALECTS);
  const lines = [
    `| | ${dialects.map((dialect) => dialect.name).join(" | ")} |`,
    `|---|${dialects.map(() => "---|").join("")}`,
    ...DIALECT_ROWS.map(([label, tell]) => `| ${label} | ${dialects.map(tell).join(" | ")} |`),
  ];
  return lines.join("\n");
}

function yesNo(value: boolean): string {
  return value ? "yes" : "no";
}
