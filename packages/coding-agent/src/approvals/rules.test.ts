import { expect, it, test } from "vitest";
import { isAbout, readRule, readRules } from "./rules.ts";

test.each<[text: string, rule: object]>([
  ["bash", { tool: "bash" }],
  ["Bash(git status)", { tool: "bash", command: ["git", "status"] }],
  ["bash( git   log * )", { tool: "bash", command: ["git", "log", "*"] }],
  ["bash(path: .env)", { tool: "bash", path: ".env" }],
  ["write(src/**)", { tool: "write", path: "src/**" }],
  ["*(~/.ssh)", { tool: "*", path: "~/.ssh" }],
  ["deploy(command: ship it)", { tool: "deploy", command: ["ship", "it"] }],
  ["mcp_*", { tool: "mcp_*" }],
  ["read(C:/x)", { tool: "read", path: "C:/x" }],
])("%j is a rule", (text, rule) => {
  expect(readRule("ask", text)).toEqual({ effect: "ask", text, ...rule });
});

test.each([
  "",
  "  ",
  "two words",
  "bash(",
  "bash)",
  "bash()",
  "bash(a && b)",
  "write(../x)",
  "write()",
  "(x)",
  "write(*.{a,b})",
])("%j is none", (text) => {
  expect(readRule("deny", text)).toHaveProperty("problem");
});

it("a rule that forbids and cannot be read makes the rules incomplete; one that allows does not", () => {
  expect(readRules({ deny: [], ask: [], allow: ["bash(a;b)"] })).toMatchObject({ rules: [], isIncomplete: false });
  expect(readRules({ deny: ["bash(a;b)", "bash"], ask: [], allow: [] })).toMatchObject({
    rules: [{ text: "bash" }],
    isIncomplete: true,
    problems: [
      expect.stringMatching(/^approval\.deny: "bash\(a;b\)" is no rule, so until it is mended every tool call/),
    ],
  });
  expect(readRules({ deny: [], ask: [""], allow: [] }).isIncomplete).toBe(true);
});

it("who forbids a name means it in any case, who allows it does not", () => {
  const rule = (effect: "allow" | "deny") => ({ effect, text: "", tool: "Ship*" });
  expect([isAbout(rule("deny"), "shipping"), isAbout(rule("allow"), "shipping")]).toEqual([true, false]);
  expect(isAbout(rule("allow"), "Shipping")).toBe(true);
});

it("a rule that is longer than anybody writes is none, and everything is asked", () => {
  const read = readRules({ deny: [`bash(*${"a".repeat(2000)}b)`], ask: [], allow: [] });
  expect(read).toMatchObject({ rules: [], isIncomplete: true });
  expect(read.problems).toEqual([
    `approval.deny: "bash(*${"a".repeat(74)}…" is no rule, so until it is mended every tool call needs an approval: it has 2008 characters, at most 2000 are read; write it shorter, with wildcards, or as several rules`,
  ]);
});
