import type { QueueModes, QueueName } from "@tiller/agent/message-queue";
import type { QueueTexts } from "@tiller/agent/types";
import type { Clock, IdSource } from "@tiller/protocol/clock";
import type { ImageContent } from "@tiller/protocol/content";
import type { PromptLimits } from "@tiller/protocol/limits";
import type { AgentMessage } from "@tiller/protocol/message";
import type { Model } from "@tiller/protocol/model";
import type { SessionState } from "@tiller/protocol/state";
import { remember } from "../lib/remember.ts";
import type { BashRunner } from "./bash-runner.ts";
import type { EventPipeline } from "./event-pipeline.ts";
import { lastAssistantText } from "./last-text.ts";
import type { ModelControl } from "./model-control.ts";
import { messageProblem, userMessage } from "./prompt-input.ts";
import { droppedResult } from "./prompt-result.ts";
import type { AcceptedPrompt, CommandId, SessionListener } from "./session-event.ts";
import type { SessionQueue } from "./session-queue.ts";
import type { SessionRun } from "./session-run.ts";
import type { SessionStore } from "./store/session-store.ts";

export interface MessageRequest {
  message: string;
  images?: readonly ImageContent[];
}

export interface PromptRequest extends MessageRequest {
  streamingBehavior?: "steer" | "followUp";
  limits?: PromptLimits;
  commandId?: CommandId;
}

/** A reason in one sentence; or where the message went, with a job when a run is to be started. */
export type Admission =
  | { refused: string }
  | { disposition: "queued" }
  | { disposition: "started"; job: () => Promise<void> };

/** Switches of this process. */
export interface SessionModes extends QueueModes {
  autoCompactionEnabled: boolean;
  autoRetryEnabled: boolean;
}

/** A conversation and the verbs on it. What each verb means is decided in the parts it is made of, not here. */
export interface AgentSession {
  readonly models: ModelControl;
  readonly modes: SessionModes;
  readonly bash: BashRunner;
  admit(prompt: PromptRequest): Admission;
  /** Ends the run and reserves the next one in its place at once; `over` resolves after the last event of the old one. */
  replace(prompt: PromptRequest): { admission: Admission; over: Promise<void> };
  /** Queues a message for the run that is active, or for the next one. */
  enqueue(queue: QueueName, message: MessageRequest): Admission;
  /** Empties both queues and gives back the texts; a prompt among them ends as aborted. */
  clearQueue(): QueueTexts;
  /** Resolves after the last event of the run that it ended. */
  abort(): Promise<void>;
  abortRetry(): Promise<void>;
  /** Neither a run nor a shell command of the host is going on. */
  waitForIdle(): Promise<void>;
  subscribe(listener: SessionListener): () => void;
  /** The same object as long as nothing has changed. */
  state(): SessionState;
  messages(): readonly AgentMessage[];
  lastAssistantText(): string | undefined;
  /** Ends the run, the shell commands and what waits. `reason` is what the results of unfinished prompts say. */
  dispose(reason: string): Promise<void>;
}

export interface AgentSessionParts {
  models: ModelControl;
  modes: SessionModes;
  bash: BashRunner;
  queue: SessionQueue;
  run: SessionRun;
  store: SessionStore;
  pipeline: EventPipeline;
  clock: Clock;
  ids: IdSource;
  busyText: string;
  promptLimits: PromptLimits;
  /** Why the model cannot be asked now, or undefined when it can. */
  unusable(model: Model | null): string | undefined;
}

const NO_PHASES: SessionState["todoPhases"] = [];
const LIMITS_OF_QUEUED =
  '"limits" cannot be given with a prompt that is queued: the limits of the run that delivers it hold';
const QUEUES = { steer: "steering", followUp: "followUp" } as const;

export function createAgentSession(parts: AgentSessionParts): AgentSession {
  const { models, modes, bash, queue, run, store, pipeline, clock, ids } = parts;

  const enqueue = (name: QueueName, request: MessageRequest, prompt?: AcceptedPrompt): Admission => {
    queue.add(name, userMessage(request, clock.now()), prompt);
    return { disposition: "queued" };
  };
  const dropQueue = (reason: string): QueueTexts => {
    const texts = queue.texts();
    const dropped = queue.clear();
    for (const { prompt } of [...dropped.steering, ...dropped.followUp]) {
      if (prompt)
        void pipeline.emit(droppedResult(prompt.commandId, reason, run.isSettled), { promptId: prompt.promptId });
    }
    return texts;
  };

  const newPrompt = ({ commandId }: PromptRequest): AcceptedPrompt => ({ promptId: ids.count("prompt"), commandId });
  const startProblem = (): string | undefined => run.exhausted ?? parts.unusable(models.model);
  const start = (request: PromptRequest): Admission => {
    const limits = { ...parts.promptLimits, ...request.limits };
    return { disposition: "started", job: run.accept(userMessage(request, clock.now()), newPrompt(request), limits) };
  };

  return {
    models,
    modes,
    bash,
    admit(request) {
      const problem = messageProblem(request);
      if (problem !== undefined) return { refused: problem };
      if (run.isStreaming) {
        const { streamingBehavior } = request;
        if (streamingBehavior && request.limits) return { refused: LIMITS_OF_QUEUED };
        return streamingBehavior
          ? enqueue(QUEUES[streamingBehavior], request, newPrompt(request))
          : { refused: parts.busyText };
      }
      const unable = startProblem();
      return unable === undefined ? start(request) : { refused: unable };
    },
    replace(request) {
      const problem = messageProblem(request) ?? startProblem();
      if (problem !== undefined) return { admission: { refused: problem }, over: Promise.resolve() };
      const over = run.abort();
      return { admission: start(request), over };
    },
    enqueue(name, request) {
      const problem = messageProblem(request);
      return problem === undefined ? enqueue(name, request) : { refused: problem };
    },
    clearQueue: () => dropQueue("The queued prompt was removed by clear_queue"),
    abort: () => run.abort(),
    abortRetry: () => run.abortRetry(),
    async waitForIdle() {
      await Promise.all([run.settled(), bash.settled()]);
    },
    subscribe: pipeline.subscribe,
    state: remember(() => ({
      model: models.model,
      thinkingLevel: models.thinkingLevel,
      isStreaming: run.isStreaming,
      isCompacting: false,
      isSettled: run.isSettled && queue.isEmpty,
      steeringMode: modes.steeringMode,
      followUpMode: modes.followUpMode,
      interruptMode: modes.interruptMode,
      sessionFile: store.sessionFile,
      sessionId: store.sessionId,
      autoCompactionEnabled: modes.autoCompactionEnabled,
      autoRetryEnabled: modes.autoRetryEnabled,
      messageCount: store.messages.length,
      pendingMessageCount: queue.count,
      queuedMessageCount: queue.count,
      todoPhases: NO_PHASES,
      retry: run.retry,
    })),
    messages: () => store.messages,
    lastAssistantText: () => lastAssistantText(store.messages),
    async dispose(reason) {
      bash.abortAll();
      await Promise.all([run.abort(reason), bash.settled()]);
      if (!queue.isEmpty) dropQueue(reason);
      store.close();
    },
  };
}
