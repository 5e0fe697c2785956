import type { RunResults } from "@tiller/agent/types";
import type { EventPipeline } from "./event-pipeline.ts";
import type { Jobs } from "./jobs.ts";

/** Brings the results of background jobs into the conversation: a run takes them, or one is begun, or they are told as they are. */
export interface JobResults extends RunResults {
  /** Jobs run, or their results are not told yet. */
  readonly isPending: boolean;
  /** Called when a result is there, and when a run has settled. */
  deliver(): void;
  /** The session is left: ends all jobs. Until `left` no run is begun for them. */
  leave(): Promise<void>;
  /** The run is over too: what the jobs had to say is told. */
  left(): void;
}

export interface JobResultsOptions {
  jobs: Jobs;
  emit: EventPipeline["emit"];
  /** No run is there, not even one that is about to settle. */
  isIdle(): boolean;
  /** Nobody else is at work who would settle the session. */
  isLast(): boolean;
  /** The last run came to a good end, and another one may be begun. */
  mayBegin(): boolean;
  /** Begins a run that takes the results. */
  begin(): void;
  /** No run follows what was told: so that nobody takes one for cut off by a crash. */
  markEnd(): void;
}

export function createJobResults({ jobs, emit, isIdle, isLast, mayBegin, ...run }: JobResultsOptions): JobResults {
  const { results } = jobs;
  let isLeaving = false;

  const tell = (): void => {
    const messages = results.take();
    for (const message of messages) {
      void emit({ type: "message_start", message });
      void emit({ type: "message_end", message });
    }
    if (messages.length > 0) run.markEnd();
    // The last run could not say so: something was still to come.
    if (!jobs.isPending && isLast()) void emit({ type: "session_settled" });
  };

  return {
    get isEmpty() {
      return results.isEmpty;
    },
    take: results.take,
    get isPending() {
      return jobs.isPending;
    },
    deliver() {
      if (isLeaving || !isIdle() || results.isEmpty) return;
      // Who was stopped, or could not go on, does not begin again by itself.
      if (mayBegin()) run.begin();
      else tell();
    },
    async leave() {
      isLeaving = true;
      await jobs.endAll();
    },
    left() {
      isLeaving = false;
      if (!results.isEmpty) tell();
    },
  };
}
