import type { RunOutcome } from "@tiller/agent/types";
import { ProviderError } from "@tiller/ai/errors";
import type { Clock } from "@tiller/protocol/clock";
import type { AgentMessage, CustomMessage } from "@tiller/protocol/message";
import type { Model } from "@tiller/protocol/model";
import type { AutomaticOutcome, AutomaticReason, Compactor } from "./compaction/compactor.ts";
import { isSilentOverflow } from "./compaction/silent-overflow.ts";
import type { EventPipeline } from "./event-pipeline.ts";
import type { CompactionSituation, Step } from "./next-step.ts";
import type { Progress } from "./progress.ts";
import type { EventPlace } from "./session-event.ts";
import type { SessionQueue } from "./session-queue.ts";

/** What a run has to do with compaction: before its first call of the model, between two attempts and after its end. */

/** The part of the compactor that a run has to do with. */
export type RunCompaction = Pick<
  Compactor,
  "isCompacting" | "isOn" | "isDue" | "autoContinue" | "automatic" | "tellSecondOverflow" | "settled"
>;

/** The part of a run that compaction has to do with. */
export interface CompactedRun {
  readonly place: EventPlace;
  readonly progress: Progress;
  readonly controller: AbortController;
  readonly overflowTried: boolean;
  /** It was continued after a compaction although nobody asked for anything. */
  autoContinued: boolean;
}

export interface CompactionOfRuns {
  /** Before the first call of the model: another one may have been chosen, or the session opened with what it holds. */
  before(run: CompactedRun): Promise<void>;
  /** For the next step; undefined when nothing is compacted by itself. */
  situation(run: CompactedRun, outcome: RunOutcome): CompactionSituation | undefined;
  automatic(run: CompactedRun, reason: AutomaticReason, willRetry?: boolean): Promise<AutomaticOutcome> | undefined;
  /** What a run goes on with after a compaction: what waits, or a note that it may go on. The loop takes steering itself. */
  nextPrompts(run: CompactedRun, isCompacted: boolean): readonly AgentMessage[] | undefined;
  /** What is still to be done when the host has been told that the run is over; the next one waits for it. */
  after(run: CompactedRun, outcome: RunOutcome, step: Step | undefined): Promise<RunOutcome>;
}

export function createCompactionOfRuns(options: {
  pipeline: EventPipeline;
  queue: SessionQueue;
  clock: Clock;
  model(): Model | null;
  compaction?: RunCompaction;
}): CompactionOfRuns {
  const { pipeline, queue, clock, model, compaction } = options;

  const automatic: CompactionOfRuns["automatic"] = (run, reason, willRetry = false) =>
    compaction?.automatic(reason, willRetry, run.controller.signal, run.place);

  return {
    automatic,
    async before(run) {
      if (compaction?.isOn && compaction.isDue()) await automatic(run, "threshold");
    },
    situation(run, outcome) {
      if (!compaction?.isOn) return undefined;
      // Who has stopped once more without doing anything is done.
      const isIdle = run.autoContinued && !outcome.messages.some(({ role }) => role === "toolResult");
      return {
        overflow: outcome.error?.kind === "overflow" || isSilentOverflow(outcome.messages, model()),
        overflowTried: run.overflowTried,
        get overThreshold() {
          return compaction.isDue();
        },
        queued: !queue.isEmpty && !run.progress.isSpent,
        autoContinue: compaction.autoContinue && !isIdle && !run.progress.isSpent,
      };
    },
    nextPrompts(run, isCompacted) {
      const waiting = queue.forRun(run.progress);
      if (waiting.hasSteering) return [];
      const followUps = waiting.take("followUp");
      if (followUps.length > 0) {
        void pipeline.emit({ type: "queue_update", ...waiting.texts() }, run.place);
        return followUps;
      }
      if (!isCompacted) return undefined;
      run.autoContinued = true;
      return [autoContinueMessage(clock.now())];
    },
    async after(run, outcome, step) {
      if (step?.do === "report" && step.secondOverflow) compaction?.tellSecondOverflow(run.place);
      if (step?.do !== "compact") return outcome;
      await automatic(run, step.reason);
      return run.controller.signal.aborted ? { ...outcome, stopReason: "aborted" } : outcome;
    },
  };
}

const AUTO_CONTINUE = `The earlier part of the conversation was just replaced by a summary. Go on if work is left; if all is done, say so in one sentence.`;

function autoContinueMessage(timestamp: number): CustomMessage {
  return { role: "custom", customType: "auto-continue", content: AUTO_CONTINUE, display: false, timestamp };
}

/** The provider has cut the conversation without saying so, and no room could be made. */
export function silentOverflow(model: Model | null, made: AutomaticOutcome | undefined): ProviderError {
  const window = model ? `${model.contextWindow} tokens of ${model.provider}/${model.id}` : "window";
  const why = made === "skipped" ? ", and there is no earlier exchange that a summary could replace" : "";
  return new ProviderError(
    "overflow",
    `The conversation is larger than the ${window}: the answer was made from a part of it and is not kept${why}. Choose a model with a larger window (set_model), go back before the message (fork), or begin anew (new_session)`,
  );
}
