import type { RunOutcome } from "@tiller/agent/types";
import type { ProviderError } from "@tiller/ai/errors";
import type { AgentMessage } from "@tiller/protocol/message";
import { sleep } from "../lib/clock.ts";
import { nextStep } from "./next-step.ts";
import { retryDelay } from "./retry-policy.ts";
import { type CompactionOfRuns, createCompactionOfRuns, silentOverflow } from "./run-compaction.ts";
import type { Beginning, LastAttempt, Opening, Run, SessionRunOptions } from "./run-options.ts";

/** What a run does between its beginning and its end. It is loaded with the first prompt. */
export interface Attempts {
  /** One attempt after the other until the next step is to stop. */
  run(run: Run, message: Beginning): Promise<LastAttempt>;
  after: CompactionOfRuns["after"];
}

export function createAttempts(options: SessionRunOptions): Attempts {
  const { pipeline, queue, clock, ids, model } = options;
  const compacting = createCompactionOfRuns(options);

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
    return takenBack(run, { ...outcome, stopReason: "error", error: outcome.error ?? silentOverflow(model(), made) });
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

  return { run: attempts, after: compacting.after };
}

const NOTHING: Opening = { messages: [] };

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
