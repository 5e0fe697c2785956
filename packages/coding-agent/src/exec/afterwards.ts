/**
 * For what need not be done at once: what is told in this turn of the event loop leaves first, and the system has been asked
 * once more what happened, such as that a process has ended.
 */
export function afterwards(work: () => void): void {
  setImmediate(() => setImmediate(work));
}
