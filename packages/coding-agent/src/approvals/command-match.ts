import { possibleCommands, type ShellLine, type ShellWord } from "./shell-line.ts";
import { wildcardMatches } from "./wildcard.ts";

/** Whether a command line is what a rule is about. What allows is read narrowly, what forbids widely. Pure. */

/** `maybe`: the shell knows, we do not. */
export type Match = "yes" | "maybe" | "no";

/** The words of a pattern: each may have wildcards, a star at the end stands for any further words. */
export type CommandPattern = readonly string[];

export function commandPattern(text: string): CommandPattern | { problem: string } {
  if (/[;&|()`<>$'"\\\n]/.test(text)) {
    return { problem: "a command is a few plain words, without quotes, variables and what joins commands" };
  }
  const words = text.split(/\s+/).filter((word) => word !== "");
  return words.length > 0 ? words : { problem: "the command is empty" };
}

/** Every command of the line is one of these, and nothing before it can have changed what it means. */
export function isAllowedLine({ commands, unclear }: ShellLine, patterns: readonly CommandPattern[]): boolean {
  if (unclear !== undefined || commands.length === 0) return false;
  return commands.every(
    (words, place) =>
      patterns.some((pattern) => isExactly(words, pattern)) && (place === commands.length - 1 || !changesShell(words)),
  );
}

/** Word for word; more words only where the pattern ends in a star. */
function isExactly(words: readonly ShellWord[], pattern: CommandPattern): boolean {
  const isOpen = pattern.length > 1 && pattern.at(-1) === "*";
  const wanted = isOpen ? pattern.slice(0, -1) : pattern;
  if (words.length < wanted.length || (!isOpen && words.length > wanted.length)) return false;
  if (isAssignment(words[0]!)) return false;
  return wanted.every((one, place) => {
    const word = words[place]!;
    return !word.isDynamic && wildcardMatches(one, word.text);
  });
}

/** `PATH=/tmp/x git status` runs another git. */
function isAssignment({ text }: ShellWord): boolean {
  return /^[A-Za-z_]\w*(\[.*\])?\+?=/s.test(text);
}

/** After these, the same words may start another program or the same one elsewhere. */
const SHELL_CHANGERS = new Set(
  "cd pushd popd export declare typeset local readonly alias unalias source . set shopt eval exec trap hash enable unset read readarray mapfile printf getopts let builtin command function".split(
    " ",
  ),
);

function changesShell([first]: readonly ShellWord[]): boolean {
  return first !== undefined && (SHELL_CHANGERS.has(first.text) || isAssignment(first));
}

/** Programs and words of the shell that are followed by another command, or may be. */
const RUNNERS = new Set(
  "env sudo doas su runuser pkexec xargs parallel nohup nice ionice chrt taskset timeout time stdbuf setsid watch entr flock script strace ltrace unshare nsenter chroot systemd-run tmux screen at batch ssh find fd busybox exec command builtin eval trap source . sh bash dash ash zsh ksh fish if then else elif while until do for case in ! { coproc function select".split(
    " ",
  ),
);

/** The command is somewhere in the line: as a command of its own, behind a program that runs others, or where nobody can tell. */
export function matchRestricted(line: ShellLine, text: string, pattern: CommandPattern): Match {
  const guessed = line.unclear === undefined ? [] : possibleCommands(text);
  const run = line.commands
    .filter(isRunner)
    .flatMap((words) => possibleCommands(words.map((word) => word.text).join(" ")));
  let found: Match = "no";
  for (const words of [...line.commands, ...guessed, ...run]) {
    const match = matchCommand(words, pattern);
    if (match === "yes") return "yes";
    if (match === "maybe") found = "maybe";
  }
  return found;
}

function isRunner(words: readonly ShellWord[]): boolean {
  const [first] = withoutAssignments(words);
  return first !== undefined && RUNNERS.has(programName(first));
}

/** The program is the first word of the pattern, and the others follow in their order, with anything in between. */
function matchCommand(given: readonly ShellWord[], [first = "", ...others]: CommandPattern): Match {
  const words = withoutAssignments(given);
  const isProgram = (word: ShellWord): boolean =>
    wildcardMatches(first, word.text) || wildcardMatches(first, programName(word));
  const places = isRunner(words) ? words : words.slice(0, 1);
  // What does not follow its first place does not follow a later one either.
  const start = places.findIndex(isProgram);
  if (start < 0) return "no";
  const wanted = others.at(-1) === "*" ? others.slice(0, -1) : others;
  const rest = words.slice(start + 1);
  let found = 0;
  for (const { text } of rest) if (found < wanted.length && wildcardMatches(wanted[found]!, text)) found++;
  if (found === wanted.length) return "yes";
  return rest.some((word) => word.isDynamic) ? "maybe" : "no";
}

function withoutAssignments(words: readonly ShellWord[]): readonly ShellWord[] {
  const start = words.findIndex((word) => !isAssignment(word));
  return start < 0 ? [] : words.slice(start);
}

/** `/bin/rm` and `C:\bin\rm.exe` are `rm`. */
function programName({ text }: ShellWord): string {
  return text.replace(/^.*[/\\]/s, "").replace(/\.(exe|cmd|bat)$/i, "");
}

/** All words of a line that may name a file: as they are, and what stands behind an equals sign or a colon. */
export function wordsOf(line: ShellLine, text: string): string[] {
  const guessed = line.unclear === undefined ? [] : possibleCommands(text);
  const run = line.commands
    .filter(isRunner)
    .flatMap((words) => possibleCommands(words.map((word) => word.text).join(" ")));
  const words = [...line.commands, ...guessed, ...run].flatMap((command) => command.map((word) => word.text));
  return [...new Set(words.flatMap((word) => [word, ...tails(word)]))];
}

/** `--file=.env`, `if=/dev/sda`, `@secrets`, `-f.env`. */
function tails(word: string): string[] {
  const glued = /^-[A-Za-z](.+)$/s.exec(word)?.[1];
  return [...word.split(/[=:@,]+/), ...(glued === undefined ? [] : [glued])].filter((tail) => tail !== "");
}
