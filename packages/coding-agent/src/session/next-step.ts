import type { ProviderErrorKind } from "@tiller/ai/errors";

/** What the run procedure looks at when the agent has stopped. */
export interface Situation {
  stopReason: "stop" | "length" | "toolUse" | "error" | "aborted";
  /** Set when stopReason is "error". */
  errorKind?: ProviderErrorKind;
  retryable?: boolean;
  /** A limit of the prompt or the session was reached. */
  limitReached?: boolean;
  retryEnabled: boolean;
  /** Retries that were already made for this failure. */
  attempt: number;
  maxRetries: number;
  /** The provider asked for a longer pause than we are willing to make. */
  pauseTooLong: boolean;
  /** Undefined while there is no compaction to do it. */
  compaction?: { overThreshold: boolean; overflowTried: boolean; queued: boolean; autoContinue: boolean };
}

export type Step =
  | { do: "stop" }
  | { do: "report" }
  | { do: "retry"; attempt: number }
  | { do: "compact"; reason: "overflow" | "threshold"; thenContinue: boolean };

interface Rule {
  when(situation: Situation): boolean;
  step(situation: Situation): Step;
}

/** The first rule that holds decides. Its rows are its tests. */
const RULES: readonly Rule[] = [
  { when: (s) => s.stopReason === "aborted" || s.limitReached === true, step: () => ({ do: "stop" }) },
  {
    when: (s) => s.errorKind === "overflow" && s.compaction?.overflowTried === false,
    step: () => ({ do: "compact", reason: "overflow", thenContinue: true }),
  },
  {
    when: (s) =>
      s.stopReason === "error" && s.retryEnabled && s.retryable === true && !s.pauseTooLong && s.attempt < s.maxRetries,
    step: (s) => ({ do: "retry", attempt: s.attempt + 1 }),
  },
  { when: (s) => s.stopReason === "error", step: () => ({ do: "report" }) },
  {
    when: (s) => s.compaction?.overThreshold === true,
    step: (s) => ({
      do: "compact",
      reason: "threshold",
      thenContinue: Boolean(s.compaction?.queued || s.compaction?.autoContinue),
    }),
  },
  { when: () => true, step: () => ({ do: "stop" }) },
];

/** Pure: what to do after the agent has stopped. */
export function nextStep(situation: Situation): Step {
  for (const rule of RULES) if (rule.when(situation)) return rule.step(situation);
  return { do: "stop" };
}
