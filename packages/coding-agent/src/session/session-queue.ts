import type { MessageQueue, QueuedMessage, QueueName } from "@tiller/agent/message-queue";
import type { QueueTexts, RunQueue } from "@tiller/agent/types";
import type { IdSource } from "@tiller/protocol/clock";
import type { UserMessage } from "@tiller/protocol/message";
import type { Progress } from "./progress.ts";
import type { AcceptedPrompt } from "./session-event.ts";

/** A message in a queue; `prompt` is set when a prompt command put it there, which is owed a result. */
export interface WaitingMessage extends QueuedMessage {
  prompt?: AcceptedPrompt;
}

/** The queues of a session: puts in what hosts send, and hands it out to runs. */
export interface SessionQueue {
  readonly isEmpty: boolean;
  readonly count: number;
  add(queue: QueueName, message: QueuedMessage["message"], prompt?: AcceptedPrompt): void;
  clear(): { steering: WaitingMessage[]; followUp: WaitingMessage[] };
  texts(): QueueTexts;
  /** The queues as a run sees them: a prompt that it takes ends with it. */
  forRun(progress: Pick<Progress, "deliver">): RunQueue;
}

export function createSessionQueue(
  queue: MessageQueue<WaitingMessage>,
  ids: IdSource,
  onChange: (texts: QueueTexts) => void,
): SessionQueue {
  const texts = (): QueueTexts => ({
    steering: queue.steering.map(({ message }) => textOf(message)),
    followUp: queue.followUp.map(({ message }) => textOf(message)),
  });
  const wakes = new Set<() => void>();
  return {
    get isEmpty() {
      return this.count === 0;
    },
    get count() {
      return queue.steering.length + queue.followUp.length;
    },
    add(name, message, prompt) {
      queue.add(name, { id: ids.count("queued"), message, prompt });
      onChange(texts());
      if (name === "steering") for (const wake of [...wakes]) wake();
    },
    clear() {
      const dropped = queue.clear();
      onChange(texts());
      return dropped;
    },
    texts,
    forRun: (progress) => ({
      take(name) {
        const items = queue.take(name);
        for (const { prompt } of items) if (prompt) progress.deliver(prompt);
        return items.map(({ message }) => message);
      },
      get hasSteering() {
        return queue.steering.length > 0;
      },
      get interruptMode() {
        return queue.interruptMode;
      },
      onSteering(wake) {
        wakes.add(wake);
        return () => wakes.delete(wake);
      },
      texts,
    }),
  };
}

export function textOf({ content }: Pick<UserMessage, "content">): string {
  if (typeof content === "string") return content;
  return content.map((block) => (block.type === "text" ? block.text : "")).join("");
}
