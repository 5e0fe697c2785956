import type { CustomMessage, UserMessage } from "@tiller/protocol/message";
import type { InterruptMode, QueueMode } from "@tiller/protocol/state";

export type QueueName = "steering" | "followUp";

export interface QueuedMessage {
  id: string;
  message: UserMessage | CustomMessage;
}

/** The messages that wait to be delivered, and how they are delivered. The only place that holds them. */
export interface MessageQueue<M extends QueuedMessage = QueuedMessage> {
  steeringMode: QueueMode;
  followUpMode: QueueMode;
  interruptMode: InterruptMode;
  readonly steering: readonly M[];
  readonly followUp: readonly M[];
  add(queue: QueueName, item: M): void;
  /** What is to be delivered now: the first message, or all of them, as the mode says. */
  take(queue: QueueName): M[];
  /** Empties both queues and gives back what was in them. */
  clear(): { steering: M[]; followUp: M[] };
}

export interface QueueModes {
  steeringMode: QueueMode;
  followUpMode: QueueMode;
  interruptMode: InterruptMode;
}

export function createMessageQueue<M extends QueuedMessage>(modes: QueueModes): MessageQueue<M> {
  const waiting: Record<QueueName, M[]> = { steering: [], followUp: [] };
  return {
    ...modes,
    get steering() {
      return waiting.steering;
    },
    get followUp() {
      return waiting.followUp;
    },
    add(queue, item) {
      waiting[queue].push(item);
    },
    take(queue) {
      const mode = queue === "steering" ? this.steeringMode : this.followUpMode;
      return waiting[queue].splice(0, mode === "all" ? waiting[queue].length : 1);
    },
    clear() {
      return { steering: waiting.steering.splice(0), followUp: waiting.followUp.splice(0) };
    },
  };
}
