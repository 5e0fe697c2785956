import { type TSchema, Type } from "typebox";
import type { EntryRow } from "../../packages/protocol/src/define-entry.ts";
import { ENTRY_BASE } from "../../packages/protocol/src/define-entry.ts";
import { ENTRIES, OWN_CUSTOM_TYPES, SessionHeader, TitleLine } from "../../packages/protocol/src/session-entry.ts";
import { FAMILY_ENTRIES } from "../../packages/protocol/src/session-entry-family.ts";
import { GENERATED_NOTE } from "./note.ts";
import { fenced, fieldTable, knownFrom, prose } from "./protocol-doc.ts";

/** docs/session-format.md: the table of entries, and the rules that a table cannot say from docs/prose/session-*.md. */
export function renderSessionDoc(): string {
  const rows: EntryRow[] = Object.values(ENTRIES);
  const isOurs = (row: EntryRow) => !Object.hasOwn(FAMILY_ENTRIES, row.type);
  const parts = [
    `<!-- ${GENERATED_NOTE} The prose comes from docs/prose. -->`,
    "# The session file",
    prose("session-file"),
    "## The header",
    ...fieldTable(SessionHeader),
    fenced([EXAMPLE_HEADER]),
    "Newer releases of omp write a title line before it; other programs pass it over. It is read for its title.",
    ...fieldTable(TitleLine),
    "## What every entry has",
    "Beside its `type`:",
    ...fieldTable(Type.Object(ENTRY_BASE)),
    prose("session-tree"),
    "## Overview of the entries",
    overview(rows),
    "## Entries that we write",
    ...rows.filter(isOurs).map(renderEntry),
    "### Our own `custom` entries",
    "Other programs show them like the data of an extension they do not have: not at all.",
    ...Object.entries(OWN_CUSTOM_TYPES).map(([name, type]) => renderCustom(name, type)),
    "## Entries that others write",
    "They are kept, copied by a fork, and told by `get_entries` and `get_tree`. None of them changes anything here; also a `context_edit` is passed over.",
    ...rows.filter((row) => !isOurs(row)).map(renderEntry),
    prose("session-others"),
    prose("session-safety"),
  ];
  return `${parts.join("\n\n").replaceAll("](#type-", "](protocol.md#type-")}\n`;
}

const EXAMPLE_HEADER = {
  type: "session",
  version: 3,
  id: "019b7618-5f00-7000-8000-000000000001",
  timestamp: "2026-01-01T00:00:00.000Z",
  cwd: "/home/me/app",
};

const EXAMPLE_BASE = { id: "5e6f7a8b", parentId: "1a2b3c4d", timestamp: "2026-01-01T00:00:02.000Z" };

function overview(rows: readonly EntryRow[]): string {
  const lines = rows.map(
    (row) => `| [\`${row.type}\`](#${row.type}) | ${row.summary} | ${row.context} | ${knownFrom(row.systems)} |`,
  );
  return ["| entry | | the model sees | known from |", "|---|---|---|---|", ...lines].join("\n");
}

function renderEntry(row: EntryRow): string {
  const other = row.elsewhere && [
    `As ${knownFrom(row.elsewhere.systems)} write it:`,
    ...fieldTable(Type.Object(row.elsewhere.fields)),
  ];
  return [
    `### ${row.type}`,
    row.summary,
    `The model sees ${row.context}. Known from: ${knownFrom(row.systems)}.`,
    ...fieldTable(Type.Object(row.fields)),
    ...(other ?? []),
    fenced(row.examples.map((fields) => ({ type: row.type, ...EXAMPLE_BASE, ...fields }))),
  ].join("\n\n");
}

function renderCustom(customType: string, { summary, data, example }: CustomType): string {
  return [
    `#### ${customType}`,
    summary,
    "Fields of `data`:",
    ...fieldTable(data),
    fenced([{ type: "custom", ...EXAMPLE_BASE, customType, data: example }]),
  ].join("\n\n");
}

interface CustomType {
  summary: string;
  data: TSchema;
  example: unknown;
}
