import type { AssistantMessage } from "@tiller/protocol/message";
import type { AssistantMessageEvent } from "@tiller/protocol/stream-event";

/**
 * A list of events that grows: whoever makes them pushes, whoever wants them iterates, and the result can be waited for.
 * Extensions build the answers of their own providers with it.
 */
export class EventStream<T, R = T> implements AsyncIterable<T> {
  readonly #waiting: ((step: IteratorResult<T, undefined>) => void)[] = [];
  readonly #events: T[] = [];
  readonly #isComplete: (event: T) => boolean;
  readonly #resultOf: (event: T) => R;
  readonly #result: Promise<R>;
  #settle: (result: R) => void = () => undefined;
  #isOver = false;

  constructor(isComplete: (event: T) => boolean, resultOf: (event: T) => R) {
    this.#isComplete = isComplete;
    this.#resultOf = resultOf;
    this.#result = new Promise((resolve) => {
      this.#settle = resolve;
    });
  }

  push(event: T): void {
    if (this.#isOver) return;
    const isLast = this.#isComplete(event);
    if (isLast) this.#settle(this.#resultOf(event));
    const next = this.#waiting.shift();
    if (next) next({ done: false, value: event });
    else this.#events.push(event);
    if (isLast) this.#close();
  }

  /** Also without a last event; the result is then what is given here. */
  end(result?: R): void {
    if (result !== undefined) this.#settle(result);
    this.#close();
  }

  result(): Promise<R> {
    return this.#result;
  }

  [Symbol.asyncIterator](): AsyncIterator<T, undefined> {
    return {
      next: () => {
        if (this.#events.length > 0) return Promise.resolve({ done: false, value: this.#events.shift() as T });
        if (this.#isOver) return Promise.resolve({ done: true, value: undefined });
        return new Promise((resolve) => this.#waiting.push(resolve));
      },
    };
  }

  #close(): void {
    this.#isOver = true;
    for (const next of this.#waiting.splice(0)) next({ done: true, value: undefined });
  }
}

/** The events of one answer; its result is the whole message, also that of a failure. */
export class AssistantMessageEventStream extends EventStream<AssistantMessageEvent, AssistantMessage> {
  constructor() {
    super(
      (event) => event.type === "done" || event.type === "error",
      (event) => {
        if (event.type === "done") return event.message;
        if (event.type === "error") return event.error;
        throw new Error(`An answer does not end with "${event.type}"`);
      },
    );
  }
}

export function createAssistantMessageEventStream(): AssistantMessageEventStream {
  return new AssistantMessageEventStream();
}
