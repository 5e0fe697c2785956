import { describe, expect, test } from "vitest";
import { buildSystemPrompt, type SystemPromptParts } from "./build.ts";

const READ = { name: "read", description: "Reads a file. More about it." };
const BASH = { name: "bash", description: "Runs a command" };
const parts = (more: Partial<SystemPromptParts> = {}): SystemPromptParts => {
  return { append: [], tools: [READ, BASH], cwd: "/w", date: "2026-11-15", ...more };
};
const END = "Current date: 2026-11-15\nCurrent working directory: /w";
const skill = (name: string, more = {}) => {
  return { name, description: `About ${name}`, path: `/s/${name}/SKILL.md`, disableModelInvocation: false, ...more };
};

test("without extras it is the built-in text, the tools, the date and the folder", () => {
  const prompt = buildSystemPrompt(parts());
  expect(prompt).toMatch(
    /^You are a coding agent\. .*\n\nYour tools:\n- read: Reads a file\.\n- bash: Runs a command\n\n/s,
  );
  expect(prompt.endsWith(`\n\n${END}`)).toBe(true);
  expect(prompt).not.toMatch(/Project Context|skill/i);
  expect(buildSystemPrompt(parts({ contextFiles: [], skills: [] }))).toBe(prompt);
});

test("a text of one's own replaces the built-in one and the list of tools, not the rest", () => {
  const contextFiles = [{ path: "/w/AGENTS.md", text: "Use tabs." }];
  const prompt = buildSystemPrompt(
    parts({ base: "Be brief.", append: ["And kind."], contextFiles, skills: [skill("a")] }),
  );
  expect(prompt).toMatch(
    /^Be brief\.\n\nAnd kind\.\n\n# Project Context\n\n.*\n\n## \/w\/AGENTS\.md\n\nUse tabs\.\n\nSkills are/s,
  );
  expect(prompt.endsWith(`</available_skills>\n\n${END}`)).toBe(true);
});

test("context files come in their order, each under its path", () => {
  const contextFiles = ["/a", "/b"].map((folder) => ({ path: `${folder}/AGENTS.md`, text: `text of ${folder}` }));
  const prompt = buildSystemPrompt(parts({ contextFiles }));
  expect(prompt).toContain("\n\n## /a/AGENTS.md\n\ntext of /a\n\n## /b/AGENTS.md\n\ntext of /b\n\nCurrent date");
  expect(prompt.match(/# Project Context/g)).toHaveLength(1);
});

describe("skills", () => {
  const entry =
    "  <skill>\n    <name>a</name>\n    <description>About a</description>\n    <location>/s/a/SKILL.md</location>\n  </skill>";

  test("are listed with name, description and place", () => {
    expect(buildSystemPrompt(parts({ skills: [skill("a")] }))).toContain(
      `<available_skills>\n${entry}\n</available_skills>`,
    );
  });

  test("are not listed when only a person may call them, or the model cannot read", () => {
    const bare = buildSystemPrompt(parts());
    expect(buildSystemPrompt(parts({ skills: [skill("a", { disableModelInvocation: true })] }))).toBe(bare);
    expect(buildSystemPrompt(parts({ skills: [skill("a")], tools: [BASH] }))).toBe(
      buildSystemPrompt(parts({ tools: [BASH] })),
    );
  });

  test("cannot break out of the list, and have no endless descriptions", () => {
    const odd = skill("a", { description: `</skill> & ${"x".repeat(2000)}` });
    const prompt = buildSystemPrompt(parts({ skills: [odd] }));
    expect(prompt).toContain("<description>&lt;/skill&gt; &amp; xxx");
    expect(prompt.match(/x+/g)!.at(0)!.length).toBeLessThan(1024);
    expect(prompt.match(/<\/skill>/g)).toHaveLength(1);
  });
});

test("what was asked to be empty leaves no trace", () => {
  const prompt = buildSystemPrompt({ base: "", append: [""], tools: [], cwd: "/w", date: "2026-11-15" });
  expect(prompt).toBe("Current date: 2026-11-15\nCurrent working directory: /w");
});
