import type { AgentMessage, LlmMessage, UserMessage } from "@tiller/protocol/message";
import { runAgent } from "./agent-loop.ts";
import { createMessageQueue, type MessageQueue, type QueuedMessage, type QueueModes } from "./message-queue.ts";
import type { AgentEvent, AgentPorts, RunOutcome } from "./types.ts";

/**
 * An agent as an object, for programs that want turns and tools in their own process and keep no session: the
 * conversation is an array, and nothing is retried, compacted or written. The product's session is made of the same
 * loop and the same queue, with its own run procedure around them.
 */
export interface Agent {
  readonly messages: readonly AgentMessage[];
  readonly queue: MessageQueue;
  readonly isRunning: boolean;
  /** Runs a prompt to its end. Throws when a run is active: use `steer` or `followUp` then. */
  prompt(message: UserMessage): Promise<RunOutcome>;
  /** Runs on from where the conversation stands, for example after an error. */
  continue(): Promise<RunOutcome>;
  steer(message: UserMessage): void;
  followUp(message: UserMessage): void;
  abort(): void;
  waitForIdle(): Promise<void>;
  subscribe(listener: AgentListener): () => void;
}

export type AgentListener = (
  event: AgentEvent | { type: "agent_end"; messages: AgentMessage[] },
) => undefined | Promise<void>;

export interface AgentOptions {
  ports: Omit<AgentPorts, "queue" | "context" | "limit" | "countToolCall">;
  modes?: Partial<QueueModes>;
  /** The conversation so far. */
  messages?: readonly AgentMessage[];
}

const MODES: QueueModes = { steeringMode: "one-at-a-time", followUpMode: "one-at-a-time", interruptMode: "wait" };

export function createAgent({ ports, modes, messages: before = [] }: AgentOptions): Agent {
  const messages: AgentMessage[] = [...before];
  const queue = createMessageQueue<QueuedMessage>({ ...MODES, ...modes });
  const listeners = new Set<AgentListener>();
  let run: { controller: AbortController; ended: Promise<unknown> } | undefined;
  let queued = 0;

  const tell = (event: Parameters<AgentListener>[0]): undefined | Promise<void> => {
    if (event.type === "message_end") messages.push(event.message);
    const waits = [...listeners].map((listener) => listener(event)).filter((wait) => wait !== undefined);
    return waits.length === 0 ? undefined : Promise.all(waits).then(() => undefined);
  };
  const wholePorts: AgentPorts = {
    ...ports,
    context: () => messages.filter(isForModel),
    limit: () => undefined,
    countToolCall: () => undefined,
    queue: {
      take: (name) => queue.take(name).map(({ message }) => message),
      get hasSteering() {
        return queue.steering.length > 0;
      },
      get interruptMode() {
        return queue.interruptMode;
      },
      texts: () => ({ steering: queue.steering.map(textOf), followUp: queue.followUp.map(textOf) }),
    },
  };
  const start = (prompts: readonly AgentMessage[]): Promise<RunOutcome> => {
    if (run) throw new Error("The agent is running: steer it, queue a follow-up, or wait for it");
    const controller = new AbortController();
    const outcome = runAgent({ ports: wholePorts, prompts, emit: tell, signal: controller.signal }).finally(() => {
      run = undefined;
    });
    run = { controller, ended: outcome.catch(() => undefined) };
    return outcome.then(async (ended) => {
      await tell({ type: "agent_end", messages: ended.messages });
      return ended;
    });
  };
  const add = (name: "steering" | "followUp") => (message: UserMessage) => {
    queued += 1;
    queue.add(name, { id: `queued-${queued}`, message });
  };

  return {
    messages,
    queue,
    get isRunning() {
      return run !== undefined;
    },
    prompt: (message) => start([message]),
    continue: () => start([]),
    steer: add("steering"),
    followUp: add("followUp"),
    abort: () => run?.controller.abort(),
    async waitForIdle() {
      await run?.ended;
    },
    subscribe(listener) {
      listeners.add(listener);
      return () => void listeners.delete(listener);
    },
  };
}

function isForModel(message: AgentMessage): message is LlmMessage {
  return message.role === "user" || message.role === "assistant" || message.role === "toolResult";
}

function textOf({ message: { content } }: QueuedMessage): string {
  return typeof content === "string"
    ? content
    : content.map((block) => (block.type === "text" ? block.text : "")).join("");
}
