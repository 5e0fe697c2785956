/** Ends what was started here, for those who do not start anything: a process that ran no command need not load what runs them. */

/** The variable that marks a process as started by us. Nested agents append, so an outer one still finds the inner's children. */
export const TOKEN_VARIABLE = "TILLER_PROCESS_TOKEN";

let endStarted: ((mark?: string) => void) | undefined;

/** By the one that starts processes, with its first. */
export function onEndProcesses(end: (mark?: string) => void): void {
  endStarted = end;
}

/** With a mark only those whose environment has it. */
export function endProcesses(mark?: string): void {
  endStarted?.(mark);
}

/** The environment for those that carry the mark. */
export function markedEnvironment(
  env: Readonly<Record<string, string | undefined>>,
  mark: string,
): Record<string, string | undefined> {
  return { ...env, [TOKEN_VARIABLE]: `${env[TOKEN_VARIABLE] ?? ""}${mark}` };
}
