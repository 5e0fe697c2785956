import type { CliOptions, ModeName } from "./cli-options.ts";

/** Questions about the options that were given. */

/** Undefined when the command line names none. With both, `--mode` says more than `--print`. */
export function modeOf({ mode, print }: CliOptions): ModeName | undefined {
  if (mode === undefined) return print ? "text" : undefined;
  return mode === "rpc-ui" ? "rpc" : mode;
}

export function optionKey(name: string): string {
  return name.replace(/-([a-z])/g, (_, letter: string) => letter.toUpperCase());
}

/** Whether the command line says which session it is to be; if not, nothing is looked for at the start. */
export function choosesSession(options: CliOptions): boolean {
  return SESSION_CHOICES.some((key) => options[key] !== undefined);
}

const SESSION_CHOICES = [
  "continue",
  "resume",
  "session",
  "sessionId",
  "name",
  "fork",
] as const satisfies readonly (keyof CliOptions)[];
