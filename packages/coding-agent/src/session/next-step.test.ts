import { describe, expect, it } from "vitest";
import { nextStep, type Situation, type Step } from "./next-step.ts";

const fine: Situation = {
  stopReason: "stop",
  retryEnabled: true,
  attempt: 0,
  maxRetries: 3,
  pauseTooLong: false,
};
const failed: Situation = { ...fine, stopReason: "error", errorKind: "overloaded", retryable: true };
const overflow: Situation = { ...fine, stopReason: "error", errorKind: "overflow", retryable: false };
const compaction = { overThreshold: false, overflowTried: false, queued: false, autoContinue: false };

describe("what happens after the agent has stopped", () => {
  const rows: [situation: string, given: Situation, step: Step][] = [
    ["fine", fine, { do: "stop" }],
    ["aborted", { ...fine, stopReason: "aborted" }, { do: "stop" }],
    ["aborted, although an error came with it", { ...failed, stopReason: "aborted" }, { do: "stop" }],
    ["a limit was reached", { ...fine, limitReached: true }, { do: "stop" }],
    ["a passing error", failed, { do: "retry", attempt: 1 }],
    ["a passing error, second time", { ...failed, attempt: 1 }, { do: "retry", attempt: 2 }],
    ["a passing error, attempts used up", { ...failed, attempt: 3 }, { do: "report" }],
    ["a passing error, retrying switched off", { ...failed, retryEnabled: false }, { do: "report" }],
    ["a passing error, the provider wants too long a pause", { ...failed, pauseTooLong: true }, { do: "report" }],
    ["an error that does not pass", { ...failed, errorKind: "auth", retryable: false }, { do: "report" }],
    ["overflow, nothing to compact with", overflow, { do: "report" }],
    ["overflow", { ...overflow, compaction }, { do: "compact", reason: "overflow", thenContinue: true }],
    ["overflow, already tried", { ...overflow, compaction: { ...compaction, overflowTried: true } }, { do: "report" }],
    [
      "over the threshold",
      { ...fine, compaction: { ...compaction, overThreshold: true } },
      { do: "compact", reason: "threshold", thenContinue: false },
    ],
    [
      "over the threshold, messages wait",
      { ...fine, compaction: { ...compaction, overThreshold: true, queued: true } },
      { do: "compact", reason: "threshold", thenContinue: true },
    ],
  ];
  for (const [situation, given, step] of rows) it(situation, () => expect(nextStep(given)).toEqual(step));
});
