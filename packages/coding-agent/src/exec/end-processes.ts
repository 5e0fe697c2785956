/** Ends what was started here, for those who do not start anything: a process that ran no command need not load what runs them. */

let endStarted: (() => void) | undefined;

/** By the one that starts processes, with its first. */
export function onEndProcesses(end: () => void): void {
  endStarted = end;
}

export function endProcesses(): void {
  endStarted?.();
}
