import { ProviderError } from "@tiller/ai/errors";
import { SUMMARY_TASK } from "@tiller/ai/summary-task";
import { describe, expect, it } from "vitest";
import { type AskModel, type Summarizer, summarize, summarizeBranch } from "./summarize.ts";
import { assistant, branch, model, read, tokens, usage, user } from "./test-entries.ts";

type Answer = Awaited<ReturnType<AskModel>>;

/** A model that says what it is told, one answer after the other; the last one again and again. */
function asking(...answers: (Answer | string)[]) {
  const asked: { system: string; text: string; maxTokens: number }[] = [];
  const ask: AskModel = async ({ systemPrompt, messages, maxTokens }) => {
    const content = messages[0]!.content;
    const text = typeof content === "string" ? content : content.map((b) => (b.type === "text" ? b.text : "")).join("");
    const answer = answers[Math.min(asked.length, answers.length - 1)]!;
    asked.push({ system: systemPrompt, text, maxTokens });
    return typeof answer === "string" ? { text: answer, usage: usage(10, 5) } : answer;
  };
  const large = { ...model, contextWindow: 100_000, maxTokens: 50_000 };
  const summarizer: Summarizer = { ask, model: large, reserveTokens: 1000, signal: new AbortController().signal };
  return { asked, summarizer };
}

const talk = [user("fix the build"), assistant("I look.")];

describe("a summary", () => {
  it("is asked for with the conversation, the headings and nothing that was not said", async () => {
    const { asked, summarizer } = asking(" the notes \n");
    const made = await summarize("history", talk, summarizer);
    expect(made).toEqual({ text: "the notes", usages: [usage(10, 5)] });
    const { system, text, maxTokens } = asked[0]!;
    expect(system.startsWith(SUMMARY_TASK)).toBe(true);
    expect(text).toContain("<conversation>\n[User]: fix the build\n\n[Assistant]: I look.\n</conversation>");
    for (const heading of ["Goal", "Constraints & Preferences", "Progress", "Key Decisions", "Next Steps"]) {
      expect(text).toContain(`## ${heading}`);
    }
    expect(text).not.toContain("previous-summary");
    expect(text).not.toContain("Additional focus");
    expect(maxTokens).toBe(800);
  });

  it("brings the one before up to date, and pays attention to what it is told to", async () => {
    const { asked, summarizer } = asking("new notes");
    await summarize("history", talk, summarizer, { previous: "old notes", focus: "file names" });
    expect(asked[0]!.text).toContain("<previous-summary>\nold notes\n</previous-summary>");
    expect(asked[0]!.text).toContain("Additional focus: file names");
  });

  it("of the beginning of a turn is shorter and has headings of its own", async () => {
    const { asked, summarizer } = asking("prefix");
    await summarize("turn prefix", talk, summarizer);
    expect(asked[0]!.maxTokens).toBe(500);
    expect(asked[0]!.text).toContain("## Needed Later");
  });

  it("asks for no more than the model can say", async () => {
    const { asked, summarizer } = asking("x");
    await summarize("history", talk, { ...summarizer, model: { contextWindow: 100_000, maxTokens: 300 } });
    await summarize("history", talk, { ...summarizer, model: { contextWindow: 1000, maxTokens: 5000 } });
    expect(asked.map(({ maxTokens }) => maxTokens)).toEqual([300, 250]);
  });

  it("of more than fits one question is made in pieces, each bringing the notes up to date", async () => {
    const { asked, summarizer } = asking("one", "two", "three");
    const long = [user(`first ${tokens(900)}`), user(`second ${tokens(900)}`), user(`third ${tokens(2000)}`)];
    const made = await summarize("history", long, { ...summarizer, model: { contextWindow: 3000, maxTokens: 500 } });
    expect(made).toMatchObject({ text: "three" });
    expect(asked.map(({ text }) => /\[User\]: (\w+)/.exec(text)?.[1])).toEqual(["first", "second", "third"]);
    expect(asked[2]!.text).toContain("<previous-summary>\ntwo\n");
    expect(asked[2]!.text).toContain("more characters]");
  });

  it("is made of smaller pieces when the provider finds one too long", async () => {
    const tooLong = { error: new ProviderError("overflow", "prompt is too long") };
    const { asked, summarizer } = asking(tooLong, "one", "two");
    const long = Array.from({ length: 10 }, (_, i) => user(`m${i} ${tokens(5000)}`));
    expect(await summarize("history", long, summarizer)).toMatchObject({ text: "two" });
    expect(asked[1]!.text.length).toBeLessThan(asked[0]!.text.length * 0.7);
    expect(asked.slice(1).flatMap(({ text }) => [...text.matchAll(/\[User\]: (m\d)/g)].map((m) => m[1]))).toEqual(
      long.map((_, i) => `m${i}`),
    );
  });

  it("does not get smaller for ever", async () => {
    const error = new ProviderError("overflow", "prompt is too long");
    const { asked, summarizer } = asking({ error });
    expect(await summarize("history", [user(tokens(90_000))], summarizer)).toEqual({ error });
    expect(asked.length).toBeLessThan(10);
  });

  it("that fails or is empty says so", async () => {
    const error = new ProviderError("auth", "wrong key");
    expect(await summarize("history", talk, asking({ error }).summarizer)).toEqual({ error });
    expect(await summarize("history", talk, asking(" \n").summarizer)).toEqual({ empty: true });
  });
});

describe("a summary of a branch that was left", () => {
  const { entries } = branch(user("try it"), assistant("", {}, [read("1", "a.ts")]), assistant("It failed."));

  it("tells what was tried, with the files", async () => {
    const { asked, summarizer } = asking("tried");
    expect(await summarizeBranch(entries, summarizer, "errors")).toEqual({
      summary: "tried\n\n<read-files>\na.ts\n</read-files>",
      details: { readFiles: ["a.ts"], modifiedFiles: [] },
      usages: [usage(10, 5)],
    });
    expect(asked[0]!.text).toContain("[User]: try it");
    expect(asked[0]!.text).toContain("Additional focus: errors");
  });

  it("is refused with the reason", async () => {
    const error = new ProviderError("auth", "wrong key");
    expect(await summarizeBranch([], asking("x").summarizer)).toMatchObject({ aborted: false });
    expect(await summarizeBranch(entries, asking({ error }).summarizer)).toEqual({
      refused: "Branch summary failed: wrong key",
      aborted: false,
    });
    const aborted = { ...asking("x").summarizer, signal: AbortSignal.abort() };
    expect(await summarizeBranch(entries, aborted)).toMatchObject({ aborted: true });
  });
});
