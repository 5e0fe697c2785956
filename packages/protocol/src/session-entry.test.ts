import type { TSchema } from "typebox";
import { Check } from "typebox/value";
import { describe, expect, expectTypeOf, test } from "vitest";
import { explainEvent, explainResult } from "./check.ts";
import { type EntryRow, entryOf } from "./define-entry.ts";
import {
  ENTRIES,
  type EntryType,
  type MessageEntry,
  OWN_CUSTOM_TYPES,
  SessionEntry,
  SessionHeader,
} from "./session-entry.ts";

const rows: EntryRow[] = Object.values(ENTRIES);
const base = { id: "1a2b3c4d", parentId: null, timestamp: "2026-01-01T00:00:00.000Z" };

/** What each program of the family is known to write. A kind that goes missing here is a file we no longer explain. */
const WRITTEN_BY = {
  pi: `message thinking_level_change model_change compaction branch_summary custom custom_message label session_info`,
  omp: `message thinking_level_change model_change compaction branch_summary custom custom_message label
    service_tier_change ttsr_injection`,
  xcsh: `message thinking_level_change model_change compaction branch_summary custom custom_message label
    service_tier_change ttsr_injection mcp_tool_selection session_init mode_change`,
  later: `usage context_edit title_change`,
} as const;

test.each(Object.entries(WRITTEN_BY))("the table has the entries of %s", (system, kinds) => {
  const found = rows.filter((row) => row.systems.some((name) => name === system)).map((row) => row.type);
  expect(found.toSorted()).toEqual(kinds.split(/\s+/).toSorted());
});

describe.each(rows.map((row) => [row.type, row] as const))("entry %s", (type, row) => {
  test("has examples, and they fit", () => {
    expect(row.examples.length).toBeGreaterThan(0);
    for (const fields of row.examples) {
      expect(Check(entryOf(row), { type, ...base, ...fields })).toBe(true);
      expect(Check(entryOf(row), { type: "other", ...base, ...fields })).toBe(false);
      expect(Check(entryOf(row), { type, ...base, id: undefined, ...fields })).toBe(false);
    }
  });
});

test.each(Object.entries(OWN_CUSTOM_TYPES))("the data of our own %s fits its example", (_name, { data, example }) => {
  const schema: TSchema = data;
  expect(Check(schema, example)).toBe(true);
  expect(Check(schema, "no object")).toBe(false);
  // Where something has to be said, saying nothing is not enough.
  const { required = [] } = schema as { required?: string[] };
  expect(Check(schema, {})).toBe(required.length === 0);
});

describe("an entry on the wire", () => {
  const strange: [what: string, entry: object][] = [
    ["of a kind nobody has heard of", { type: "hologram", ...base, depth: 3 }],
    ["with fields that are new", { type: "label", ...base, targetId: "1a2b3c4d", label: "here", colour: "red" }],
    ["with a message of a role that is not ours", { type: "message", ...base, message: { role: "pythonExecution" } }],
    ["in the spelling of omp", { type: "model_change", ...base, model: "anthropic/claude-sonnet-4-5" }],
  ];

  test.each(strange)("%s is accepted everywhere", (_what, entry) => {
    expect(Check(SessionEntry, entry)).toBe(true);
    expect(explainResult("get_entries", { entries: [entry], leafId: "1a2b3c4d" })).toBeUndefined();
    expect(explainResult("get_tree", { tree: [{ entry, children: [] }], leafId: null })).toBeUndefined();
    expect(explainEvent("entry_appended", { type: "entry_appended", seq: 1, entry })).toBeUndefined();
  });

  test("without a place in the tree is refused", () => {
    const { parentId: _, ...rest } = base;
    expect(Check(SessionEntry, { type: "hologram", ...rest })).toBe(false);
    expect(Check(SessionEntry, { ...base })).toBe(false);
  });
});

test("the header of omp and xcsh is a header", () => {
  const header = { type: "session", version: 3, id: "019b7618", timestamp: base.timestamp, cwd: "/home/me/app" };
  expect(Check(SessionHeader, header)).toBe(true);
  expect(Check(SessionHeader, { ...header, title: "Repair the build", titleSource: "auto" })).toBe(true);
});

test("types: the kind tells the fields apart", () => {
  expectTypeOf<Extract<SessionEntry, { type: "label" }>["targetId"]>().toEqualTypeOf<string>();
  expectTypeOf<Extract<SessionEntry, { type: "message" }>>().toEqualTypeOf<MessageEntry>();
  expectTypeOf<SessionEntry["type"]>().toEqualTypeOf<EntryType>();
});
