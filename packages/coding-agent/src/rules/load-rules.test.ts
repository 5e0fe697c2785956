import { afterEach, beforeEach, expect, it } from "vitest";
import { createTestTree, type TestTree } from "../prompts/test-fixture.ts";
import { findRuleFiles } from "./discover.ts";
import { loadRules } from "./load-rules.ts";

let tree: TestTree;
beforeEach(() => {
  tree = createTestTree();
});
afterEach(() => tree.remove());

const find = (projectFolders = [tree.cwd]) =>
  findRuleFiles({ cwd: tree.cwd, agentDir: tree.agentDir, env: tree.env, projectFolders });
const rule = "---\ncondition: foo\n---\nNo.\n";

it("finds rules in the folders of all systems, the project's first", async () => {
  tree.write({
    "project/.clinerules/h.md": rule,
    "project/.cursor/rules/e.mdc": rule,
    "project/.omp/rules/b.md": rule,
    "project/.omp/rules/deeper/x.md": rule,
    "project/.omp/rules/.hidden.md": rule,
    "project/.omp/rules/x.txt": rule,
    "project/.pi/rules/d.md": rule,
    "project/.tiller/rules/a.md": rule,
    "project/.windsurf/rules/f.md": rule,
    "project/.xcsh/rules/c.md": rule,
    "home/agent/rules/i.md": rule,
  });
  const { files, problems } = find();
  const seen = files.map(({ path, provider, level }) => `${tree.short(path)} ${provider} ${level}`);
  expect(seen).toEqual([
    "project/.tiller/rules/a.md native project",
    "project/.omp/rules/b.md native project",
    "project/.xcsh/rules/c.md native project",
    "project/.pi/rules/d.md native project",
    "project/.cursor/rules/e.mdc cursor project",
    "project/.windsurf/rules/f.md windsurf project",
    "project/.clinerules/h.md cline project",
    "home/agent/rules/i.md native user",
  ]);
  expect(problems).toEqual([]);
  expect((await loadRules(files)).rules).toHaveLength(8);
});

it("leaves out those of a project that nobody trusts", () => {
  tree.write({ "project/.omp/rules/b.md": rule, "home/agent/rules/i.md": rule });
  expect(find([]).files.map(({ level }) => level)).toEqual(["user"]);
});

it("takes the first of a name, and goes on after a broken one", async () => {
  tree.write({
    "project/.omp/rules/a.md": "---\ncondition: '('\n---\nNo.\n",
    "project/.omp/rules/b.md": rule,
    "project/.omp/rules/huge.md": "x".repeat(1024 * 1024 + 1),
    "home/agent/rules/b.md": rule,
    "home/agent/rules/c.md": rule,
  });
  const { rules, problems } = await loadRules(find().files);
  expect(rules.map((one) => tree.short(one.rule.path))).toEqual(["project/.omp/rules/b.md", "home/agent/rules/c.md"]);
  expect(problems.map((problem) => tree.short(problem))).toEqual([
    'project/.omp/rules/a.md:2: "condition" "(" cannot be used: Unterminated group',
    expect.stringMatching(/^project\/\.omp\/rules\/huge\.md: 1025 KiB are too many/),
    'home/agent/rules/b.md: there is a rule "b" already, in project/.omp/rules/b.md; that one counts',
  ]);
});

it("has a bound for all conditions together", async () => {
  const large = "---\ncondition: a{450}\n---\nNo.\n";
  tree.write(Object.fromEntries(Array.from({ length: 12 }, (_, at) => [`project/.omp/rules/r${at + 10}.md`, large])));
  const { rules, problems } = await loadRules(find().files);
  expect(rules).toHaveLength(11);
  expect(problems).toEqual([expect.stringMatching(/r21\.md: this rule is left out/)]);
});

it("hands over texts that always apply, the user's first, and no more than a prompt can take", async () => {
  const always = (text: string): string => `---\nalwaysApply: true\n---\n${text}`;
  tree.write({
    "home/agent/rules/mine.md": always("Be brief."),
    "project/.cursor/rules/a.mdc": always("Tabs."),
    "project/.cursor/rules/b.mdc": always("x".repeat(70_000)),
    "project/.cursor/rules/c.mdc": rule,
    ...Object.fromEntries([1, 2, 3, 4, 5].map((n) => [`project/.cursor/rules/d${n}.mdc`, always("y".repeat(60_000))])),
  });
  const found = await loadRules(find().files);
  expect(found.always.map(({ path, text }) => `${tree.short(path)} ${text.length}`)).toEqual([
    "home/agent/rules/mine.md 9",
    "project/.cursor/rules/a.mdc 5",
    ...[1, 2, 3, 4].map((n) => `project/.cursor/rules/d${n}.mdc 60000`),
  ]);
  expect(found.rules).toHaveLength(1);
  expect(found.problems.map(tree.short)).toEqual([
    expect.stringMatching(/rules\/b\.mdc: .*64 KiB/),
    expect.stringMatching(/rules\/d5\.mdc: .*256 KiB/),
  ]);
});
