import { describe, expect, test } from "vitest";
import { buildSystemPrompt } from "./build.ts";
import { type ContextReportInput, contextReport } from "./context-report.ts";

const tool = (name: string) => ({
  name,
  description: `The tool ${name}.`,
  parameters: { type: "object" },
  why: `${name} is active`,
});
const skill = (name: string, disableModelInvocation = false) => {
  return {
    name,
    description: `About ${name}`,
    path: `/s/${name}/SKILL.md`,
    disableModelInvocation,
    why: `${name} is here`,
  };
};
const input = (prompt: Partial<ContextReportInput["prompt"]> = {}): ContextReportInput => ({
  prompt: { append: [], tools: [tool("read"), tool("bash")], cwd: "/w", date: "2026-11-15", ...prompt },
  origins: { append: [] },
  conversation: { messages: 0, tokens: 0 },
});

describe("the report", () => {
  test("of a bare set-up: system prompt, surroundings, tools, conversation", () => {
    const report = contextReport(input());
    expect(report.parts.map(({ kind, why }) => [kind, why])).toEqual([
      ["systemPrompt", "The built-in text"],
      ["surroundings", "Every prompt has them"],
      ["tools", "The tools that are active"],
      ["conversation", "There is none yet"],
    ]);
    expect(report.systemPrompt).toBe(buildSystemPrompt(input().prompt));
    expect(report.leftOut).toEqual([]);
    expect(report).not.toHaveProperty("contextWindow");
  });

  test("names every file, text and skill, with the reason", () => {
    const places = ["global", "above", "cwd"] as const;
    const contextFiles = places.map((place) => ({ path: `/${place}/AGENTS.md`, text: "x".repeat(400), place }));
    const given = input({
      base: "Be brief.",
      append: ["one", "two"],
      contextFiles,
      skills: [skill("a"), skill("b", true)],
    });
    const report = contextReport({
      ...given,
      origins: { base: "--system-prompt", append: ["--append-system-prompt", "/w/.pi/APPEND_SYSTEM.md"] },
    });
    expect(report.parts.map(({ kind, path, why }) => [kind, path, why])).toEqual([
      ["systemPrompt", undefined, "Replaces the built-in text: --system-prompt"],
      ["appendedPrompt", undefined, "Added to the system prompt: --append-system-prompt"],
      ["appendedPrompt", undefined, "Added to the system prompt: /w/.pi/APPEND_SYSTEM.md"],
      ["contextFile", "/global/AGENTS.md", "It lies in the agent folder and holds for all projects"],
      ["contextFile", "/above/AGENTS.md", "It lies in a folder above the working folder"],
      ["contextFile", "/cwd/AGENTS.md", "It lies in the working folder"],
      ["skills", undefined, expect.stringMatching(/the model knows/)],
      ["surroundings", undefined, expect.any(String)],
      ["tools", undefined, expect.any(String)],
      ["conversation", undefined, expect.any(String)],
    ]);
    const items = (kind: string) => report.parts.find((part) => part.kind === kind)!.items!;
    expect(items("skills").map(({ name, why }) => [name, why])).toEqual([["a", "a is here"]]);
    expect(items("tools").map(({ name, why }) => [name, why])).toEqual([
      ["read", "read is active"],
      ["bash", "bash is active"],
    ]);
    for (const { tokens, share } of [...items("skills"), ...items("tools")]) {
      expect(share).toBeCloseTo((tokens / report.tokens) * 100, 1);
    }
    expect(report.leftOut).toEqual([
      { name: "skill:b", path: "/s/b/SKILL.md", why: expect.stringMatching(/disable-model-invocation/) },
    ]);
  });

  test("says why no skill is there when the model cannot read", () => {
    const { parts, leftOut } = contextReport(input({ tools: [tool("bash")], skills: [skill("a")] }));
    expect(parts.some(({ kind }) => kind === "skills")).toBe(false);
    expect(leftOut).toMatchObject([{ name: "skill:a", why: expect.stringMatching(/tool read is not active/) }]);
  });

  test("counts four characters as a token, and shares that add up", () => {
    const contextFiles = [{ path: "/w/AGENTS.md", text: "x".repeat(40_000), place: "cwd" as const }];
    const report = contextReport({
      ...input({ contextFiles }),
      conversation: { messages: 3, tokens: 10_000 },
      contextWindow: 100_000,
    });
    const file = report.parts.find(({ kind }) => kind === "contextFile")!;
    expect(file.tokens).toBe(Math.ceil(file.characters / 4));
    expect(file.characters).toBeGreaterThan(40_000);
    expect(report.tokens).toBe(report.parts.reduce((sum, { tokens }) => sum + tokens, 0));
    expect(report.parts.reduce((sum, { share }) => sum + share, 0)).toBeCloseTo(100, 0);
    expect(report.parts.at(-1)).toMatchObject({ kind: "conversation", tokens: 10_000, characters: 40_000 });
    expect(report.percent).toBeCloseTo(report.tokens / 1000, 1);
  });

  test("of nothing divides by nothing", () => {
    expect(
      contextReport({ ...input({ base: "", tools: [], cwd: "", date: "" }), contextWindow: 0 }).parts,
    ).toHaveLength(3);
  });
});
