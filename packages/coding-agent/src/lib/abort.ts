/** What an operation that was told to stop says. */
export const ABORTED_TEXT = "Operation aborted";

/** Throws when the signal is aborted; called between the steps of something long. */
export function throwIfAborted(signal: AbortSignal): void {
  if (signal.aborted) throw new Error(ABORTED_TEXT);
}
