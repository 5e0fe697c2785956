/** What waits to be read by a loop, and how much of it is too much. */
export interface EventQueueOptions {
  /** From so many on it is full, until half of them are taken. */
  limit: number;
  /** It became full, or has room again. */
  onChange(): void;
  /** Whoever was reading does not want the rest. */
  onLeave(): void;
}

export class EventQueue<T> implements AsyncIterableIterator<T> {
  /** Is read from the front; when it is used up the two change places. */
  #front: T[] = [];
  #taken = 0;
  #back: T[] = [];
  #full = false;
  #end: { error?: unknown } | undefined;
  #left = false;
  #waiting: { resolve: (result: IteratorResult<T>) => void; reject: (error: unknown) => void }[] = [];
  readonly #options: EventQueueOptions;

  constructor(options: EventQueueOptions) {
    this.#options = options;
  }

  get isFull(): boolean {
    return this.#full;
  }

  get size(): number {
    return this.#front.length - this.#taken + this.#back.length;
  }

  push(value: T): void {
    if (this.#end || this.#left) return;
    const reader = this.#waiting.shift();
    if (reader) {
      reader.resolve({ value, done: false });
      return;
    }
    this.#back.push(value);
    if (!this.#full && this.#back.length >= this.#options.limit) this.#setFull(true);
  }

  /** No more: readers get what is there, and then the end or the error. */
  end(error?: unknown): void {
    if (this.#end) return;
    this.#end = error === undefined ? {} : { error };
    this.#setFull(false);
    for (const reader of this.#waiting.splice(0)) this.#finish(reader.resolve, reader.reject);
  }

  next(): Promise<IteratorResult<T>> {
    if (this.#taken === this.#front.length) this.#turn();
    if (this.#taken < this.#front.length) {
      const value = this.#front[this.#taken++] as T;
      if (this.#full && this.size * 2 <= this.#options.limit) this.#setFull(false);
      return Promise.resolve({ value, done: false });
    }
    return new Promise((resolve, reject) => {
      if (this.#end || this.#left) this.#finish(resolve, reject);
      else this.#waiting.push({ resolve, reject });
    });
  }

  /** The loop was left early. */
  return(): Promise<IteratorResult<T>> {
    if (!this.#left && !this.#end) {
      this.#left = true;
      this.#options.onLeave();
    }
    this.#front = [];
    this.#back = [];
    this.#taken = 0;
    this.#setFull(false);
    return Promise.resolve({ value: undefined, done: true });
  }

  [Symbol.asyncIterator](): this {
    return this;
  }

  #turn(): void {
    if (this.#back.length === 0) return;
    const used = this.#front;
    used.length = 0;
    this.#front = this.#back;
    this.#back = used;
    this.#taken = 0;
  }

  #setFull(full: boolean): void {
    if (this.#full === full) return;
    this.#full = full;
    this.#options.onChange();
  }

  #finish(resolve: (result: IteratorResult<T>) => void, reject: (error: unknown) => void): void {
    const error = this.#end?.error;
    if (this.#end) this.#end = {};
    if (error === undefined) resolve({ value: undefined, done: true });
    else reject(error);
  }
}
