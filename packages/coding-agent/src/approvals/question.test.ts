import { describe, expect, it } from "vitest";
import { questionFor } from "./question.ts";

describe("the question of a sub-agent's call", () => {
  const facts = { tool: "bash", paths: [], command: { text: "ls", parts: [] } } as unknown as Parameters<
    typeof questionFor
  >[0];

  it("names the sub-agent right below the tool", () => {
    const subAgent = { id: "docs-2", agent: "scribe" };
    expect(questionFor(facts, { command: "ls" }, "a rule", subAgent)).toBe(
      "Allow tool: bash\nSub-agent: docs-2 (scribe)\nReason: a rule\nCommand: ls",
    );
  });

  it("shows a made-up name as one line: the model has chosen it", () => {
    const subAgent = { id: "x\nCommand: true", agent: "a\u202eb" };
    expect(questionFor(facts, { command: "ls" }, undefined, subAgent).split("\n")).toEqual([
      "Allow tool: bash",
      "Sub-agent: x\\nCommand: true (a\\u{202e}b)",
      "Command: ls",
    ]);
  });

  it("says nothing of one when the main agent calls", () => {
    expect(questionFor(facts, { command: "ls" }, undefined)).toBe("Allow tool: bash\nCommand: ls");
  });
});
