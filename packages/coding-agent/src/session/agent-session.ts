import type { Clock } from "@tiller/protocol/clock";
import type { ImageContent } from "@tiller/protocol/content";
import type { AgentMessage } from "@tiller/protocol/message";
import type { Model } from "@tiller/protocol/model";
import type { InterruptMode, QueueMode, SessionState } from "@tiller/protocol/state";
import { remember } from "../lib/remember.ts";
import type { EventPipeline } from "./event-pipeline.ts";
import { lastAssistantText } from "./last-text.ts";
import type { ModelControl } from "./model-control.ts";
import { userMessage } from "./prompt-input.ts";
import type { CommandId, SessionListener } from "./session-event.ts";
import type { SessionRun } from "./session-run.ts";
import type { SessionStore } from "./store/session-store.ts";

export interface PromptRequest {
  message: string;
  images?: readonly ImageContent[];
  streamingBehavior?: "steer" | "followUp";
  commandId?: CommandId;
}

/** Either a reason in one sentence, or a job: the run, which the caller starts once it has said yes to the host. */
export type Admission = { refused: string } | { promptId: string; job: () => Promise<void> };

/** Switches of this process. */
export interface SessionModes {
  steeringMode: QueueMode;
  followUpMode: QueueMode;
  interruptMode: InterruptMode;
  autoCompactionEnabled: boolean;
  autoRetryEnabled: boolean;
}

/** A conversation and the verbs on it. What each verb means is decided in the parts it is made of, not here. */
export interface AgentSession {
  readonly models: ModelControl;
  readonly modes: SessionModes;
  admit(prompt: PromptRequest): Admission;
  /** Resolves after the last event of the run that it ended. */
  abort(): Promise<void>;
  waitForIdle(): Promise<void>;
  subscribe(listener: SessionListener): () => void;
  /** The same object as long as nothing has changed. */
  state(): SessionState;
  messages(): readonly AgentMessage[];
  lastAssistantText(): string | undefined;
  /** Ends the run, writes what is to be written. `reason` is what an unfinished prompt's result says. */
  dispose(reason: string): Promise<void>;
}

export interface AgentSessionParts {
  models: ModelControl;
  modes: SessionModes;
  run: SessionRun;
  store: SessionStore;
  pipeline: EventPipeline;
  clock: Clock;
  busyText: string;
  /** Why the model cannot be asked now, or undefined when it can. */
  unusable(model: Model | null): string | undefined;
}

const NO_PHASES: SessionState["todoPhases"] = [];

export function createAgentSession({
  models,
  modes,
  run,
  store,
  pipeline,
  clock,
  busyText,
  unusable,
}: AgentSessionParts): AgentSession {
  return {
    models,
    modes,
    admit({ message, images, streamingBehavior, commandId }) {
      if (run.isStreaming) return { refused: streamingBehavior ? NO_QUEUES : busyText };
      const problem = unusable(models.model);
      if (problem !== undefined) return { refused: problem };
      return run.accept(userMessage(message, images, clock.now()), commandId);
    },
    abort: () => run.abort(),
    waitForIdle: () => run.settled(),
    subscribe: pipeline.subscribe,
    state: remember(() => ({
      model: models.model,
      thinkingLevel: models.thinkingLevel,
      isStreaming: run.isStreaming,
      isCompacting: false,
      isSettled: run.isSettled,
      steeringMode: modes.steeringMode,
      followUpMode: modes.followUpMode,
      interruptMode: modes.interruptMode,
      sessionFile: store.sessionFile,
      sessionId: store.sessionId,
      autoCompactionEnabled: modes.autoCompactionEnabled,
      autoRetryEnabled: modes.autoRetryEnabled,
      messageCount: store.messages.length,
      pendingMessageCount: 0,
      queuedMessageCount: 0,
      todoPhases: NO_PHASES,
    })),
    messages: () => store.messages,
    lastAssistantText: () => lastAssistantText(store.messages),
    async dispose(reason) {
      await run.abort(reason);
      store.close();
    },
  };
}

const NO_QUEUES =
  "prompt with streamingBehavior is not available in this version while a run is active (not built yet: queues)";
