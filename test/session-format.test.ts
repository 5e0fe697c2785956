import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { type EntryRow, entryOf } from "@tiller/protocol/define-entry";
import { ENTRIES } from "@tiller/protocol/session-entry";
import type { TSchema } from "typebox";
import { Compile } from "typebox/compile";
import { describe, expect, it } from "vitest";
import { renderSessionSchema } from "../scripts/generate/session-schema.ts";
import { repoRoot } from "./support/source-tree.ts";

/** The schema of a session file against files that real programs wrote. */

const FIXTURES = join(repoRoot, "test/fixtures/sessions");
const schema: TSchema = JSON.parse(renderSessionSchema());
const line = Compile(schema);
const base = { id: "1a2b3c4d", parentId: null, timestamp: "2026-01-01T00:00:00.000Z" };

const files = readdirSync(FIXTURES, { recursive: true, encoding: "utf8" })
  .filter((name) => name.endsWith(".jsonl") && !name.startsWith("old"))
  .toSorted();

describe("schema/session.schema.json", () => {
  it.each(files)("fits every line of %s", (path) => {
    const lines = readFileSync(join(FIXTURES, path), "utf8").trimEnd().split("\n");
    expect(lines.filter((text) => !line.Check(JSON.parse(text)))).toEqual([]);
  });

  it("refers only to what it defines", () => {
    const { $defs } = schema as unknown as { $defs: Record<string, unknown> };
    const names = [...JSON.stringify(schema).matchAll(/"#\/\$defs\/([^"]+)"/g)].map(([, name]) => name);
    expect(names.length).toBeGreaterThan(20);
    expect(names.filter((name) => !Object.hasOwn($defs, String(name)))).toEqual([]);
  });

  it.each(Object.values<EntryRow>(ENTRIES))("fits the examples of $type, and nothing less", (row) => {
    for (const fields of row.examples) expect(line.Check({ type: row.type, ...base, ...fields })).toBe(true);
    const required: readonly string[] = (entryOf(row) as { required?: string[] }).required ?? [];
    const needed = required.filter((name) => name in row.fields);
    // What another program may spell differently is not needed under our name.
    if (row.elsewhere || needed.length === 0) return;
    expect(line.Check({ type: row.type, ...base })).toBe(false);
  });

  const refused: [string, object][] = [
    ["a message without an author", { type: "message", ...base, message: { content: "hi" } }],
    ["an answer that is only half an answer", { type: "message", ...base, message: { role: "assistant" } }],
    ["an entry without a place", { type: "hologram", id: "1a2b3c4d" }],
    ["a header without an id", { type: "session", version: 3, timestamp: base.timestamp, cwd: "/" }],
  ];

  it.each(refused)("refuses %s", (_what, value) => {
    expect(line.Check(value)).toBe(false);
  });

  it("takes kinds and roles that nobody knows", () => {
    expect(line.Check({ type: "hologram", ...base, depth: 3 })).toBe(true);
    expect(line.Check({ type: "message", ...base, message: { role: "telepathy" } })).toBe(true);
  });
});
