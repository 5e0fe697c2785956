import type { AgentMessage } from "@tiller/protocol/message";
import type { EventPlace, SessionEvent, SessionListener } from "./session-event.ts";

export interface EventPipeline {
  emit(event: SessionEvent, place?: EventPlace): undefined | Promise<void>;
  subscribe(listener: SessionListener): () => void;
}

/** Where messages are kept, and who is told beside the listeners. */
export interface EventKeeper {
  keep(message: AgentMessage): void;
  /** All messages of a turn are there. */
  endTurn(): void;
  /** Extensions hear of it after the host; nothing they do changes it any more. */
  observe?(event: SessionEvent, place: EventPlace | undefined): undefined | Promise<void>;
}

/**
 * The one way out of a session: first to the store, then to the listeners in the order they came. Whoever hears of a
 * message can rely on it being kept.
 */
export function createEventPipeline({ keep, endTurn, observe }: EventKeeper): EventPipeline {
  const listeners: SessionListener[] = [];

  const tellAll = (event: SessionEvent, place: EventPlace | undefined): undefined | Promise<void> => {
    let wait: undefined | Promise<void>;
    for (const listener of listeners) {
      const taken = listener(event, place);
      if (taken) wait = wait ? both(wait, taken) : taken;
    }
    const observed = observe?.(event, place);
    return wait && observed ? both(wait, observed) : (wait ?? observed);
  };

  return {
    emit(event, place) {
      const message = firstWhole(event);
      if (message) keep(message);
      else if (event.type === "turn_end") endTurn();
      return tellAll(event, place);
    },
    subscribe(listener) {
      listeners.push(listener);
      return () => {
        const at = listeners.indexOf(listener);
        if (at >= 0) listeners.splice(at, 1);
      };
    },
  };
}

/** The message that this event is the first to show whole: an assistant's when it ends, any other when it starts. */
function firstWhole(event: SessionEvent): AgentMessage | undefined {
  if (event.type === "message_start" && event.message.role !== "assistant") return event.message;
  if (event.type === "message_end" && event.message.role === "assistant") return event.message;
  return undefined;
}

async function both(first: Promise<void>, second: Promise<void>): Promise<void> {
  await first;
  await second;
}
