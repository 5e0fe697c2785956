import { orAborted } from "@tiller/agent/tell";
import type { RunOutcome } from "@tiller/agent/types";
import type { PromptLimits } from "@tiller/protocol/limits";
import type { AgentMessage, Usage } from "@tiller/protocol/message";
import { late } from "../lib/late.ts";
import { endsTurns, isReached, limitUses, reachedText } from "./limits.ts";
import { addUsage, createProgress, type Progress, type RunBudget } from "./progress.ts";
import { type Ending, promptResult } from "./prompt-result.ts";
import type { Beginning, LastAttempt, RetryWait, Run, SessionRunOptions } from "./run-options.ts";
import type { AcceptedPrompt, EventPlace } from "./session-event.ts";
import type { Spending } from "./usage-tally.ts";

/**
 * What a run begins with; or what makes it, when something has to be looked up for it. Undefined comes out of that when
 * somebody else has dealt with the prompt: the model is not asked.
 */
export type PromptMessage = Beginning | ((signal: AbortSignal) => Promise<AgentMessage | undefined>);

export interface SessionRun {
  /** Reserves the run at once, so that the next line already sees it. The job runs the prompt to its end. */
  accept(message: PromptMessage, prompt: AcceptedPrompt, limits: PromptLimits): () => Promise<void>;
  /** Ends the run, if there is one; resolves after its last event. `reason` is what its result says about the cause. */
  abort(reason?: string): Promise<void>;
  /** Gives up waiting for the next attempt; resolves after the last event of the run. */
  abortRetry(): Promise<void>;
  /** The last run was neither aborted nor stopped by an error or a limit. */
  readonly endedWell: boolean;
  /** From acceptance until `agent_end` without a retry has been told. */
  readonly isStreaming: boolean;
  /** The run is only reserved: an extension may still take its prompt, and then nothing runs at all. */
  readonly isUndecided: boolean;
  /** Why no prompt may start any more: a limit of the session is reached. */
  readonly exhausted: string | undefined;
  /** Nothing is running and every ending has been told. */
  readonly isSettled: boolean;
  readonly retry: RetryWait | undefined;
  /** Aborts with the run that is going on. */
  readonly signal: AbortSignal | undefined;
  /** Where events that happen now belong. */
  readonly place: EventPlace | undefined;
  settled(): Promise<void>;
  /** Counts what was spent beside the turns, on a summary: for the session, and for the prompt that runs. */
  spend(usage: Usage): void;
  /** For the runs that a tool of this one begins. */
  readonly budget: RunBudget | undefined;
}

