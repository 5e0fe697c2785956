import type { After, CallOptions } from "./call.ts";
import { ClientError, stderrNote } from "./errors.ts";
import type { Frame } from "./events.ts";

interface PendingCall {
  type: string;
  settle(outcome: { data: unknown } | { error: unknown }): void;
}

export interface PendingCallsOptions {
  after: After;
  /** For commands that say nothing about it; 0 for as long as they like. */
  timeoutMs: number;
  stderr(): string;
  /** The first call waits, or the last one does not any more. */
  onChange(): void;
}

/** Commands that were sent and not answered yet. */
export class PendingCalls {
  readonly #calls = new Map<string, PendingCall>();
  readonly #options: PendingCallsOptions;
  #last = 0;

  constructor(options: PendingCallsOptions) {
    this.#options = options;
  }

  get size(): number {
    return this.#calls.size;
  }

  nextId(): string {
    this.#last += 1;
    return `req_${this.#last}`;
  }

  /** Resolves to `data` of the answer. */
  wait(id: string, type: string, { signal, timeoutMs = this.#options.timeoutMs }: CallOptions): Promise<unknown> {
    return new Promise((resolve, reject) => {
      let cancelTimer: () => void = () => undefined;
      const onAbort = (): void => settle({ error: signal?.reason });
      const settle: PendingCall["settle"] = (outcome) => {
        cancelTimer();
        signal?.removeEventListener("abort", onAbort);
        this.#calls.delete(id);
        if (this.#calls.size === 0) this.#options.onChange();
        if ("error" in outcome) reject(outcome.error);
        else resolve(outcome.data);
      };
      this.#calls.set(id, { type, settle });
      if (this.#calls.size === 1) this.#options.onChange();
      signal?.addEventListener("abort", onAbort);
      if (timeoutMs > 0) cancelTimer = this.#options.after(timeoutMs, () => settle({ error: this.#late(type) }));
    });
  }

  /** Takes an answer; false when nobody waits for it. */
  answer(response: Frame): boolean {
    const call = this.#find(response);
    if (!call) return false;
    if (response.success === true) call.settle({ data: response.data });
    else call.settle({ error: failureOf(response, call.type) });
    return true;
  }

  /** What is not answered now never will be. */
  drop(id: string, error: unknown): void {
    this.#calls.get(id)?.settle({ error });
  }

  failAll(error: unknown): void {
    for (const call of [...this.#calls.values()]) call.settle({ error });
  }

  /** Some agents leave the id out when they do not know a command, or do not understand a line. */
  #find({ id, command, success }: Frame): PendingCall | undefined {
    if (id !== undefined && id !== null) return this.#calls.get(String(id));
    if (success !== false) return undefined;
    const meant = [...this.#calls.values()].filter(({ type }) => command === "parse" || type === command);
    return meant.length === 1 ? meant[0] : undefined;
  }

  #late(command: string): ClientError {
    const stderr = this.#options.stderr();
    return new ClientError("timeout", `Timeout waiting for response to ${command}.${stderrNote(stderr)}`, {
      command,
      stderr,
    });
  }
}

export function failureOf(response: Frame, command: string): ClientError {
  const { error } = response;
  const message = typeof error === "string" ? error : `${command} failed: ${JSON.stringify(response)}`;
  return new ClientError("command_failed", message, { command });
}
