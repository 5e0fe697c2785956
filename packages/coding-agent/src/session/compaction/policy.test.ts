import type { AgentMessage } from "@tiller/protocol/message";
import { describe, expect, it } from "vitest";
import {
  type CompactionSettings,
  contextSize,
  contextUsageOf,
  estimateTokens,
  isOverThreshold,
  keepTokens,
  thresholdOf,
  tokensAfterCompaction,
} from "./policy.ts";
import { assistant, branch, compaction, model, read, result, settings, tokens, usage, user } from "./test-entries.ts";

describe("an estimate of a message", () => {
  const image = { type: "image" as const, data: "AAAA", mimeType: "image/png" };
  const bash = { role: "bashExecution" as const, command: "ls", output: "a.ts\nb.ts", cancelled: false, timestamp: 0 };
  const rows: [story: string, message: AgentMessage, tokens: number][] = [
    ["four characters to a token, rounded up", user("12345"), 2],
    ["nothing", user(""), 0],
    ["blocks of text", { ...user(""), content: [{ type: "text", text: tokens(3) }] }, 3],
    ["an image", { ...user(""), content: [image] }, 1200],
    ["an answer with thoughts", assistant(tokens(2), { content: [{ type: "thinking", thinking: tokens(2) }] }), 2],
    ["a call: its name and its arguments", assistant("", {}, [read("1", "a.ts")]), 5],
    ["an answer that failed, which no model sees", assistant(tokens(9), { stopReason: "error" }), 0],
    ["a result", result("1", tokens(7)), 7],
    ["a shell command", { ...bash, truncated: false }, 3],
    ["a shell command that the model does not see", { ...bash, truncated: false, excludeFromContext: true }, 0],
    ["a summary", { role: "compactionSummary", summary: tokens(5), tokensBefore: 0, timestamp: 0 }, 5],
    ["a role that only its writer knows", { role: "python" } as unknown as AgentMessage, 0],
  ];
  for (const [story, message, expected] of rows) it(story, () => expect(estimateTokens(message)).toBe(expected));
});

describe("the threshold", () => {
  const rows: [story: string, window: number, changes: Partial<CompactionSettings>, threshold: number | undefined][] = [
    ["is the window less the reserve", 200_000, { reserveTokens: 16_384 }, 183_616],
    ["is never less than half of a small window", 8000, { reserveTokens: 16_384 }, 4000],
    ["can be given in tokens", 200_000, { thresholdTokens: 5000 }, 5000],
    ["in tokens is not beyond the window", 4000, { thresholdTokens: 5000 }, 4000],
    ["can be given in per cent", 200_000, { thresholdPercent: 80 }, 160_000],
    ["in per cent is not beyond the window", 1000, { thresholdPercent: 300 }, 1000],
    ["in tokens beats the one in per cent", 1000, { thresholdTokens: 10, thresholdPercent: 80 }, 10],
    ["is not known without a window", 0, {}, undefined],
    ["in tokens needs no window", 0, { thresholdTokens: 50 }, 50],
  ];
  for (const [story, contextWindow, changes, expected] of rows) {
    it(story, () => expect(thresholdOf({ contextWindow }, { ...settings, ...changes })).toBe(expected));
  }

  it("bounds what is kept: half of it at most", () => {
    expect(keepTokens({ contextWindow: 1000 }, { ...settings, keepRecentTokens: 20_000 })).toBe(400);
    expect(keepTokens({ contextWindow: 1000 }, { ...settings, keepRecentTokens: 50 })).toBe(50);
    expect(keepTokens({ contextWindow: 0 }, { ...settings, keepRecentTokens: 50 })).toBe(50);
  });
});

