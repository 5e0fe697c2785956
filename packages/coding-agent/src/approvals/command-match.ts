import { wildcardMatches } from "../lib/wildcard.ts";
import { possibleCommands, readShellLine, type ShellLine, type ShellWord } from "./shell-line.ts";

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
  if (isAssignment(words[0]!) || evaluatesWords(words)) return false;
  return wanted.every((one, place) => {
    const word = words[place]!;
    return !word.isDynamic && wildcardMatches(one, word.text);
  });
}

/** `PATH=/tmp/x git status` runs another git. */
function isAssignment({ text }: ShellWord): boolean {
  return /^[A-Za-z_]\w*(\[.*\])?\+?=/s.test(text);
}

/** They look into what is quoted: `test -v 'a[$(rm x)]'` runs rm. */
const EVALUATORS = new Set("test [ [[ printf read unset declare typeset local readonly export let wait".split(" "));

function evaluatesWords([first, ...others]: readonly ShellWord[]): boolean {
  return EVALUATORS.has(first!.text) && others.some(({ text }) => /`|\$[({[]/.test(text));
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
  "env sudo doas su runuser pkexec gosu sg setpriv xargs parallel nohup nice ionice chrt taskset numactl prlimit choom setarch linux32 linux64 timeout time stdbuf unbuffer setsid watch entr flock script strace ltrace unshare nsenter chroot fakeroot bwrap firejail systemd-run dbus-run-session xvfb-run tmux screen at batch ssh ssh-agent find fd busybox toybox exec command builtin eval trap source . sh bash rbash dash ash zsh ksh mksh csh tcsh fish if then else elif while until do for case in ! { coproc function select".split(
    " ",
  ),
);

/** Words of the shell right behind which a command begins. */
const KEYWORDS = new Set("if then else elif while until do ! { coproc".split(" "));

/** Words of the shell behind which there is a list, a name or a test, and no command. */
const LISTS = new Set("for select case in function [ [[".split(" "));

/** Without anything to run they read commands from stdin. */
const STDIN_SHELLS = new Set("sh bash rbash dash ash zsh ksh mksh csh tcsh fish".split(" "));

/** They read a text that they are given as a command line, in which everything begins anew. */
const SHELLS = new Set([
  ...STDIN_SHELLS,
  ..."eval trap su runuser ssh watch script flock parallel tmux screen".split(" "),
]);

/** The command is somewhere in the line: as a command of its own, behind a program that runs others, or where nobody can tell. */
export function matchRestricted(line: ShellLine, text: string, pattern: CommandPattern): Match {
  const guessed = line.unclear === undefined ? [] : possibleCommands(text);
  const run = line.commands
    .filter(isRunner)
    .flatMap((words) => possibleCommands(words.map((word) => word.text).join(" ")));
  let found: Match = "no";
  for (const words of [...line.commands, ...guessed, ...run, ...commandsInside(line)]) {
    const match = matchCommand(words, pattern);
    if (match === "yes") return "yes";
    if (match === "maybe") found = "maybe";
  }
  return found === "no" && hidesProgram(line) ? "maybe" : found;
}

/**
 * Which program starts is known only to the shell, and the line looks clear all the same: behind a variable that is set, a
 * word of the shell or a program that runs others (`A=1 $x`, `then $x`, `sudo $x`), or in a text for a shell (`sh -c '$x'`).
 */
function hidesProgram({ commands }: ShellLine, depth = 0): boolean {
  return commands.some((given) => {
    const words = behindKeywords(given);
    const [first] = words;
    if (first === undefined || LISTS.has(first.text)) return false;
    if (isExpanded(first)) return true;
    if (!isRunner(words)) return false;
    if (readsCommands(words)) return true;
    return words.some(isExpanded) || (words.some(isShell) && words.some((word) => hidesInside(word, depth)));
  });
}

/** What stands in texts for a shell, in texts in those, and so on. */
function commandsInside({ commands }: ShellLine, depth = 0): ShellWord[][] {
  if (depth === DEEPEST) return [];
  const texts = commands.filter((words) => isRunner(words) && words.some(isShell)).flat();
  return texts.filter(isMoreThanAWord).flatMap(({ text }) => {
    const line = readShellLine(text);
    return [...line.commands, ...commandsInside(line, depth + 1)];
  });
}

function isMoreThanAWord({ text }: ShellWord): boolean {
  return /[\s$`*?[{<>;&|]/.test(text);
}

function hidesInside(word: ShellWord, depth: number): boolean {
  if (!isMoreThanAWord(word)) return false;
  const { text } = word;
  const line = readShellLine(text);
  return depth === DEEPEST || line.unclear !== undefined || hidesProgram(line, depth + 1);
}

/** Shells within shells; what is deeper is not looked at. */
const DEEPEST = 5;

function behindKeywords(given: readonly ShellWord[]): readonly ShellWord[] {
  let words = withoutAssignments(given);
  while (words[0] && KEYWORDS.has(words[0].text)) words = withoutAssignments(words.slice(1));
  return words;
}

/** Another word comes out of it: `{}` stays what it is, and a home folder is no program. */
function isExpanded({ text, isDynamic }: ShellWord): boolean {
  return isDynamic && (/[$*?[]/.test(text) || text.split("}").some(hasAlternatives));
}

/** `{a,b` or `{1..9`: as it stands before the closing brace. */
function hasAlternatives(text: string): boolean {
  const inside = text.includes("{") ? text.slice(text.indexOf("{") + 1) : "";
  return inside.includes(",") || inside.includes("..");
}

/** `... | sh`: what it runs comes from elsewhere. */
function readsCommands(words: readonly ShellWord[]): boolean {
  const at = words.findIndex((word) => STDIN_SHELLS.has(programName(word)));
  if (words[0]?.text === "command" && /^-[vV]$/.test(words[1]?.text ?? "")) return false;
  return at >= 0 && words.slice(at + 1).every(({ text }) => /^-(?!-(?:help|version)$)/.test(text));
}

function isShell(word: ShellWord): boolean {
  return SHELLS.has(programName(word));
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
  return [...new Set(words.flatMap((word) => [word, ...tails(word)]).flatMap((word) => [word, ...expanded(word)]))];
}

/** The home folder and the working folder by the names that everybody knows. */
function expanded(word: string): string[] {
  const found = /^(?:\$\{?(HOME|PWD)\b\}?|~\+)((?:\/.*)?)$/s.exec(word);
  return found ? [`${found[1] === "HOME" ? "~" : "."}${found[2]}`] : [];
}

/** `--file=.env`, `if=/dev/sda`, `@secrets`, `-f.env`. */
function tails(word: string): string[] {
  const glued = /^-[A-Za-z](.+)$/s.exec(word)?.[1];
  return [...word.split(/[=:@,]+/), ...(glued === undefined ? [] : [glued])].filter((tail) => tail !== "");
}
