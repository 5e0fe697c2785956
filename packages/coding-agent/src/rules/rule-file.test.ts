import { expect, it } from "vitest";
import { readRule } from "./rule-file.ts";

const source = { provider: "native", providerName: "native", path: "/r/no-any.md", level: "project" } as const;
const read = (text: string) => readRule(text, source);

it("reads all that a rule can say", async () => {
  const text = `---
description: Types
globs: *.ts
alwaysApply: false
condition:
  - ': any\\b'
  - *.d.ts
scope: text, tool:edit(*.{ts,tsx})
interruptMode: tool-only
---

Never use any.
`;
  const { rule, problems } = await read(text);
  expect(problems).toEqual([]);
  expect(rule?.rule).toEqual({
    name: "no-any",
    path: "/r/no-any.md",
    content: "Never use any.",
    description: "Types",
    globs: ["*.ts"],
    alwaysApply: false,
    condition: [": any\\b", "*.d.ts"],
    scope: ["text, tool:edit(*.{ts,tsx})"],
    interruptMode: "tool-only",
    _source: source,
  });
});

it.each(["condition", "ttsr_trigger", "ttsrTrigger"])("knows the condition as %s", async (key) => {
  expect((await read(`---\n${key}: foo\n---\nNo.`)).rule?.rule).toMatchObject({ condition: ["foo"], content: "No." });
});

it("says the description when there is nothing else to say", async () => {
  expect((await read("---\ndescription: Be brief.\ncondition: foo\n---\n")).rule?.rule.content).toBe("Be brief.");
});

it.each([
  "Just text.",
  "---\ndescription: d\nalwaysApply: false\n---\nText.",
  "---\nalwaysApply: true\n---\n \n",
  "---\nglobs: *.ts, *.js\n---\nText.",
  "---\nglobs: [open\n---\nText.",
  "",
])("has nothing to do with a file without a condition: %j", async (text) => {
  expect(await read(text)).toEqual({ problems: [] });
});

it("hands over the text of a file without a condition that always applies", async () => {
  expect(await read("---\ndescription: d\nalwaysApply: true\n---\n\nText.\n")).toEqual({
    always: "Text.",
    problems: [],
  });
});

it.each<[text: string, problem: RegExp, isUsed: boolean]>([
  ["---\ncondition: [open\n---\nNo.", /^\/r\/no-any\.md:3: /, false],
  ["---\ncondition: foo\nNo.", /^\/r\/no-any\.md:1: the front matter is never closed/, false],
  ["---\nx: y\ncondition: '(open'\n---\nNo.", /:3: "condition" "\(open" cannot be used: Unterminated group$/, false],
  ["---\ncondition:\n  - ok\n  - '(open'\n---\nNo.", /:4: "condition" "\(open" cannot be used/, true],
  ["---\ncondition:\n---\nNo.", /:2: "condition" is empty/, false],
  ["---\ncondition: {a: b}\n---\nNo.", /:2: "condition" is empty/, false],
  [
    "---\ncondition: a\nscope: tool:edit(*.ts\n---\nNo.",
    /:3: "scope" cannot be used: "tool:edit\(\*\.ts" is none of/,
    false,
  ],
  ["---\ncondition: a\ndescription: b: c\nscope: [thinking]\n---\nNo.", /:3: .*"scope" .*left out$/, false],
  ["---\ncondition: a\nscope: {text: yes}\n---\nNo.", /:3: "scope" cannot be used: it is no text/, false],
  ["---\ncondition: a\nscope: text:edit\n---\nNo.", /:3: "scope" cannot be used: "text:edit" is none of/, false],
  ["---\ncondition: a\nscope: [text, nowhere]\n---\nNo.", /:3: "scope" cannot be used: "nowhere"/, false],
  ["---\ncondition: a\nglobs: '[z-a]'\n---\nNo.", /:3: "globs" cannot be used/, false],
  [
    "---\ncondition: a\ninterruptMode: maybe\n---\nNo.",
    /:3: "interruptMode" is "maybe", none of always, prose-only, tool-only, never$/,
    true,
  ],
  ["---\ncondition: a\n---\n", /:1: the rule says nothing/, false],
  [
    `---\ncondition: ${"a".repeat(2001)}\n---\nNo.`,
    /:2: "condition" "a{80}\.\.\." cannot be used: it has 2001 characters/,
    false,
  ],
])("tells what is wrong with %.60j", async (text, problem, isUsed) => {
  const { rule, problems } = await read(text);
  expect(problems).toEqual([expect.stringMatching(problem)]);
  expect(rule !== undefined).toBe(isUsed);
});

it("a glob is taken without the space behind it, and a line of spaces does not hold up anybody", async () => {
  expect((await read("---\ncondition: a\nglobs: *.rs \t \n---\nNo.")).rule?.rule.globs).toEqual(["*.rs"]);
  expect((await read(`---\ncondition: a\nglobs: *${" ".repeat(500_000)}"\n---\nNo.`)).rule).toBeUndefined();
});

it("a condition of a million stars with a space behind them is refused at once", async () => {
  const { rule, problems } = await read(`---\ncondition: "a${"*".repeat(500_000)} b"\n---\nNo.`);
  expect(rule).toBeUndefined();
  expect(problems).toEqual([expect.stringMatching(/cannot be used: it has 500003 characters/)]);
});
