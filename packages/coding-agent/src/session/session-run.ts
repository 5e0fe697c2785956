import type { AgentRun } from "@tiller/agent/agent-loop";
import { orAborted } from "@tiller/agent/tell";
import type { AgentPorts, RunOutcome } from "@tiller/agent/types";
import type { ProviderError } from "@tiller/ai/errors";
import type { Clock, IdSource } from "@tiller/protocol/clock";
import type { PromptLimits } from "@tiller/protocol/limits";
import type { AgentMessage, CustomMessage, Usage } from "@tiller/protocol/message";
import type { Model } from "@tiller/protocol/model";
import { sleep } from "../lib/clock.ts";
import type { EventPipeline } from "./event-pipeline.ts";
import type { JobResults } from "./job-results.ts";
import { endsTurns, isReached, limitUses, reachedText } from "./limits.ts";
import { nextStep, type Step } from "./next-step.ts";
import type { Continuation } from "./ports.ts";
import { addUsage, createProgress, type Progress, type RunBudget } from "./progress.ts";
import { type Ending, promptResult } from "./prompt-result.ts";
import { type RetrySettings, retryDelay } from "./retry-policy.ts";
import { createCompactionOfRuns, type RunCompaction, silentOverflow } from "./run-compaction.ts";
import type { AcceptedPrompt, EventPlace } from "./session-event.ts";
import type { SessionQueue } from "./session-queue.ts";
import type { Todos } from "./todos.ts";
import type { Spending } from "./usage-tally.ts";

/**
 * What a run begins with; or what makes it, when something has to be looked up for it. Undefined comes out of that when
 * somebody else has dealt with the prompt: the model is not asked.
 */
export type PromptMessage = Beginning | ((signal: AbortSignal) => Promise<AgentMessage | undefined>);

/** `results`: what has waited for a run, nothing else. */
type Beginning = AgentMessage | "results";

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

/** What a run needs, loaded with the first prompt so that nobody waits for it at start. */
export interface RunMachinery {
  runAgent(run: AgentRun): Promise<RunOutcome>;
  ports: Omit<AgentPorts, "queue" | "results" | "news" | "limit" | "countToolCall">;
  /** Those who look along in `ports.watch`, as far as the run has to do with them. */
  rules?: RunRules;
}

/** Stream rules: what they have against an answer, and what becomes of it. */
export interface RunRules {
  readonly hasObjections: boolean;
  /** What the model is told about the last answer, once; keeps that it was told. */
  takeReminder(): CustomMessage | undefined;
  /** An answer that was interrupted is left out of what the model sees. */
  readonly discards: boolean;
}

export interface SessionRunOptions {
  pipeline: EventPipeline;
  queue: SessionQueue;
  clock: Clock;
  ids: IdSource;
  /** An abort ends the wait for those who are not ready yet. */
  machinery(signal: AbortSignal): Promise<RunMachinery>;
  model(): Model | null;
  /** Undefined while retrying is switched off. */
  retrySettings(): RetrySettings | undefined;
  /** Called where messages from outside the run may be put into the conversation: before its first and after its last. */
  atRest(): void;
  /** What else a run begins with, and the system prompt if it is another one for this run. */
  open?(message: AgentMessage, ports: RunMachinery["ports"], signal: AbortSignal): Promise<Opening>;
  /** What tools have begun is over; undefined when there is nothing to wait for. After an abort it ends by itself. */
  toolsOver?(): undefined | Promise<unknown>;
  /** The run is about to be over: what is added to it, and whether the model is asked once more all the same. */
  beforeSettle?(run: { messages: AgentMessage[]; aborted: boolean }, signal: AbortSignal): Promise<Continuation>;
  /** All who are told of events beside the host have heard them. */
  observed?(): Promise<void>;
  /** An extension deals with a prompt beside the run: who is through last settles the session. */
  isAnyHandled?(): boolean;
  /** Takes messages out of what the model sees; they stay in the file. */
  leaveOut(messages: readonly AgentMessage[]): void;
  /** The plan: what the model is told of it, and reminded of. */
  todos?: Pick<Todos, "takeNews" | "reminder">;
  /** Work that goes on beside the runs. */
  jobs?: JobResults;
  /** What is done between two runs: it begins when one has ended well, and ends with the next, or with an abort. */
  rest?: { begin(): void; end(): void };
  /** Undefined: nothing is ever compacted by itself. */
  compaction?: RunCompaction;
  /**
   * Called at the end of a run after which the last message of the conversation is no answer, before the end is told: so
   * that nobody takes the run for cut off by a crash.
   */
  markEnd?(status: "aborted" | "error" | "completed"): void;
  /** Of the run that has begun this one. */
  budget?: RunBudget;
  sessionLimits: PromptLimits;
  sessionSpending: Spending;
  /** Unix milliseconds. */
  sessionStartedAt: number;
}

/** How a run begins. */
export interface Opening {
  messages: readonly AgentMessage[];
  systemPrompt?: string;
}

