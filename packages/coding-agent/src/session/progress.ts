import type { AgentEvent, Emit, RunOutcome } from "@tiller/agent/types";
import type { Clock, IdSource } from "@tiller/protocol/clock";
import type { PromptLimits } from "@tiller/protocol/limits";
import type { AgentMessage, AssistantMessage, Usage } from "@tiller/protocol/message";
import type { EventPipeline } from "./event-pipeline.ts";
import { endsTurns, isNear, isReached, type LimitUse, limitUses, nearText, reachedText, WARN_AT } from "./limits.ts";
import type { AcceptedPrompt, EventPlace, SessionEvent } from "./session-event.ts";
import { addAnswer, noSpending, type Spending } from "./usage-tally.ts";

/** One prompt on its way: where its events belong, what it has spent, its retries and its limits. */
export interface Progress {
  readonly place: EventPlace;
  /** Passes the loop's events on and counts along. */
  readonly emit: Emit;
  readonly hasBegun: boolean;
  /** Between `agent_start` and the `agent_end` that promises no more. */
  readonly isOpen: boolean;
  end(messages: AgentMessage[], willRetry: boolean): void;

  /** Retries since the last good answer. */
  readonly attempt: number;
  startRetry(attempt: number, maxAttempts: number, delayMs: number, errorMessage: string): void;
  cancelRetry(): void;
  /** The retries are over, one way or the other; nothing is told when there were none. */
  endRetries(outcome: RunOutcome): void;

  /** Why no further turn may begin, for the loop. */
  readonly limit: () => string | undefined;
  /** Counts a tool call, or says why it may not be made. */
  readonly countToolCall: () => string | undefined;
  readonly limitUse: LimitUse | undefined;
  /** No further turn may begin, should anybody want one. */
  readonly isSpent: boolean;
  /** Counts what was spent beside the turns. */
  spend(usage: Usage): void;
  /** Counts an answer, one of this run or of a run that a tool of it has begun. */
  readonly answered: (message: AssistantMessage) => void;
  /** Watches the wall time; returns a function that stops it. */
  startClock(onTimeUp: () => void): () => void;

  /** A prompt from a queue has been delivered in this run: it ends with it. */
  deliver(prompt: AcceptedPrompt): void;
  /** Everything that ends with this run, and what each has spent. */
  prompts(own: AcceptedPrompt): FinishedPrompt[];
}

/** What a run has to spend, for the runs that its tools begin: they are counted and limited as one. */
export type RunBudget = Pick<Progress, "limit" | "countToolCall" | "limitUse" | "isSpent" | "answered" | "spend">;

export interface FinishedPrompt {
  prompt: AcceptedPrompt;
  spending: Spending;
  durationMs: number;
}

/** What holds for all prompts of a session. */
export interface ProgressOptions {
  pipeline: EventPipeline;
  clock: Clock;
  ids: IdSource;
  sessionLimits: PromptLimits;
  /** What the run pays from beside its own limits, for one that a tool of another run has begun. */
  budget?: RunBudget;
  /** Grows over the whole session. */
  sessionSpending: Spending;
  sessionStartedAt: number;
  /** Work that goes on beside the runs. */
  jobs?: { readonly isPending: boolean };
}

