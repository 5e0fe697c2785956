import type { AgentTool } from "@tiller/agent/types";
import { expect, test } from "vitest";
import { whySkill, whyTool } from "./session-resources.ts";

const tool = (source?: string) => ({ source }) as AgentTool;

test.each([
  ["read", undefined, "It is built in and active"],
  ["docs_search", tool("mcp:docs"), "It is one of mcp:docs"],
  ["lent", tool(), "The host lends it"],
  ["added", tool(), "An extension brings it"],
])("why the tool %s is there", (name, other, why) => {
  expect(whyTool(name, { other: () => other, lent: () => ["lent"] })).toBe(why);
});

test.each([
  ["project", "local", "It lies in /w, where skills of the project are looked for"],
  ["user", "local", "It lies in /w, where skills of the user are looked for"],
  ["path", "cli", "--skill names it"],
  ["path", "settings", "The setting skills names it"],
  ["path", "npm:knots", "npm:knots brings it"],
] as const)("why a skill of %s %s is there", (source, by, why) => {
  const sourceInfo = { path: "/w/a", baseDir: "/w", source: by, scope: "temporary", origin: "top-level" } as const;
  expect(whySkill({ source, sourceInfo })).toBe(why);
});
