import { readFileSync } from "node:fs";
import { join } from "node:path";
import { API_FAMILIES } from "@tiller/ai/api-families";
import { expect, test } from "vitest";
import { repoRoot } from "../support/rpc-process.ts";

test("docs/configuration.md names every api that a provider of one's own may have", () => {
  const page = readFileSync(join(repoRoot, "docs/configuration.md"), "utf8");
  const row = page.split("\n").find((line) => line.startsWith("| `api` |"));
  const builtIn = ["offline", "script"];
  expect(API_FAMILIES.filter((name) => !builtIn.includes(name) && !row?.includes(`\`${name}\``))).toEqual([]);
});
