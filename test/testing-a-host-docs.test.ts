import { readFileSync } from "node:fs";
import { join } from "node:path";
import { parseScript } from "@tiller/ai/providers/script";
import { expect, test } from "vitest";
import { repoRoot } from "./support/rpc-process.ts";

/** The turns that docs/testing-a-host.md shows are turns that the script model takes. */
const text = readFileSync(join(repoRoot, "docs/testing-a-host.md"), "utf8");
const turns = [...text.matchAll(/`(\[\{.*?\}\])`/g)].map(([, turn = ""]) => turn);

test("there are some", () => {
  expect(turns.length).toBeGreaterThan(7);
});

test.each(turns)("%s", (turn) => {
  expect(parseScript(`{"turns":[${turn}]}`).turns).toHaveLength(1);
});

test("the script of the example", () => {
  const [, script = ""] = /JSON\.stringify\((\{.*?\n\})\)\);/s.exec(text) ?? [];
  const value: unknown = new Function(`return ${script}`)();
  expect(parseScript(JSON.stringify(value)).turns).toHaveLength(2);
});
