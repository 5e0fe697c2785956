import { readFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { Compile } from "typebox/schema";
import { expect, it } from "vitest";
import { SETTING_ROWS } from "../../packages/coding-agent/src/config/settings-schema.ts";
import { runSchema, SCHEMA_NAMES } from "../../packages/coding-agent/src/schema-command.ts";
import { cliPath, repoRoot } from "../support/rpc-process.ts";
import { useCli } from "./cli-process.ts";

/** `tiller schema`: what it prints is the packaged file, and that is the one of the repository. */

const start = useCli();
const text = (...path: string[]) => readFileSync(join(...path), "utf8");

it("prints the packaged schema of its version", async () => {
  const { code, stdout, stderr } = await start({ args: ["schema"], stdin: "" }).ended;
  const { version } = JSON.parse(text(repoRoot, "packages/coding-agent/package.json"));
  expect([code, stderr]).toEqual([0, ""]);
  expect(stdout === text(dirname(cliPath()), "rpc.schema.json")).toBe(true);
  expect(JSON.parse(stdout).$comment).toBe(`Tiller ${version}`);
});

it.each(SCHEMA_NAMES)("has the schema %s, packaged as it is in the repository", (name) => {
  const printed: string[] = [];
  expect(runSchema({ words: [name], print: (line) => printed.push(line) })).toBe(0);
  expect(`${printed[0]}\n` === text(repoRoot, "schema", `${name}.schema.json`)).toBe(true);
  expect(`${printed[0]}\n` === text(dirname(cliPath()), `${name}.schema.json`)).toBe(true);
});

it("refuses other names and says which there are", async () => {
  const { code, stdout, stderr } = await start({ args: ["schema", "rcp"], stdin: "" }).ended;
  expect([code, stdout, stderr]).toEqual([2, "", 'Error: there is no schema "rcp", only: rpc, session, settings\n']);
});

it("the schema of settings.json takes every default and refuses what does not fit", () => {
  const compiled = Compile(JSON.parse(text(repoRoot, "schema/settings.schema.json")));
  const Check = (value: unknown): boolean => compiled.Check(value);
  const nested = (key: string, value: unknown): unknown =>
    key.split(".").reduceRight<unknown>((inner, part) => ({ [part]: inner }), value);
  for (const [key, row] of Object.entries(SETTING_ROWS)) {
    if (row.default !== undefined) expect(Check(nested(key, row.default)), key).toBe(true);
    if (row.type !== "any") expect(Check(nested(key, row.type === "boolean" ? 7 : true)), key).toBe(false);
  }
  expect(Check({ theme: "dark", retry: { other: 1 } })).toBe(true);
});