export interface RetryWait {
  attempt: number;
  /** Unix milliseconds. */
  until: number;
}

interface Run {
  prompt: AcceptedPrompt;
  /** Where its events belong that happen beside its turns. */
  place: EventPlace;
  progress: Progress;
  controller: AbortController;
  abortReason?: string;
  retryWait?: RetryWait & { controller: AbortController };
  /** The run before this one, as long as it is not over: it may still be compacting. */
  before: Run | undefined;
  overflowTried: boolean;
  /** It was continued after a compaction although nobody asked for anything. */
  autoContinued: boolean;
  /** How often the model was reminded of open tasks. */
  reminders: number;
  /** What was added when it was over, without an answer. */
  lastWords: readonly AgentMessage[];
  /** The last message of the conversation is no answer. */
  isUnanswered: boolean;
  /** What it begins with is still being made, or taken by somebody. */
  isUndecided: boolean;
  /** `agent_end` has been told for the last time: the next prompt may come. */
  ended: boolean;
  settled: Promise<void>;
}

/** How the attempts ended. */
interface LastAttempt {
  outcome: RunOutcome;
  /** What is to be done after `agent_end`. */
  step?: Step;
  /** An `agent_end` has told its messages and promised more; another one takes the promise back. */
  isTold?: true;
}

