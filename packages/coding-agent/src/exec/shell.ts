import { existsSync } from "node:fs";
import { join } from "node:path";
import { searchPath } from "../lib/search-path.ts";

/** How a command line is handed to a shell. */

export interface ShellSettings {
  /** Instead of bash. */
  path?: string;
  /** Put before every command, on lines of its own. */
  prefix?: string;
}

const CANDIDATES = ["/bin/bash", "/usr/bin/bash", "/usr/local/bin/bash"];

let found: string | undefined;

/** bash where there is one, because that is what models write for; else sh. */
export function defaultShell(): string {
  found ??= [...CANDIDATES, ...onPath("bash")].find((path) => existsSync(path)) ?? "sh";
  return found;
}

function onPath(name: string): string[] {
  return searchPath(process.env.PATH).map((folder) => join(folder, name));
}

/** Without a prefix the command is on the first line, so that the line numbers in the shell's own messages are right. */
export function shellInvocation(command: string, shell: ShellSettings = {}) {
  const { path = defaultShell(), prefix = "" } = shell;
  const script = prefix === "" ? command : `${prefix}\n${command}`;
  return { file: path, args: ["-c", script], merged: true };
}
