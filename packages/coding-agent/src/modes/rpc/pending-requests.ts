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
  signal: AbortSignal;
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
      const id = ids.count(prefix);
      if (request.signal.aborted) return resolve(request.onAbort(id));
      const finish =
        <V>(then: (value: V) => void) =>
        (value: V): void => {
          waiting.delete(id);
          request.signal.removeEventListener("abort", aborted);
          cancelTimer();
          then(value);
        };
      const settle = finish(resolve);
      const aborted = (): void => settle(request.onAbort(id));
      const { timeoutMs, onTimeout } = request;
      const cancelTimer =
        timeoutMs !== undefined && onTimeout ? clock.after(timeoutMs, () => settle(onTimeout(id))) : () => undefined;
      request.signal.addEventListener("abort", aborted, { once: true });
      waiting.set(id, { settle, reject: finish(reject), update: (progress) => request.onUpdate?.(progress) });
      request.send(id);
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
