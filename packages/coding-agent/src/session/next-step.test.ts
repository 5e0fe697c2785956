import { describe, expect, it } from "vitest";
import { nextStep, type Situation, type Step } from "./next-step.ts";

const fine: Situation = {
  stopReason: "stop",
  retryEnabled: true,
  attempt: 0,
  maxRetries: 3,
  pauseTooLong: false,
};
const failed: Situation = { ...fine, stopReason: "error", retryable: true };
const overflow: Situation = { ...fine, stopReason: "error", retryable: false };
const compaction = { overflow: false, overThreshold: false, overflowTried: false, queued: false, autoContinue: false };

describe("what happens after the agent has stopped", () => {
  const rows: [situation: string, given: Situation, step: Step][] = [
    ["fine", fine, { do: "stop" }],
    ["aborted", { ...fine, stopReason: "aborted" }, { do: "stop" }],
    ["aborted, although an error came with it", { ...failed, stopReason: "aborted" }, { do: "stop" }],
    ["a limit was reached", { ...fine, limitReached: true }, { do: "stop" }],
    ["a stream rule has ended the answer", { ...fine, stopReason: "aborted", interrupted: true }, { do: "correct" }],
    [
      "a stream rule has ended the answer, and a limit was reached",
      { ...fine, stopReason: "aborted", interrupted: true, limitReached: true },
      { do: "stop" },
    ],
    [
      "a stream rule has ended an answer that filled the context",
      { ...fine, stopReason: "aborted", interrupted: true, compaction: { ...compaction, overThreshold: true } },
      { do: "correct" },
    ],
    ["a stream rule has something to say", { ...fine, hasObjections: true, hasOpenTasks: true }, { do: "correct" }],
    [
      "a stream rule has something to say, over the threshold",
      { ...fine, hasObjections: true, compaction: { ...compaction, overThreshold: true } },
      { do: "correct" },
    ],
    ["the same about an answer that failed", { ...failed, hasObjections: true }, { do: "retry", attempt: 1 }],
    ["the same about one that was aborted", { ...fine, stopReason: "aborted", hasObjections: true }, { do: "stop" }],
    [
      "the same, but a tool has said that it is done",
      { ...fine, stopReason: "toolUse", hasObjections: true },
      { do: "stop" },
    ],
    ["a passing error", failed, { do: "retry", attempt: 1 }],
    ["a passing error, second time", { ...failed, attempt: 1 }, { do: "retry", attempt: 2 }],
    ["a passing error, attempts used up", { ...failed, attempt: 3 }, { do: "report" }],
    ["a passing error, retrying switched off", { ...failed, retryEnabled: false }, { do: "report" }],
    ["a passing error, the provider wants too long a pause", { ...failed, pauseTooLong: true }, { do: "report" }],
    ["an error that does not pass", { ...failed, retryable: false }, { do: "report" }],
    ["overflow, compaction is off", overflow, { do: "report" }],
    [
      "overflow",
      { ...overflow, compaction: { ...compaction, overflow: true } },
      { do: "compact", reason: "overflow", thenContinue: true },
    ],
    [
      "overflow that only the usage tells",
      { ...fine, compaction: { ...compaction, overflow: true, overThreshold: true } },
      { do: "compact", reason: "overflow", thenContinue: true },
    ],
    [
      "overflow, already tried",
      { ...overflow, compaction: { ...compaction, overflow: true, overflowTried: true } },
      { do: "report", secondOverflow: true },
    ],
    [
      "overflow that only the usage tells, already tried",
      { ...fine, compaction: { ...compaction, overflow: true, overflowTried: true, overThreshold: true } },
      { do: "report", secondOverflow: true },
    ],
    [
      "overflow, but aborted",
      { ...overflow, stopReason: "aborted", compaction: { ...compaction, overflow: true } },
      { do: "stop" },
    ],
    [
      "a passing error, over the threshold",
      { ...failed, compaction: { ...compaction, overThreshold: true } },
      { do: "retry", attempt: 1 },
    ],
    [
      "an error that does not pass, over the threshold",
      { ...failed, retryable: false, compaction: { ...compaction, overThreshold: true } },
      { do: "report" },
    ],
    [
      "a limit was reached, over the threshold",
      { ...fine, limitReached: true, compaction: { ...compaction, overThreshold: true } },
      { do: "stop" },
    ],
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
    [
      "over the threshold, and it shall go on by itself",
      { ...fine, compaction: { ...compaction, overThreshold: true, autoContinue: true } },
      { do: "compact", reason: "threshold", thenContinue: true },
    ],
    ["open tasks", { ...fine, hasOpenTasks: true }, { do: "remind" }],
    ["open tasks, but aborted", { ...fine, stopReason: "aborted", hasOpenTasks: true }, { do: "stop" }],
    ["open tasks, but a limit was reached", { ...fine, limitReached: true, hasOpenTasks: true }, { do: "stop" }],
    ["open tasks, but the answer was cut off", { ...fine, stopReason: "length", hasOpenTasks: true }, { do: "stop" }],
    [
      "open tasks, but a tool has ended the run",
      { ...fine, stopReason: "toolUse", hasOpenTasks: true },
      { do: "stop" },
    ],
    ["open tasks, and a passing error", { ...failed, hasOpenTasks: true }, { do: "retry", attempt: 1 }],
    [
      "open tasks, and an error that does not pass",
      { ...failed, retryable: false, hasOpenTasks: true },
      { do: "report" },
    ],
    [
      "open tasks, over the threshold",
      { ...fine, hasOpenTasks: true, compaction: { ...compaction, overThreshold: true } },
      { do: "compact", reason: "threshold", thenContinue: false },
    ],
    ["under the threshold, messages wait", { ...fine, compaction: { ...compaction, queued: true } }, { do: "stop" }],
  ];
  for (const [situation, given, step] of rows) it(situation, () => expect(nextStep(given)).toEqual(step));
});
