import type { AgentRun } from "@tiller/agent/agent-loop";
import type { AgentPorts, RunOutcome } from "@tiller/agent/types";
import type { ProviderError } from "@tiller/ai/errors";
import type { Clock, IdSource } from "@tiller/protocol/clock";
import type { PromptLimits } from "@tiller/protocol/limits";
import type { AgentMessage, UserMessage } from "@tiller/protocol/message";
import type { Model } from "@tiller/protocol/model";
import { sleep } from "../lib/clock.ts";
import type { EventPipeline } from "./event-pipeline.ts";
import { endsTurns, isReached, limitUses, reachedText } from "./limits.ts";
import { nextStep } from "./next-step.ts";
import { createProgress, type Progress } from "./progress.ts";
import { promptResult } from "./prompt-result.ts";
import { type RetrySettings, retryDelay } from "./retry-policy.ts";
import type { AcceptedPrompt, EventPlace } from "./session-event.ts";
import type { SessionQueue } from "./session-queue.ts";
import type { Spending } from "./usage-tally.ts";

export interface SessionRun {
  /** Reserves the run at once, so that the next line already sees it. The job runs the prompt to its end. */
  accept(message: UserMessage, prompt: AcceptedPrompt, limits: PromptLimits): () => Promise<void>;
  /** Ends the run, if there is one; resolves after its last event. `reason` is what its result says about the cause. */
  abort(reason?: string): Promise<void>;
  /** Gives up waiting for the next attempt; resolves after the last event of the run. */
  abortRetry(): Promise<void>;
  /** From acceptance until `agent_end` without a retry has been told. */
  readonly isStreaming: boolean;
  /** Why no prompt may start any more: a limit of the session is reached. */
  readonly exhausted: string | undefined;
  /** Nothing is running and every ending has been told. */
  readonly isSettled: boolean;
  readonly retry: RetryWait | undefined;
  /** Where events that happen now belong. */
  readonly place: EventPlace | undefined;
  settled(): Promise<void>;
}

/** What a run needs, loaded with the first prompt so that nobody waits for it at start. */
export interface RunMachinery {
  runAgent(run: AgentRun): Promise<RunOutcome>;
  ports: Omit<AgentPorts, "queue" | "limit" | "countToolCall">;
}

export interface SessionRunOptions {
  pipeline: EventPipeline;
  queue: SessionQueue;
  clock: Clock;
  ids: IdSource;
  machinery(): Promise<RunMachinery>;
  model(): Model | null;
  /** Undefined while retrying is switched off. */
  retrySettings(): RetrySettings | undefined;
  /** Called where messages from outside the run may be put into the conversation: before its first and after its last. */
  atRest(): void;
  /** Takes messages out of what the model sees; they stay in the file. */
  leaveOut(messages: readonly AgentMessage[]): void;
  sessionLimits: PromptLimits;
  sessionSpending: Spending;
  /** Unix milliseconds. */
  sessionStartedAt: number;
}

export interface RetryWait {
  attempt: number;
  /** Unix milliseconds. */
  until: number;
}

interface Run {
  prompt: AcceptedPrompt;
  progress: Progress;
  controller: AbortController;
  abortReason?: string;
  retryWait?: RetryWait & { controller: AbortController };
  /** `agent_end` has been told for the last time: the next prompt may come. */
  ended: boolean;
  settled: Promise<void>;
}

