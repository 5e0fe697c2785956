import { mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { Compile } from "typebox/schema";
import { afterEach, beforeEach, describe, expect, test, vi } from "vitest";
import { renderCommandTable } from "../../../scripts/generate/command-table.ts";
import { compileFields, HelperFunctions } from "../../../scripts/generate/compile-check.ts";
import { renderJsonSchema } from "../../../scripts/generate/json-schema.ts";
import { writeOrCheck } from "../../../scripts/generate/output.ts";
import { renderProtocolDoc } from "../../../scripts/generate/protocol-doc.ts";
import { COMMANDS } from "../src/commands/index.ts";
import { EVENTS } from "../src/events.ts";
import { FRAMES } from "../src/frames.ts";

test.each([
  ["packages/protocol/src/command-table.generated.ts", renderCommandTable],
  ["schema/rpc.schema.json", renderJsonSchema],
  ["docs/protocol.md", renderProtocolDoc],
])("%s comes out the same every time, and is what stands in the repository", (path, render) => {
  expect(render()).toBe(render());
  expect(render() === readFileSync(path, "utf8"), `${path} is stale: run "npm run generate"`).toBe(true);
});

describe("the JSON Schema", () => {
  const schema = JSON.parse(renderJsonSchema());
  const compiled = (name: string) => Compile({ ...schema, anyOf: undefined, $ref: `#/$defs/${name}` });

  test("every reference leads to a definition", () => {
    const references = [...JSON.stringify(schema).matchAll(/"#\/\$defs\/([^"]+)"/g)].map((match) => match[1]!);
    expect(references.length).toBeGreaterThan(100);
    expect(references.filter((name) => !(name in schema.$defs))).toEqual([]);
  });

  test("accepts the examples of all tables", () => {
    const host = compiled("HostFrame");
    const agent = compiled("AgentFrame");
    for (const row of Object.values(COMMANDS)) {
      for (const { params } of row.examples) expect(host.Check({ id: "1", type: row.type, ...params })).toBe(true);
    }
    for (const row of Object.values(EVENTS)) {
      for (const fields of row.examples) expect(agent.Check({ type: row.type, seq: 1, ...fields })).toBe(true);
    }
    for (const row of Object.values(FRAMES)) {
      for (const frame of row.examples) expect((row.direction === "in" ? host : agent).Check(frame)).toBe(true);
    }
  });

  test("refuses what no table has", () => {
    expect(compiled("HostFrame").Check({ type: "nope" })).toBe(false);
    expect(compiled("HostFrame").Check({ type: "prompt", message: 42 })).toBe(false);
    expect(compiled("AgentFrame").Check({ type: "agent_end", seq: 1, messages: [] })).toBe(false);
  });
});

describe("the document", () => {
  const text = renderProtocolDoc();

  test("has a heading for every row", () => {
    const headings = new Set([...text.matchAll(/^#{3,4} (\S+)$/gm)].map((match) => match[1]));
    const types = [COMMANDS, EVENTS, FRAMES].flatMap((rows) => Object.keys(rows));
    expect(types.filter((type) => !headings.has(type))).toEqual([]);
  });

  test("every link inside it leads somewhere", () => {
    const anchors = new Set(
      [...text.matchAll(/^#+ (.+)$/gm)].map((match) => match[1]!.toLowerCase().replaceAll(" ", "-")),
    );
    const links = [...text.matchAll(/\]\(#([^)]+)\)/g)].map((match) => match[1]!);
    expect(links.filter((link) => !anchors.has(link))).toEqual([]);
  });
});

test.each([
  [{ type: "object", properties: { a: { type: "string", maxLength: 3 } } }, 'keyword "maxLength" is not supported'],
  [{ type: "object", properties: { a: { type: "symbol" } } }, 'type "symbol" is not supported'],
  [
    { type: "object", properties: { a: { type: "object", patternProperties: { "^x$": {} } } } },
    "a record must take any key and any value",
  ],
])("a rule that cannot be compiled is refused: %j", (schema, reason) => {
  expect(() => compileFields(schema, "v", new HelperFunctions())).toThrow(reason);
});

describe("writing and checking", () => {
  let folder: string;
  const told: string[] = [];
  beforeEach(() => {
    folder = mkdtempSync(join(tmpdir(), "tiller-generate-"));
    told.length = 0;
    for (const stream of [process.stdout, process.stderr]) {
      vi.spyOn(stream, "write").mockImplementation((text) => told.push(String(text)) > 0);
    }
  });
  afterEach(() => {
    vi.restoreAllMocks();
    rmSync(folder, { recursive: true });
  });

  test("a file that differs fails the check and is named; writing mends it", () => {
    const fresh = join(folder, "fresh.md");
    const stale = join(folder, "stale.md");
    const missing = join(folder, "deep", "missing.md");
    writeFileSync(fresh, "1");
    writeFileSync(stale, "old");
    const files = new Map([fresh, stale, missing].map((path) => [path, "1"] as const));

    expect(writeOrCheck(files, { check: true })).toBe(1);
    expect(told).toEqual([stale, missing].map((path) => `${path} is not up to date: run "npm run generate"\n`));
    expect(readFileSync(stale, "utf8")).toBe("old");

    expect(writeOrCheck(files, { check: false })).toBe(0);
    expect(readFileSync(missing, "utf8")).toBe("1");
    expect(writeOrCheck(files, { check: true })).toBe(0);
  });
});