describe("the size of a conversation", () => {
  const answered = assistant("fine", { usage: usage(500, 20, 80) });
  const rows: [story: string, path: ReturnType<typeof branch>, size: number, isMeasured: boolean][] = [
    ["is nothing at first", branch("low"), 0, false],
    ["is estimated before the first answer", branch(user(tokens(7)), "low"), 7, false],
    ["is what the last answer used", branch(user(tokens(7)), answered), 600, true],
    ["and what came after it", branch(user("hi"), answered, "low", user(tokens(7))), 607, true],
    [
      "is not what a failed answer used",
      branch(user("hi"), answered, assistant("", { stopReason: "error", usage: usage(9) })),
      600,
      true,
    ],
    [
      "is estimated when providers say nothing",
      branch(user(tokens(3)), assistant(tokens(4)), user(tokens(5))),
      12,
      false,
    ],
    [
      "is the summary and what was kept, right after a compaction",
      branch(user(tokens(9)), user(tokens(2)), answered, compaction("e2", tokens(5))),
      5 + 2 + 1,
      false,
    ],
    [
      "is only the summary when nothing was kept",
      branch(user(tokens(9)), answered, compaction("gone", tokens(5))),
      5,
      false,
    ],
    [
      "is what the first answer after a compaction used",
      branch(user("hi"), answered, compaction("e2"), user("ho"), assistant("", { usage: usage(70) })),
      70,
      true,
    ],
    [
      "is estimated when only an answer before the compaction tells",
      branch(user("hi"), answered, compaction("e2"), user(tokens(6))),
      1 + 1 + 6,
      false,
    ],
  ];
  for (const [story, { fromLeaf }, expected, isMeasured] of rows) {
    it(story, () => expect(contextSize(fromLeaf())).toMatchObject({ tokens: expected, isMeasured }));
  }

  it("is read from the end, no further than needed", () => {
    const path = branch(user("hi"), answered, user("ho"));
    const seen: string[] = [];
    const watched = function* () {
      for (const entry of path.fromLeaf()) {
        seen.push(entry.id);
        yield entry;
      }
    };
    contextSize(watched());
    expect(seen).toEqual(["e3", "e2"]);
  });
});

describe("the usage of the context that hosts see", () => {
  it("is tokens, window and share", () => {
    const { fromLeaf } = branch(user("hi"), assistant("", { usage: usage(250) }));
    expect(contextUsageOf(fromLeaf(), model)).toEqual({ tokens: 250, contextWindow: 1000, percent: 25 });
  });
  it("is not known right after a compaction", () => {
    const { fromLeaf } = branch(user("hi"), assistant("", { usage: usage(250) }), compaction("e2"));
    expect(contextUsageOf(fromLeaf(), model)).toEqual({ tokens: null, contextWindow: 1000, percent: null });
  });
  it("is nothing without a model, or without its window", () => {
    expect(contextUsageOf([], null)).toBeUndefined();
    expect(contextUsageOf([], { contextWindow: 0 })).toBeUndefined();
  });
});

describe("over the threshold", () => {
  const large = assistant("", { usage: usage(801) });
  const rows: [story: string, path: ReturnType<typeof branch>, isOver: boolean][] = [
    ["an answer that used more", branch(user("hi"), large), true],
    ["one that used as much", branch(user("hi"), assistant("", { usage: usage(800) })), false],
    ["what came after it counts", branch(user("hi"), assistant("", { usage: usage(800) }), user("more")), true],
    [
      "not right after a compaction, there is nothing new to compact",
      branch(large, compaction("e1", tokens(900))),
      false,
    ],
    ["again with the next large answer", branch(large, compaction("e1"), user("hi"), large), true],
  ];
  for (const [story, { fromLeaf }, isOver] of rows) {
    it(story, () => expect(isOverThreshold(fromLeaf(), model, settings)).toBe(isOver));
  }
  it("never without a model or a window", () => {
    expect(isOverThreshold(branch(large).fromLeaf(), null, settings)).toBe(false);
    expect(isOverThreshold(branch(large).fromLeaf(), { contextWindow: 0 }, settings)).toBe(false);
  });
});

describe("what a compaction left", () => {
  it("is told by the first answer after it, less what was added in between", () => {
    const path = branch(user("hi"), compaction("e1"), user(tokens(30)), assistant("", { usage: usage(100, 7) }));
    expect(tokensAfterCompaction(path.fromLeaf())).toBe(70);
    path.add(user(tokens(500)));
    path.add(assistant("", { usage: usage(700) }));
    expect(tokensAfterCompaction(path.fromLeaf())).toBe(70);
  });
  it("is not known without an answer, or without a compaction", () => {
    expect(tokensAfterCompaction(branch(user("hi"), compaction("e1"), user("ho")).fromLeaf())).toBeUndefined();
    expect(tokensAfterCompaction(branch(user("hi"), assistant("", { usage: usage(9) })).fromLeaf())).toBeUndefined();
  });
});
