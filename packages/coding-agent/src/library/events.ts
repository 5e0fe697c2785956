import type { AssistantMessage } from "@tiller/protocol/message";
import type { EventPlace, SessionEvent } from "../session/session-event.ts";
import type { AgentSessionEvent, AgentSessionListener } from "./types.ts";

/** Tells listeners what the session says, in the form of the protocol. */
export interface LibraryEvents {
  take(event: SessionEvent, place: EventPlace | undefined): undefined | Promise<void>;
  subscribe(listener: AgentSessionListener): () => void;
}

export function createLibraryEvents(): LibraryEvents {
  const listeners: AgentSessionListener[] = [];
  let seq = 0;
  /** A listener that fails must not cost the run its ending, nor the others their events: they hear of it. */
  const failed = (error: unknown): undefined => {
    const message = `A subscriber failed: ${error instanceof Error ? (error.stack ?? error.message) : String(error)}`;
    if (!isTellingFailure) {
      isTellingFailure = true;
      void take({ type: "notice", level: "error", source: "subscriber", message }, undefined);
      isTellingFailure = false;
    }
    return undefined;
  };
  let isTellingFailure = false;
  const take: LibraryEvents["take"] = (event, place) => {
    seq += 1;
    const told = publicEvent(event, place, seq);
    const waits: Promise<unknown>[] = [];
    for (const listener of [...listeners]) {
      try {
        const taken = listener(told);
        if (taken instanceof Promise) waits.push(taken.catch(failed));
      } catch (error) {
        failed(error);
      }
    }
    return waits.length === 0 ? undefined : Promise.all(waits).then(() => undefined);
  };
  return {
    take,
    subscribe(listener) {
      listeners.push(listener);
      return () => {
        const at = listeners.indexOf(listener);
        if (at >= 0) listeners.splice(at, 1);
      };
    },
  };
}

/** The place is read now: it is the same object for a whole run. */
function publicEvent(event: SessionEvent, place: EventPlace | undefined, seq: number): AgentSessionEvent {
  if (event.type !== "message_update") return { ...event, ...place, seq } as AgentSessionEvent;
  let whole: AssistantMessage | undefined;
  const { snapshot } = event;
  const message = (): AssistantMessage => {
    whole ??= snapshot();
    return whole;
  };
  const inner = event.event;
  const update = { type: event.type, assistantMessageEvent: { ...inner }, ...place, seq };
  if (!("message" in inner) && !("error" in inner)) lazily(update.assistantMessageEvent, "partial", message);
  lazily(update, "message", message);
  lazily(update, "usage", () => message().usage);
  return update as unknown as AgentSessionEvent;
}

/** A message that streams is long, and few look at it with every token. */
function lazily(object: object, name: string, get: () => unknown): void {
  Object.defineProperty(object, name, { enumerable: true, configurable: true, get });
}
