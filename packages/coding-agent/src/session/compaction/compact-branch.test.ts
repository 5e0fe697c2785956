import type { AgentMessage } from "@tiller/protocol/message";
import fc from "fast-check";
import { expect, it } from "vitest";
import { compactBranch } from "./compact-branch.ts";
import { contextSize } from "./policy.ts";
import { assistant, branch, compaction, model, settings, tokens, usage, user } from "./test-entries.ts";

/** What it does for hosts, in words and orders, is told in compactor.test.ts. */

const size = fc.integer({ min: 0, max: 60 });
const item = fc.oneof(
  size.map((n): AgentMessage => user(tokens(n))),
  size.map((n): AgentMessage => assistant(tokens(n))),
  fc.constant(compaction("e3", tokens(20))),
);

it("makes the conversation smaller, or is refused", async () => {
  await fc.assert(
    fc.asyncProperty(fc.array(item, { maxLength: 12 }), size, async (items, summarySize) => {
      const { fromLeaf, append } = branch(...items);
      const before = contextSize(fromLeaf()).tokens;
      const made = await compactBranch({
        fromLeaf,
        ask: async () => ({ text: tokens(summarySize), usage: usage(1) }),
        model,
        settings,
        signal: new AbortController().signal,
        reason: "threshold",
        willRetry: false,
      });
      if (!("done" in made)) return;
      const { result } = made.done;
      expect(result.tokensBefore).toBe(before);
      expect(result.estimatedTokensAfter).toBeLessThan(before);
      append({ type: "compaction", ...result, firstKeptEntryId: result.firstKeptEntryId! });
      expect(contextSize(fromLeaf()).tokens).toBe(result.estimatedTokensAfter);
    }),
    { numRuns: 300 },
  );
});