export function createSessionRun(options: SessionRunOptions): SessionRun {
  const { pipeline, queue, clock, ids, model } = options;
  let current: Run | undefined;

  /** One attempt after the other until the next step is to stop. The order of the frames is that of the statements. */
  const attempts = async (run: Run, message: UserMessage): Promise<RunOutcome> => {
    const { runAgent, ports } = await options.machinery();
    const { progress, controller } = run;
    const { signal } = controller;
    let prompts: AgentMessage[] = [message];
    for (;;) {
      const outcome = await runAgent({
        ports: {
          ...ports,
          queue: queue.forRun(progress),
          limit: progress.limit,
          countToolCall: progress.countToolCall,
        },
        prompts,
        emit: progress.emit,
        signal,
      });
      const settings = options.retrySettings();
      const attempt = progress.attempt + 1;
      const delayMs = settings && retryDelay(attempt, outcome.error, settings, ids.lot());
      const step = nextStep({
        stopReason: outcome.stopReason,
        errorKind: outcome.error?.kind,
        retryable: outcome.error?.retryable,
        limitReached: outcome.limit !== undefined,
        retryEnabled: settings !== undefined,
        attempt: progress.attempt,
        maxRetries: settings?.maxRetries ?? 0,
        pauseTooLong: delayMs === undefined,
      });
      if (step.do !== "retry" || delayMs === undefined) {
        if (settings && outcome.error && delayMs === undefined) tellLongPause(outcome.error, settings.maxDelayMs);
        progress.endRetries(outcome);
        return outcome;
      }
      progress.end(outcome.messages, true);
      progress.startRetry(step.attempt, settings?.maxRetries ?? 0, delayMs, outcome.error?.message ?? "");
      options.leaveOut(failedAnswer(outcome.messages));
      await waitForRetry(run, step.attempt, delayMs);
      if (signal.aborted || run.retryWait?.controller.signal.aborted) {
        progress.cancelRetry();
        // The promise of the last agent_end is taken back: whoever waits for the end shall see it.
        progress.end([], false);
        return signal.aborted ? { ...outcome, stopReason: "aborted", error: undefined } : outcome;
      }
      run.retryWait = undefined;
      prompts = [];
    }
  };

  const tellLongPause = ({ retryAfterMs = 0 }: ProviderError, maxDelayMs: number): void => {
    const message = `Not tried again: the provider asks to wait ${retryAfterMs / 1000} s, and retry.provider.maxRetryDelayMs allows ${maxDelayMs / 1000} s`;
    void pipeline.emit({ type: "notice", level: "warning", source: "retry", message });
  };

  const waitForRetry = async (run: Run, attempt: number, delayMs: number): Promise<void> => {
    const controller = new AbortController();
    run.retryWait = { attempt, until: clock.now() + delayMs, controller };
    await sleep(clock, delayMs, AbortSignal.any([run.controller.signal, controller.signal]));
  };

  /** The run procedure: wait for the one before, run, tell the end, settle. */
  const execute = async (run: Run, message: UserMessage, before: Promise<void> | undefined): Promise<void> => {
    await before;
    options.atRest();
    const { progress } = run;
    const stopClock = progress.startClock(() => run.controller.abort());
    let outcome: RunOutcome | undefined;
    let crash: unknown;
    try {
      outcome = await attempts(run, message);
    } catch (error) {
      crash = error;
    }
    stopClock();
    // Also when the run broke before it could begin: no prompt ends without agent_end.
    if (!progress.hasBegun) void progress.emit({ type: "agent_start" });
    if (progress.isOpen) progress.end(outcome?.messages ?? [], false);
    run.ended = true;
    options.atRest();
    await Promise.resolve();
    if (current === run) current = undefined;
    settle(run, outcome, crash);
    if (crash !== undefined) throw crash;
  };

  const settle = (run: Run, outcome: RunOutcome | undefined, crash: unknown): void => {
    const { progress, prompt } = run;
    const ending = { outcome, crash, model: model(), abortReason: run.abortReason, limit: progress.limitUse };
    const sessionSettled = current === undefined && queue.isEmpty;
    const results = progress.prompts(prompt).map((done) => ({
      place: { promptId: done.prompt.promptId },
      result: promptResult(done, ending, sessionSettled),
    }));
    const aborted = results.some(({ result }) => result.status === "aborted");
    void pipeline.emit({ type: "agent_settled", aborted }, { promptId: prompt.promptId });
    for (const { place, result } of results) void pipeline.emit(result, place);
    void pipeline.emit({ type: "session_settled" }, { promptId: prompt.promptId });
  };

  return {
    accept(message, prompt, limits) {
      const before = current?.settled;
      let finish = (): void => undefined;
      const settled = new Promise<void>((resolve) => {
        finish = resolve;
      });
      const progress = createProgress({ ...options, promptId: prompt.promptId, limits });
      const run: Run = { prompt, progress, controller: new AbortController(), ended: false, settled };
      current = run;
      return () => execute(run, message, before).finally(finish);
    },
    async abort(reason) {
      const run = current;
      if (!run) return;
      run.abortReason ??= reason;
      run.controller.abort();
      await run.settled;
    },
    async abortRetry() {
      const run = current;
      if (!run?.retryWait) return;
      run.retryWait.controller.abort();
      await run.settled;
    },
    get isStreaming() {
      return current !== undefined && !current.ended;
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
    get place() {
      if (!current) return undefined;
      // Without the message that may be open: what happens beside it is not part of it.
      const { promptId, turnIndex } = current.progress.place;
      return { promptId, turnIndex };
    },
    async settled() {
      await current?.settled;
    },
  };
}

/** The answer that failed, with the results that were made up for its tool calls. */
function failedAnswer(messages: readonly AgentMessage[]): AgentMessage[] {
  const at = messages.findLastIndex((message) => message.role === "assistant");
  return messages.slice(at);
}
