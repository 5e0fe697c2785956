import type { Clock, IdSource } from "@tiller/protocol/clock";

/**
 * Requests that we send and a host answers: dialogs and host tools. Each settles exactly once, by an answer, a time-out,
 * an abort or the host's leaving; answers with an unknown or used id are ignored.
 */
export interface PendingRequests<A> {
  open(request: OpenRequest<A>): Promise<A>;
  /** False when nobody waits for this id. */
  settle(id: string, answer: A): boolean;
  /** Progress that does not settle; false when nobody waits for this id. */
  update(id: string, progress: unknown): boolean;
  /** The host is gone: nobody will answer any more. */
  rejectAll(error: Error): void;
  readonly size: number;
}

export interface OpenRequest<A> {
  /** Sends the request; called once, with the id that the answer must carry. */
  send(id: string): void;
  signal?: AbortSignal;
  /** What it settles to when the signal aborts; `id` lets the caller withdraw the request. */
  onAbort(id: string): A;
  timeoutMs?: number;
  onTimeout?(id: string): A;
  onUpdate?(progress: unknown): void;
}

interface Waiting<A> {
  settle(answer: A): void;
  reject(error: Error): void;
  update(progress: unknown): void;
}

export function createPendingRequests<A>(prefix: string, ids: IdSource, clock: Clock): PendingRequests<A> {
  const waiting = new Map<string, Waiting<A>>();

  const open = (request: OpenRequest<A>): Promise<A> =>
    new Promise((resolve, reject) => {
      const { signal, timeoutMs, onTimeout } = request;
      const id = ids.count(prefix);
      if (signal?.aborted) return resolve(request.onAbort(id));
      /** It no longer waits when `then` runs: what that calls (an extension, say) may abort or answer it once more. */
      const finish = (then: () => void): void => {
        waiting.delete(id);
        signal?.removeEventListener("abort", aborted);
        cancelTimer();
        then();
      };
      const aborted = (): void => finish(() => resolve(request.onAbort(id)));
      waiting.set(id, {
        settle: (answer) => finish(() => resolve(answer)),
        reject: (error) => finish(() => reject(error)),
        update: (progress) => request.onUpdate?.(progress),
      });
      const cancelTimer =
        timeoutMs !== undefined && onTimeout
          ? clock.after(timeoutMs, () => finish(() => resolve(onTimeout(id))))
          : () => undefined;
      signal?.addEventListener("abort", aborted, { once: true });
      try {
        request.send(id);
      } catch (error) {
        finish(() => reject(error));
      }
    });

  return {
    open,
    settle(id, answer) {
      const entry = waiting.get(id);
      entry?.settle(answer);
      return entry !== undefined;
    },
    update(id, progress) {
      const entry = waiting.get(id);
      entry?.update(progress);
      return entry !== undefined;
    },
    rejectAll(error) {
      for (const entry of [...waiting.values()]) entry.reject(error);
    },
    get size() {
      return waiting.size;
    },
  };
}