export function createSessionRun(options: SessionRunOptions): SessionRun {
  const { pipeline, queue, clock, ids, model, compaction } = options;
  const compacting = createCompactionOfRuns(options);
  let current: Run | undefined;
  let endedWell = true;

  /** One attempt after the other until the next step is to stop. The order of the frames is that of the statements. */
  const attempts = async (run: Run, message: Beginning): Promise<LastAttempt> => {
    const { progress, controller } = run;
    const { signal } = controller;
    const { runAgent, ports, rules } = await options.machinery(signal);
    await compacting.before(run);
    const opening = message === "results" ? NOTHING : await options.open?.(message, ports, signal);
    const { systemPrompt } = opening ?? {};
    const news = options.todos?.takeNews();
    let prompts: readonly AgentMessage[] = [
      ...(opening?.messages ?? [message as AgentMessage]),
      ...(news ? [news] : []),
    ];
    for (;;) {
      run.isUnanswered = true;
      const ended = await runAgent({
        ports: {
          ...ports,
          ...(systemPrompt !== undefined && { systemPrompt: () => systemPrompt }),
          queue: queue.forRun(progress),
          results: options.jobs,
          news: () => [options.todos?.takeNews(), rules?.takeReminder()].filter((message) => message !== undefined),
          limit: progress.limit,
          countToolCall: progress.countToolCall,
        },
        prompts,
        emit: progress.emit,
        signal,
      });
      // What a rule interrupts goes on by itself, as far as the limits allow.
      const interrupted = ended.interrupted === true && !signal.aborted;
      const outcome = interrupted ? { ...ended, limit: progress.limit() } : orGivenUp(ended, signal);
      run.isUnanswered = outcome.messages.at(-1)?.role !== "assistant";
      const left = outcome.lastWords ?? [];
      const settings = options.retrySettings();
      const attempt = progress.attempt + 1;
      const delayMs = settings && retryDelay(attempt, outcome.error, settings, ids.lot());
      // Who waits for a job has not forgotten the plan.
      const isFree = outcome.stopReason === "stop" && !progress.isSpent && !options.jobs?.isPending;
      const hasObjections = rules?.hasObjections === true && !progress.isSpent;
      const reminder = isFree ? options.todos?.reminder(run.reminders + 1) : undefined;
      const step = nextStep({
        stopReason: outcome.stopReason,
        retryable: outcome.error?.retryable,
        limitReached: outcome.limit !== undefined,
        retryEnabled: settings !== undefined,
        attempt: progress.attempt,
        maxRetries: settings?.maxRetries ?? 0,
        pauseTooLong: delayMs === undefined,
        compaction: compacting.situation(run, outcome),
        interrupted,
        hasObjections,
        hasOpenTasks: reminder !== undefined,
      });
      if (step.do === "retry" && delayMs !== undefined) {
        const given = await retry(run, outcome, { attempt, maxAttempts: settings?.maxRetries ?? 0, delayMs });
        const more = given && (await continuation(run, given));
        if (given && !more) return given;
        prompts = more ?? left;
        continue;
      }
      if (settings && outcome.error && delayMs === undefined) tellLongPause(outcome.error, settings.maxDelayMs);
      progress.endRetries(outcome);
      if (step.do === "correct") {
        progress.end(outcome.messages, true);
        if (interrupted && rules?.discards) leaveOutAnswer(run, outcome);
        const correction = rules?.takeReminder();
        prompts = correction ? [...left, correction] : left;
        continue;
      }
      if (step.do === "remind" && reminder) {
        progress.end(outcome.messages, true);
        run.reminders += 1;
        void pipeline.emit(reminder.event, run.place);
        prompts = [...left, reminder.message];
        continue;
      }
      if (step.do !== "compact" || !step.thenContinue) {
        const more = await continuation(run, { outcome, step });
        if (!more) return { outcome, step };
        prompts = more;
        continue;
      }
      progress.end(outcome.messages, true);
      if (step.reason === "overflow") {
        const given = await recover(run, outcome);
        const more = given && (await continuation(run, given));
        if (given && !more) return given;
        prompts = more ?? left;
      } else {
        const made = await compacting.automatic(run, "threshold");
        const more = signal.aborted ? undefined : compacting.nextPrompts(run, made === "done");
        const next = more ? [...left, ...more] : await continuation(run, takenBack(run, outcome));
        if (!next) return takenBack(run, outcome);
        prompts = next;
      }
    }
  };

  /** Nothing follows by itself: somebody else may still want the model to be asked once more, and says with what. */
  const continuation = async (
    run: Run,
    { outcome, step, isTold }: LastAttempt,
  ): Promise<readonly AgentMessage[] | undefined> => {
    const { progress, controller } = run;
    const { signal } = controller;
    const left = outcome.lastWords ?? [];
    run.lastWords = left;
    if (!options.beforeSettle) return undefined;
    const about = { messages: outcome.messages, aborted: outcome.stopReason === "aborted" || signal.aborted };
    const said = await options.beforeSettle(about, signal);
    if (!said.continue || about.aborted || signal.aborted || progress.isSpent) {
      run.lastWords = [...left, ...said.messages];
      return undefined;
    }
    if (!isTold) progress.end(outcome.messages, true);
    if (step?.do === "compact") await compacting.automatic(run, step.reason);
    run.lastWords = [];
    return [...left, ...said.messages];
  };

  /** Waits and lets the next attempt begin; or says how it all ended when the pause was cut short. */
  const retry = async (
    run: Run,
    outcome: RunOutcome,
    { attempt, maxAttempts, delayMs }: { attempt: number; maxAttempts: number; delayMs: number },
  ): Promise<LastAttempt | undefined> => {
    const { progress } = run;
    progress.end(outcome.messages, true);
    progress.startRetry(attempt, maxAttempts, delayMs, outcome.error?.message ?? "");
    leaveOutAnswer(run, outcome);
    await waitForRetry(run, attempt, delayMs);
    if (run.controller.signal.aborted || run.retryWait?.controller.signal.aborted) {
      progress.cancelRetry();
      return takenBack(run, outcome);
    }
    run.retryWait = undefined;
    return undefined;
  };

  /** Makes room and lets the next attempt begin; or says how it all ended when there is no room to be made. */
  const recover = async (run: Run, outcome: RunOutcome): Promise<LastAttempt | undefined> => {
    run.overflowTried = true;
    leaveOutAnswer(run, outcome);
    const made = await compacting.automatic(run, "overflow", true);
    if (made === "done" && !run.controller.signal.aborted) return undefined;
    return takenBack(run, { ...outcome, stopReason: "error", error: outcome.error ?? silentOverflow(model()) });
  };

  const takenBack = ({ controller }: Run, outcome: RunOutcome): LastAttempt => ({
    outcome: controller.signal.aborted ? { ...outcome, stopReason: "aborted", error: undefined } : outcome,
    isTold: true,
  });

  const leaveOutAnswer = (run: Run, { messages }: RunOutcome): void => {
    options.leaveOut(failedAnswer(messages));
    run.isUnanswered = true;
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
      if (first) last = await attempts(run, first);
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
    const outcome = last && (await compacting.after(run, last.outcome, last.step));
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
      const progress = createProgress({ ...options, promptId: prompt.promptId, limits });
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
        run.controller.abort();
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

const NOTHING: Opening = { messages: [] };

function isGoodEnd(outcome: RunOutcome | undefined): boolean {
  return outcome !== undefined && outcome.stopReason !== "error" && outcome.stopReason !== "aborted";
}

/** Why the last message of the conversation is no answer. A tool may have said that none is wanted. */
function endOf(last: LastAttempt | undefined): "aborted" | "error" | "completed" {
  if (!last || last.outcome.stopReason === "error") return "error";
  return last.outcome.stopReason === "toolUse" && last.outcome.limit === undefined ? "completed" : "aborted";
}

/**
 * Somebody may have thought about the answer before it got here, and given up meanwhile: then nothing more is promised that
 * would not be tried.
 */
function orGivenUp(outcome: RunOutcome, signal: AbortSignal): RunOutcome {
  const wouldGoOn = outcome.error?.retryable === true || outcome.error?.kind === "overflow";
  return signal.aborted && wouldGoOn ? { ...outcome, stopReason: "aborted", error: undefined } : outcome;
}

/** The answer that failed, with the results that were made up for its tool calls. */
function failedAnswer(messages: readonly AgentMessage[]): AgentMessage[] {
  const at = messages.findLastIndex((message) => message.role === "assistant");
  return messages.slice(at);
}
