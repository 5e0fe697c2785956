import type { After, CallOptions } from "./call.ts";
import { ClientError } from "./errors.ts";
import type { ClientEvent, ClientEventType, EventListener, Frame } from "./events.ts";
import { EVENT_TYPES } from "./methods.generated.ts";

type EventOf<K extends ClientEventType> = Extract<ClientEvent, { type: K }>;

/** What is an event for listeners. */
const KNOWN: ReadonlySet<string> = new Set<ClientEventType>([
  ...EVENT_TYPES,
  "extension_ui_request",
  "rpc_frame_error",
  "available_commands_update",
  "session_info_update",
  "config_update",
]);

/** Those who hear what comes from the agent, whichever process it is. */
export class Listeners {
  readonly #after: After;
  readonly #all = new Set<EventListener>();
  readonly #strangers = new Set<(frame: Frame) => void>();
  readonly #exit = new Set<(error: ClientError) => void>();
  /** Each waits for one event; told when none will come any more. */
  readonly #waiting = new Set<(error: unknown) => void>();

  constructor(after: After) {
    this.#after = after;
  }

  onEvent(listener: EventListener): () => void {
    this.#all.add(listener);
    return () => this.#all.delete(listener);
  }

  on<K extends ClientEventType>(type: K, listener: (event: EventOf<K>) => void): () => void {
    return this.onEvent((event) => {
      if (event.type === type) listener(event as EventOf<K>);
    });
  }

  onUnknownFrame(listener: (frame: Frame) => void): () => void {
    this.#strangers.add(listener);
    return () => this.#strangers.delete(listener);
  }

  onExit(listener: (error: ClientError) => void): () => void {
    this.#exit.add(listener);
    return () => this.#exit.delete(listener);
  }

  next<K extends ClientEventType>(type: K, { timeoutMs = 0, signal }: CallOptions): Promise<EventOf<K>> {
    return new Promise((resolve, reject) => {
      const fail = (error: unknown): void => {
        done();
        reject(error);
      };
      const onAbort = (): void => fail(signal?.reason);
      const late = (): void => fail(new ClientError("timeout", `Timeout waiting for ${type}`));
      const cancelTimer = timeoutMs > 0 ? this.#after(timeoutMs, late) : () => undefined;
      const stop = this.on(type, (event) => {
        done();
        resolve(event);
      });
      const done = (): void => {
        cancelTimer();
        stop();
        this.#waiting.delete(fail);
        signal?.removeEventListener("abort", onAbort);
      };
      this.#waiting.add(fail);
      signal?.addEventListener("abort", onAbort);
      if (signal?.aborted) onAbort();
    });
  }

  /** Tells a frame that is for nobody else. Gives it back when it is an event. */
  tell(frame: Frame): ClientEvent | undefined {
    if (!KNOWN.has(frame.type)) {
      for (const listener of this.#strangers) told(listener, frame);
      return undefined;
    }
    const event = frame as unknown as ClientEvent;
    for (const listener of this.#all) told(listener, event);
    return event;
  }

  tellExit(error: ClientError): void {
    for (const listener of this.#exit) told(listener, error);
  }

  /** No event will come that somebody waits for. */
  giveUp(error: ClientError): void {
    for (const fail of [...this.#waiting]) fail(error);
  }
}

/** A listener that throws is its owner's problem, and neither ours nor that of the others. */
function told<T>(listener: (value: T) => void, value: T): void {
  try {
    listener(value);
  } catch (error) {
    queueMicrotask(() => {
      throw error;
    });
  }
}
