import { readFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { SETTINGS } from "../packages/coding-agent/src/config/settings-schema.ts";
import { PATH_KEYS } from "../packages/coding-agent/src/rules/argument-reader.ts";
import { createAutomaton } from "../packages/coding-agent/src/rules/automaton.ts";
import { LARGEST_CONDITION, LONGEST_CONDITION, readCondition } from "../packages/coding-agent/src/rules/condition.ts";
import { FOLDERS } from "../packages/coding-agent/src/rules/discover.ts";
import { MOST_STEPS } from "../packages/coding-agent/src/rules/load-rules.ts";
import { readRule } from "../packages/coding-agent/src/rules/rule-file.ts";
import { repoRoot } from "./support/source-tree.ts";

/** What docs/stream-rules.md says is tried out. */

const page = readFileSync(join(repoRoot, "docs/stream-rules.md"), "utf8");

function matches(condition: string, text: string): boolean {
  const automaton = createAutomaton([readCondition(condition)]);
  let state = automaton.start();
  let hits = state.hits.length;
  for (const char of text) {
    state = automaton.step(state, char.codePointAt(0)!);
    hits += state.hits.length;
  }
  return hits + automaton.end(state).length > 0;
}

describe("docs/stream-rules.md", () => {
  const rows = [...page.matchAll(/^\| `(.+)` \| `(.+)` \| (yes|no) \|$/gm)].map(([, condition, text, found]) => {
    return [condition!, text!.replaceAll("\u23ce", "\n"), found === "yes"] as const;
  });
  it.each(rows)("%s in %j: %s", (condition, text, found) => expect(matches(condition, text)).toBe(found));

  const examples = [...page.matchAll(/^```markdown\n(.+?)^```$/gms)].map(([, text]) => text!);
  it.each(examples)("has rules that work: %j", async (text) => {
    const source = { provider: "native", providerName: "native", path: "/r.md", level: "project" } as const;
    const { rule, problems } = await readRule(text, source);
    expect([rule?.rule.name, problems]).toEqual(["r", []]);
  });

  it("has examples at all", () => expect([rows.length > 5, examples.length]).toEqual([true, 1]));

  it("names all folders, keys, settings and bounds", () => {
    const settings = Object.keys(SETTINGS).filter((key) => key.startsWith("ttsr."));
    const names = [...FOLDERS.project, ...FOLDERS.agent, ...PATH_KEYS, ...settings];
    expect(names.filter((name) => !page.includes(`\`${name}\``))).toEqual([]);
    expect(page).toContain(`a condition may have ${LARGEST_CONDITION} steps`);
    expect(page).toContain(`and ${LONGEST_CONDITION} characters, all conditions together ${MOST_STEPS} steps`);
    expect(matches(`a{${LARGEST_CONDITION}}`, "a")).toBe(false);
    expect(() => readCondition(`a{${LARGEST_CONDITION + 1}}`)).toThrow();
  });
});