export function createProgress(options: ProgressOptions, promptId: string, limits: PromptLimits): Progress {
  const { pipeline, clock, ids, sessionLimits, sessionSpending, sessionStartedAt, budget } = options;
  const place: EventPlace = { promptId };
  const startedAt = clock.now();
  const spendings: { prompt?: AcceptedPrompt; spending: Spending; since: number }[] = [
    { spending: noSpending(), since: startedAt },
  ];
  const own = spendings[0]!.spending;
  const warned = new Set<string>();
  let hasBegun = false;
  let isOpen = false;
  let attempt = 0;
  let limitUse: LimitUse | undefined;

  const tell = (event: SessionEvent): undefined | Promise<void> => pipeline.emit(event, place);

  const before = (event: AgentEvent): void => {
    if (event.type === "agent_start") hasBegun = isOpen = true;
    else if (event.type === "turn_start") place.turnIndex = (place.turnIndex ?? -1) + 1;
    else if (event.type === "message_start") place.messageId = ids.count("msg");
  };
  const after = (event: AgentEvent): void => {
    if (event.type !== "message_end") return;
    place.messageId = undefined;
    if (event.message.role !== "assistant") return;
    answered(event.message);
    const { stopReason } = event.message;
    if (attempt > 0 && stopReason !== "error" && stopReason !== "aborted") endRetry({ success: true });
  };
  const answered = (message: AssistantMessage): void => {
    addAnswer(sessionSpending, message);
    for (const { spending } of spendings) addAnswer(spending, message);
    for (const use of uses().filter(isNear)) warn(use);
    budget?.answered(message);
  };
  const endRetry = (how: { success: boolean; finalError?: string }): void => {
    void tell({ type: "auto_retry_end", attempt, ...how });
    attempt = 0;
  };

  const uses = (): LimitUse[] => [
    ...limitUses("prompt", limits, own, clock.now() - startedAt),
    ...limitUses("session", sessionLimits, sessionSpending, clock.now() - sessionStartedAt),
  ];
  const warn = (use: LimitUse): void => {
    const key = `${use.scope} ${use.limit}`;
    if (warned.has(key)) return;
    warned.add(key);
    void tell({ type: "notice", level: "warning", source: "limits", message: nearText(use) });
  };

  const check = (now: LimitUse[]): string | undefined => {
    limitUse ??= now.find(isReached);
    if (limitUse) return reachedText(limitUse);
    for (const use of now.filter(isNear)) warn(use);
    return undefined;
  };

  return {
    place,
    emit(event) {
      // Once per token: nothing to count.
      if (event.type === "message_update") return pipeline.emit(event, place);
      before(event);
      // An attempt after the first begins outside the turn that failed.
      const taken = pipeline.emit(event, event.type === "agent_start" ? { promptId } : place);
      after(event);
      return taken;
    },
    get hasBegun() {
      return hasBegun;
    },
    get isOpen() {
      return isOpen;
    },
    end(messages, willRetry) {
      isOpen = willRetry;
      const awaits = !willRetry && options.jobs?.isPending === true;
      void tell({ type: "agent_end", messages, willRetry, ...(awaits && { awaitingAsyncWork: true as const }) });
    },
    get attempt() {
      return attempt;
    },
    startRetry(next, maxAttempts, delayMs, errorMessage) {
      attempt = next;
      void tell({ type: "auto_retry_start", attempt, maxAttempts, delayMs, errorMessage });
    },
    cancelRetry: () => endRetry({ success: false, finalError: "Retry cancelled" }),
    endRetries({ error, stopReason, interrupted }) {
      if (attempt === 0) return;
      // The model did answer; that a rule has cut it short is no failure of the retry.
      if (interrupted) endRetry({ success: true });
      else endRetry({ success: false, finalError: error?.message ?? `The run ended: ${stopReason}` });
    },
    limit: () => check(uses().filter(endsTurns)) ?? budget?.limit(),
    countToolCall() {
      const reached = check(uses().filter((use) => use.limit === "toolCalls")) ?? budget?.countToolCall();
      if (reached !== undefined) return reached;
      sessionSpending.toolCalls += 1;
      for (const { spending } of spendings) spending.toolCalls += 1;
      return undefined;
    },
    get limitUse() {
      return limitUse ?? budget?.limitUse;
    },
    get isSpent() {
      return uses().filter(endsTurns).some(isReached) || budget?.isSpent === true;
    },
    spend(usage) {
      for (const { spending } of spendings) addUsage(spending, usage);
      budget?.spend(usage);
    },
    answered,
    startClock(onTimeUp) {
      const times = uses().filter((use) => use.limit === "wallTimeMs");
      const cancels = times.flatMap((use) => [
        clock.after(use.max * WARN_AT - use.used, () => warn({ ...use, used: use.max * WARN_AT })),
        clock.after(use.max - use.used, () => {
          limitUse ??= { ...use, used: use.max };
          onTimeUp();
        }),
      ]);
      return () => {
        for (const cancel of cancels) cancel();
      };
    },
    deliver(prompt) {
      spendings.push({ prompt, spending: noSpending(), since: clock.now() });
    },
    prompts: (first) =>
      spendings.map(({ prompt = first, spending, since }) => ({ prompt, spending, durationMs: clock.now() - since })),
  };
}

/** It is paid for like an answer, but it is no turn. */
export function addUsage(spending: Spending, usage: Usage): void {
  const { turns } = spending;
  addAnswer(spending, { usage });
  spending.turns = turns;
}