export function createSessionRun(options: SessionRunOptions): SessionRun {
  const { pipeline, queue, clock, model, compaction } = options;
  const attempts = late(async () => (await import("./run-attempts.ts")).createAttempts(options));
  let current: Run | undefined;
  let endedWell = true;

  /** The run procedure: wait for the one before, run, tell the end, compact if it is time, settle. */
  const execute = async (run: Run, message: PromptMessage): Promise<void> => {
    await run.before?.settled;
    run.before = undefined;
    const { progress, controller } = run;
    if (compaction?.isCompacting) await orAborted(compaction.settled(), controller.signal);
    options.atRest();
    const stopClock = progress.startClock(() => controller.abort());
    let last: LastAttempt | undefined;
    let crash: unknown;
    let isTaken = false;
    try {
      const first = typeof message === "function" ? await message(controller.signal) : message;
      run.isUndecided = false;
      isTaken = first === undefined;
      if (first) last = await (await attempts.load()).run(run, first);
    } catch (error) {
      crash = error;
    }
    stopClock();
    const rest = options.toolsOver?.();
    if (rest) await rest;
    if (run.isUnanswered) options.markEnd?.(endOf(last));
    // Also when the run broke before it could begin: no prompt that the model shall see ends without agent_end.
    if (!progress.hasBegun && !isTaken) void progress.emit({ type: "agent_start" });
    if (progress.isOpen) progress.end(last && !last.isTold ? last.outcome.messages : [], false);
    for (const words of run.lastWords) {
      void pipeline.emit({ type: "message_start", message: words }, run.place);
      void pipeline.emit({ type: "message_end", message: words }, run.place);
    }
    run.ended = true;
    const outcome = last && (await (await attempts.load()).after(run, last.outcome, last.step));
    options.atRest();
    await (options.observed ? orAborted(options.observed(), controller.signal) : Promise.resolve());
    if (current === run) current = undefined;
    settle(run, { outcome, crash, isTaken });
    if (crash !== undefined) throw crash;
  };

  const settle = (run: Run, how: Pick<Ending, "outcome" | "crash" | "isTaken">): void => {
    const { progress, prompt } = run;
    const ending = { ...how, model: model(), abortReason: run.abortReason, limit: progress.limitUse };
    const isPending = options.jobs?.isPending === true;
    const isLast = options.isAnyHandled?.() !== true;
    const sessionSettled = isLast && current === undefined && queue.isEmpty && !isPending;
    if (!how.isTaken) endedWell = isGoodEnd(how.outcome) && progress.limitUse === undefined;
    const owed = progress.prompts(prompt).filter((done) => !done.prompt.isOwn);
    const results = owed.map((done) => ({
      place: { promptId: done.prompt.promptId },
      result: promptResult(done, ending, sessionSettled),
    }));
    const aborted = how.outcome?.stopReason === "aborted" || results.some(({ result }) => result.status === "aborted");
    void pipeline.emit({ type: "agent_settled", aborted }, { promptId: prompt.promptId });
    for (const { place, result } of results) void pipeline.emit(result, place);
    if (isLast && !isPending) void pipeline.emit({ type: "session_settled" }, { promptId: prompt.promptId });
    options.jobs?.deliver();
    if (current === undefined && endedWell) options.rest?.begin();
  };

  return {
    accept(message, prompt, limits) {
      options.rest?.end();
      let finish = (): void => undefined;
      const settled = new Promise<void>((resolve) => {
        finish = resolve;
      });
      const progress = createProgress(options, prompt.promptId, limits);
      const run: Run = {
        prompt,
        place: { promptId: prompt.promptId },
        progress,
        controller: new AbortController(),
        before: current,
        overflowTried: false,
        autoContinued: false,
        reminders: 0,
        lastWords: [],
        isUnanswered: false,
        isUndecided: typeof message === "function",
        ended: false,
        settled,
      };
      current = run;
      return () => execute(run, message).finally(finish);
    },
    async abort(reason) {
      options.rest?.end();
      const last = current;
      for (let run = last; run; run = run.before) {
        run.abortReason ??= reason;
        run.controller.abort(abortReason());
      }
      await last?.settled;
    },
    async abortRetry() {
      const run = current;
      if (!run?.retryWait) return;
      run.retryWait.controller.abort();
      await run.settled;
    },
    get endedWell() {
      return endedWell;
    },
    get isStreaming() {
      return current !== undefined && !current.ended;
    },
    get isUndecided() {
      // As long as the run before it is not over, something runs.
      return current?.isUndecided === true && current.before === undefined;
    },
    get exhausted() {
      const elapsedMs = clock.now() - options.sessionStartedAt;
      const uses = limitUses("session", options.sessionLimits, options.sessionSpending, elapsedMs);
      const reached = uses.filter(endsTurns).find(isReached);
      return reached && `Nothing was started: ${reachedText(reached)}`;
    },
    get isSettled() {
      return current === undefined;
    },
    get retry() {
      const wait = current?.retryWait;
      return wait && { attempt: wait.attempt, until: wait.until };
    },
    get signal() {
      return current?.controller.signal;
    },
    get place() {
      if (!current) return undefined;
      // Without the message that may be open: what happens beside it is not part of it.
      const { promptId, turnIndex } = current.progress.place;
      return { promptId, turnIndex };
    },
    async settled() {
      await current?.settled;
    },
    spend(usage) {
      addUsage(options.sessionSpending, usage);
      oldest(current)?.progress.spend(usage);
    },
    get budget() {
      const progress = oldest(current)?.progress;
      return progress && budgetOf(progress, options.sessionSpending);
    },
  };
}

let knownReason: DOMException | undefined;

/** As without one; but to make a new one, with its trace, takes longer than most of what an abort does. */
function abortReason(): DOMException {
  knownReason ??= new DOMException("This operation was aborted", "AbortError");
  return knownReason;
}

/** The one that is at work: those behind it wait for it. */
function oldest(run: Run | undefined): Run | undefined {
  let found = run;
  while (found?.before) found = found.before;
  return found;
}

function budgetOf(progress: Progress, sessionSpending: Spending): RunBudget {
  return {
    limit: progress.limit,
    countToolCall: progress.countToolCall,
    answered: progress.answered,
    get limitUse() {
      return progress.limitUse;
    },
    get isSpent() {
      return progress.isSpent;
    },
    spend(usage) {
      addUsage(sessionSpending, usage);
      progress.spend(usage);
    },
  };
}

function isGoodEnd(outcome: RunOutcome | undefined): boolean {
  return outcome !== undefined && outcome.stopReason !== "error" && outcome.stopReason !== "aborted";
}

/** Why the last message of the conversation is no answer. A tool may have said that none is wanted. */
function endOf(last: LastAttempt | undefined): "aborted" | "error" | "completed" {
  if (!last || last.outcome.stopReason === "error") return "error";
  return last.outcome.stopReason === "toolUse" && last.outcome.limit === undefined ? "completed" : "aborted";
}
