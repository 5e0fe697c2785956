import fc from "fast-check";
import { Type } from "typebox";
import { Compile } from "typebox/schema";
import { describe, expect, test } from "vitest";
import { COMMAND_TABLE, EVENT_TABLE } from "./command-table.generated.ts";
import { COMMANDS, type CommandType } from "./commands/index.ts";
import type { CommandRow } from "./define.ts";
import { EVENTS } from "./events.ts";

/** The generated checks must say exactly what the schema library says. */

type Json = Record<string, unknown>;
const rows: CommandRow[] = Object.values(COMMANDS);
const rowsWithFields = rows.filter((row) => Object.keys(row.params).length > 0);

const STRANGE_VALUES = [null, 0, -1, 1.5, "", "all", true, [], [null], {}, { type: "image" }];

/** The value with one place at a time removed, replaced by something strange, or joined by a stranger. */
function* mutations(value: unknown): Generator<unknown> {
  yield* STRANGE_VALUES;
  if (Array.isArray(value)) {
    for (const [index, item] of value.entries()) {
      for (const changed of mutations(item)) yield value.with(index, changed);
    }
  } else if (typeof value === "object" && value !== null) {
    yield { ...value, somethingElse: 1 };
    for (const [name, field] of Object.entries(value)) {
      const { [name]: _, ...without } = value as Json;
      yield without;
      for (const changed of mutations(field)) yield { ...value, [name]: changed };
    }
  }
}

interface Node {
  type?: string;
  anyOf?: Node[];
  properties?: Record<string, Node>;
  required?: string[];
  items?: Node;
}

/** Every field that may be absent, however deep, and whether `null` fits it as it stands. */
function* optionalFields(node: Node, at = ""): Generator<{ path: string; takesNull: boolean }> {
  for (const [name, field] of Object.entries(node.properties ?? {})) {
    const path = `${at}${name}`;
    const takesNull =
      field.type === undefined && (field.anyOf?.some(({ type }) => type === "null") ?? !("const" in field));
    if (!node.required?.includes(name)) yield { path, takesNull };
    yield* optionalFields(field, `${path}.`);
  }
  if (node.items) yield* optionalFields(node.items, `${at}[].`);
  for (const form of node.anyOf ?? []) yield* optionalFields(form, at);
}

function isJsonObject(value: unknown): value is Json {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}

describe.each(rows.map((row) => [row.type as CommandType, row] as const))("%s", (type, row) => {
  const compiled = Compile(Type.Object(row.params));
  const { check } = COMMAND_TABLE[type];

  test("accepts its examples, also with fields that nobody knows", () => {
    for (const { params } of row.examples) {
      expect(check(params)).toBe(true);
      expect(check({ id: "1", type, ...params, unknown: { deep: true } })).toBe(true);
    }
  });

  test("agrees with the schema on every mutation of its examples", () => {
    let refused = 0;
    for (const { params } of row.examples) {
      for (const mutant of mutations(params)) {
        if (!isJsonObject(mutant)) continue;
        const verdict = check(mutant);
        if (!verdict) refused += 1;
        expect(verdict, JSON.stringify(mutant)).toBe(compiled.Check(mutant));
      }
    }
    if (rowsWithFields.includes(row)) expect(refused).toBeGreaterThan(0);
  });

  test("names its optional fields, its lane and what it waits for", () => {
    const fields = [...optionalFields(Type.Object(row.params))];
    const inLists = fields.filter(({ path }) => path.includes("[]"));
    const optional = fields.filter((field) => !inLists.includes(field)).map(({ path }) => path);
    expect(COMMAND_TABLE[type]).toMatchObject({ lane: row.lane, optional });
    // Nobody removes it there.
    expect(inLists.filter(({ takesNull }) => !takesNull)).toEqual([]);
    expect(COMMAND_TABLE[type].opens).toBe(row.opens);
  });
});

test("agrees with the schema on arbitrary values in the known fields", () => {
  for (const row of rowsWithFields) {
    const compiled = Compile(Type.Object(row.params));
    const { check } = COMMAND_TABLE[row.type as CommandType];
    const field = fc.oneof(fc.jsonValue(), fc.constantFrom("all", "wait", "steer", "off", "delta", true, false));
    const anyFields = fc.record(Object.fromEntries(Object.keys(row.params).map((name) => [name, field])), {
      requiredKeys: [],
    });
    fc.assert(
      fc.property(anyFields, (value) => check(value) === compiled.Check(value)),
      { numRuns: 60 },
    );
  }
});

test("has a row for every command and every event", () => {
  expect(Object.keys(COMMAND_TABLE)).toEqual(Object.keys(COMMANDS));
  expect(Object.keys(EVENT_TABLE)).toEqual(Object.keys(EVENTS));
});
