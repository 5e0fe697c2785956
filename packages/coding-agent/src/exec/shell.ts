import { existsSync } from "node:fs";

/** How a command line is handed to a shell. */

const CANDIDATES = ["/bin/bash", "/usr/bin/bash", "/usr/local/bin/bash"];

let found: string | undefined;

/** bash where there is one, because that is what models write for; else sh. */
export function defaultShell(): string {
  found ??= CANDIDATES.find((path) => existsSync(path)) ?? "sh";
  return found;
}

/**
 * stderr joins stdout inside the shell: two pipes would lose the order in which lines were written. On the same line as
 * the command, so that the line numbers in the shell's own error messages stay right.
 */
export function shellInvocation(command: string, shell = defaultShell()): { file: string; args: string[] } {
  return { file: shell, args: ["-c", `exec 2>&1; ${command}`] };
}
