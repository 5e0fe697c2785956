import { join } from "node:path";

/** Which program is started, with which arguments. */
export interface AgentCommandOptions {
  /**
   * The program with its first arguments, such as `["pi"]`, or a function that makes the whole command line of the
   * arguments that follow. Without it: Tiller itself.
   */
  command?: string | readonly string[] | ((args: readonly string[]) => readonly string[]);
  /** A program that runs on Node, instead of `command`. */
  cliPath?: string;
  provider?: string;
  model?: string;
  /** Where sessions are kept. */
  sessionDir?: string;
  /** Further arguments. */
  args?: readonly string[];
}

/** The bundle of the client lies beside the program. */
const OWN_CLI = (): string => join(__dirname, "cli.js");

export function agentArgv(options: AgentCommandOptions, session?: string): string[] {
  const args = ["--mode", "rpc"];
  if (options.provider !== undefined) args.push("--provider", options.provider);
  if (options.model !== undefined) args.push("--model", options.model);
  if (options.sessionDir !== undefined) args.push("--session-dir", options.sessionDir);
  const own = options.args ?? [];
  if (session === undefined) args.push(...own);
  else args.push(...withoutSession(own), "--session", session);
  const { command } = options;
  if (typeof command === "function") return [...command(args)];
  if (command !== undefined) return [...(typeof command === "string" ? [command] : command), ...args];
  const cli = options.cliPath ?? OWN_CLI();
  return /\.[cm]?[jt]s$/.test(cli) ? [process.execPath, cli, ...args] : [cli, ...args];
}

const CHOICES_WITH_VALUE = new Set(["--session", "--fork"]);
const CHOICES = new Set(["--continue", "-c", "--resume", "-r"]);

/** The arguments without those that choose a session: another one is chosen instead. */
function withoutSession(args: readonly string[]): string[] {
  const left: string[] = [];
  for (let at = 0; at < args.length; at++) {
    const word = args[at] as string;
    if (CHOICES_WITH_VALUE.has(word)) at++;
    else if (!CHOICES.has(word) && !word.startsWith("--session=")) left.push(word);
  }
  return left;
}
