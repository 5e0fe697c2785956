/**
 * For what tidies up behind a process that has ended: what is told of its end leaves in this turn of the event loop, and need
 * not wait for it.
 */
export function afterwards(work: () => void): void {
  setImmediate(() => setImmediate(work));
}
