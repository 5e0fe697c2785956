import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { insideTag, SUMMARY_TAGS, SUMMARY_TASK, tagged } from "../../summary-task.ts";
import { decide } from "./decide.ts";
import { remember } from "./memory.ts";
import { requestOf, user } from "./test-support.ts";

const TALK = `[User]: Repair the build. The staging host is osprey-9.

[Assistant]: I look at it. We will use esbuild instead of rollup, because it is faster.

[Assistant tool calls]: read(path="build.mjs"); edit(path="src/a.ts", oldText="x")

[Tool result (read)]: import x from "y"

[Tool error (edit)]: Could not find the text in src/a.ts

[User]: Also keep the licence header.

[Shell command, exit code 2]: npm test
2 tests failed

[Assistant]: One test is still red.`;

function asked(conversation: string, previous?: string): string {
  const before = previous === undefined ? "" : `${tagged(SUMMARY_TAGS.previous, previous)}\n\n`;
  return `${before}${tagged(SUMMARY_TAGS.conversation, conversation)}\n\nWrite the notes.`;
}

const notes = (conversation: string, previous?: string, maxTokens?: number): string =>
  remember({ messages: [user(asked(conversation, previous))], maxTokens });

describe("scout's memory of a conversation", () => {
  test("is asked for by the system prompt, and needs no tools", () => {
    const decision = decide(requestOf([user(asked(TALK))], { systemPrompt: `${SUMMARY_TASK} Be brief.` }));
    expect(decision.toolCalls).toEqual([]);
    expect(decision.text).toContain("osprey-9");
    expect(decide(requestOf([user(asked(TALK))])).text).not.toContain("## Goal");
  });

  test("keeps goals, decisions, files, the last errors and the latest state", () => {
    expect(notes(TALK + "\n".repeat(2000))).toBe(`## Goal
- Repair the build. The staging host is osprey-9.
- Also keep the licence header.

## Progress
- read(path="build.mjs")
- edit(path="src/a.ts", oldText="x")

## Key Decisions
- We will use esbuild instead of rollup, because it is faster.

## Next Steps
- Latest answer: One test is still red.

## Critical Context
- Files: build.mjs, src/a.ts
- Error: Could not find the text in src/a.ts
- Error: npm test 2 tests failed`);
  });

  test("carries over what an earlier summary holds, and replaces only the latest state", () => {
    const first = notes(TALK + "\n".repeat(2000));
    const second = notes(`[User]: And the docs?\n\n[Assistant]: Done.${"\n".repeat(3000)}`, first);
    for (const fact of ["osprey-9", "licence header", "esbuild", "src/a.ts", "2 tests failed", "And the docs?"]) {
      expect(second).toContain(fact);
    }
    expect(second).toContain("Latest answer: Done.");
    expect(second).not.toContain("still red");
  });

  test("carries over what somebody else wrote, under whatever headings", () => {
    const before =
      "Intro.\n\n## Goal\n- ship it\n\n## Constraints & Preferences\n- no rollup\n\n## Progress\n### Done\n- tests";
    const text = notes(`[User]: next${"\n".repeat(3000)}`, before);
    for (const fact of ["Intro.", "ship it", "no rollup", "tests", "next"]) expect(text).toContain(fact);
  });

  test("is bounded, and then keeps the first wish and the newest", () => {
    const many = Array.from({ length: 500 }, (_, i) => `[User]: wish ${i} ${"and more ".repeat(20)}`).join("\n\n");
    const text = notes(many);
    expect(text.length).toBeLessThan(16_500);
    expect(text).toContain("- wish 0 ");
    expect(text).toContain("- wish 499 ");
    expect(text).toMatch(/\n\(\d+ left out\)\n- wish/);
    expect(notes(many, undefined, 500).length).toBeLessThan(2200);
  });

  test("of a short conversation is short too", () => {
    expect(notes("[User]: hi\n\n[Assistant]: hello").length).toBeLessThan(200);
  });

  test("whatever is said, it comes to an end within its bounds", () => {
    const piece = fc.oneof(fc.constantFrom("[User]: ", "[Assistant]: ", "\n\n", "## Goal\n", "- "), fc.string());
    const text = fc.array(piece, { maxLength: 40 }).map((pieces) => pieces.join(""));
    fc.assert(
      fc.property(text, text, (talk, before) => {
        expect(notes(talk, before).length).toBeLessThan(Math.max(1200, (talk.length + before.length) * 0.6));
      }),
    );
  });
});

test("a tag's inside is found again, whatever it is", () => {
  fc.assert(fc.property(fc.string(), (text) => insideTag(`before ${tagged("t", text)} after`, "t") === text));
  expect(insideTag("nothing here", "t")).toBeUndefined();
});
