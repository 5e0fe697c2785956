import type { AgentEvent, Emit } from "./types.ts";

/** Resolves when `promise` does, or as soon as the signal aborts: nobody waits for a slow reader once the run is over. */
export async function orAborted(promise: Promise<unknown>, signal: AbortSignal): Promise<void> {
  if (signal.aborted) return;
  let stop = (): void => undefined;
  const aborted = new Promise<void>((resolve) => {
    stop = resolve;
    signal.addEventListener("abort", stop, { once: true });
  });
  try {
    await Promise.race([promise, aborted]);
  } finally {
    signal.removeEventListener("abort", stop);
  }
}

/** Says one event and waits until it is taken, so that a slow reader slows the model instead of filling memory. */
export async function tell(emit: Emit, event: AgentEvent, signal: AbortSignal): Promise<void> {
  const taken = emit(event);
  if (taken) await orAborted(taken, signal);
}
