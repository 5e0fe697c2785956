/** What the run procedure looks at when the agent has stopped. */
export interface Situation {
  stopReason: "stop" | "length" | "toolUse" | "error" | "aborted";
  /** Set when stopReason is "error". */
  retryable?: boolean;
  /** A limit of the prompt or the session was reached. */
  limitReached?: boolean;
  retryEnabled: boolean;
  /** Retries that were already made for this failure. */
  attempt: number;
  maxRetries: number;
  /** The provider asked for a longer pause than we are willing to make. */
  pauseTooLong: boolean;
  /** Undefined while nothing is compacted by itself. */
  compaction?: CompactionSituation;
  /** A stream rule has ended the answer. */
  interrupted?: boolean;
  /** Stream rules have something to say about an answer that they let pass. */
  hasObjections?: boolean;
  /** The plan has open tasks, and the model may be reminded of them. */
  hasOpenTasks?: boolean;
}

export interface CompactionSituation {
  /** The conversation did not fit the model. Its answer may look fine all the same. */
  overflow: boolean;
  /** This prompt was already helped by a compaction once. */
  overflowTried: boolean;
  overThreshold: boolean;
  /** Messages wait and may be delivered. */
  queued: boolean;
  autoContinue: boolean;
}

export type Step =
  | { do: "stop" }
  | { do: "remind" }
  | { do: "correct" }
  | { do: "report"; secondOverflow?: true }
  | { do: "retry"; attempt: number }
  | { do: "compact"; reason: "overflow" | "threshold"; thenContinue: boolean };

interface Rule {
  when(situation: Situation): boolean;
  step(situation: Situation): Step;
}

/** The first rule that holds decides. Its rows are its tests. */
const RULES: readonly Rule[] = [
  { when: (s) => s.limitReached === true, step: () => ({ do: "stop" }) },
  { when: (s) => s.interrupted === true, step: () => ({ do: "correct" }) },
  { when: (s) => s.stopReason === "aborted", step: () => ({ do: "stop" }) },
  {
    when: ({ compaction: c }) => c?.overflow === true && !c.overflowTried,
    step: () => ({ do: "compact", reason: "overflow", thenContinue: true }),
  },
  { when: (s) => s.compaction?.overflow === true, step: () => ({ do: "report", secondOverflow: true }) },
  {
    when: (s) =>
      s.stopReason === "error" && s.retryEnabled && s.retryable === true && !s.pauseTooLong && s.attempt < s.maxRetries,
    step: (s) => ({ do: "retry", attempt: s.attempt + 1 }),
  },
  { when: (s) => s.stopReason === "error", step: () => ({ do: "report" }) },
  { when: (s) => s.hasObjections === true && s.stopReason !== "toolUse", step: () => ({ do: "correct" }) },
  {
    when: (s) => s.compaction?.overThreshold === true,
    step: (s) => ({
      do: "compact",
      reason: "threshold",
      thenContinue: Boolean(s.compaction?.queued || s.compaction?.autoContinue),
    }),
  },
  { when: (s) => s.stopReason === "stop" && s.hasOpenTasks === true, step: () => ({ do: "remind" }) },
  { when: () => true, step: () => ({ do: "stop" }) },
];

/** Pure: what to do after the agent has stopped. */
export function nextStep(situation: Situation): Step {
  for (const rule of RULES) if (rule.when(situation)) return rule.step(situation);
  return { do: "stop" };
}
