import type { AgentRun } from "@tiller/agent/agent-loop";
import type { AgentPorts, RunOutcome } from "@tiller/agent/types";
import type { Clock, IdSource } from "@tiller/protocol/clock";
import type { PromptLimits } from "@tiller/protocol/limits";
import type { AgentMessage, CustomMessage } from "@tiller/protocol/message";
import type { Model } from "@tiller/protocol/model";
import type { EventPipeline } from "./event-pipeline.ts";
import type { JobResults } from "./job-results.ts";
import type { Step } from "./next-step.ts";
import type { Continuation } from "./ports.ts";
import type { Progress, RunBudget } from "./progress.ts";
import type { RetrySettings } from "./retry-policy.ts";
import type { RunCompaction } from "./run-compaction.ts";
import type { AcceptedPrompt, EventPlace } from "./session-event.ts";
import type { SessionQueue } from "./session-queue.ts";
import type { Todos } from "./todos.ts";
import type { Spending } from "./usage-tally.ts";

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

/** `results`: what has waited for a run, nothing else. */
export type Beginning = AgentMessage | "results";

export interface RetryWait {
  attempt: number;
  /** Unix milliseconds. */
  until: number;
}

export interface Run {
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
export interface LastAttempt {
  outcome: RunOutcome;
  /** What is to be done after `agent_end`. */
  step?: Step;
  /** An `agent_end` has told its messages and promised more; another one takes the promise back. */
  isTold?: true;
}
