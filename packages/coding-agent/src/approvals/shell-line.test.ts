import { describe, expect, it, test } from "vitest";
import { possibleCommands, readShellLine } from "./shell-line.ts";

const $ = "$";

/** The commands, with `‹…›` around a word that only the shell knows, and `unclear` behind it. */
function read(text: string): string {
  const { commands, unclear } = readShellLine(text);
  const shown = commands.map((words) => words.map((word) => (word.isDynamic ? `‹${word.text}›` : word.text)).join("|"));
  return shown.join(" ; ") + (unclear === undefined ? "" : " unclear");
}

test.each<[text: string, read: string]>([
  ["git status", "git|status"],
  ["  git\tstatus  ", "git|status"],
  ["a && b || c; d & e | f |& g\nh", "a ; b ; c ; d ; e ; f ; g ; h"],
  ["echo 'a; b' \"c && d\" e\\;f", "echo|a; b|c && d|e;f"],
  ["ec'h'\"o\" x", "echo|x"],
  ["git \\\nstatus", "git|status"],
  ["git sta\\\ntus", "git|status"],
  ["echo '' \"\"", "echo||"],
  ['echo "a\\"b\\$c\\d"', 'echo|a"b$c\\d'],
  [`echo $HOME ${$}{HOME} "$x" $1 $?`, `echo|‹$HOME›|‹${$}{HOME}›|‹$x›|‹$1›|‹$?›`],
  ["ls *.ts a?b [ab] {a,b} ~ ~/x --f=~/x a~b", "ls|‹*.ts›|‹a?b›|‹[ab]›|‹{a,b}›|‹~›|‹~/x›|‹--f=~/x›|a~b"],
  ["ls '*' \"~\"", "ls|*|~"],
  ["make 2>&1 >/dev/null </dev/null | head", "make ; head"],
  ["make 2> /dev/null", "make"],
  ["echo a#b", "echo|a#b"],
  ["", ""],
  [";;", ""],
])("%j is read", (text, expected) => {
  expect(read(text)).toBe(expected);
});

/** Nothing of these may ever be allowed by a rule about the first word. */
const UNCLEAR: [story: string, text: string][] = [
  ["command substitution", "echo $(evil)"],
  ["in double quotes", 'echo "$(evil)"'],
  ["backticks", "echo `evil`"],
  ["backticks in double quotes", 'echo "`evil`"'],
  ["a subshell", "(evil)"],
  ["a function", "ls() { evil; }; ls"],
  ["arithmetic that runs things", "echo $((a[$(evil)]))"],
  ["a default with a command in it", `echo ${$}{x:-$(evil)}`],
  ["an indirect variable", `echo ${$}{!x}`],
  ["a prompt expansion", `echo ${$}{x@P}`],
  ["ANSI-C quotes", "ls $'\\n'evil"],
  ["a translated string", 'ls $"x"'],
  ["the old arithmetic", "echo $[1+1]"],
  ["a substitution on two lines", "ls $\\\n(evil)"],
  ["a quoted substitution on two lines", 'ls "$\\\n(evil)"'],
  ["a quoted substitution on three lines", 'ls "$\\\n\\\n{x:=`evil`}"'],
  ["process substitution", "cat <(evil)"],
  ["output to a file", "echo x > ~/.bashrc"],
  ["appended output", "echo x >> f"],
  ["a file that begins like /dev/null", "echo x > /dev/null2"],
  ["a file behind /dev/null", "echo x >/dev/null/../../etc/x"],
  ["clobbered output", "echo x >| f"],
  ["output of both streams", "ok &>/dev/null evil"],
  ["output to a stream that is a file", "echo x >&f"],
  ["input from a file", "mail me < ~/.ssh/id_rsa"],
  ["a here-document", "sh <<EOF\nevil\nEOF"],
  ["a here-string", "sh <<< evil"],
  ["read and write", "ls <> f"],
  ["a comment that hides a quote", "ls # it's\nevil\n#'"],
  ["a comment in the first place", "#!/bin/sh\nevil"],
  ["an open single quote", "ls 'a"],
  ["an open double quote", 'ls "a'],
  ["an open backslash", "ls \\"],
  ["a carriage return", "ls\revil"],
  ["an escape sequence", "ls \u001b[2K"],
  ["an escape sequence in quotes", "ls '\u001b[2K'"],
  ["a NUL", "ls \0evil"],
  ["a program from a variable", "$x --flag"],
  ["a program from a glob", "/bin/r?"],
  ["a program from braces", "{evil,-x}"],
  ["a program from the home folder", "~/bin/x"],
  ["a group", "{ evil; }"],
  ["a program after an operator", "ls && $x"],
  ["too much", `ls ${"a".repeat(100_001)}`],
];

describe("is unclear", () => {
  it.each(UNCLEAR)("%s", (_story, text) => {
    expect(readShellLine(text).unclear).toBeTypeOf("string");
  });
});

it("finds what might be a command where nothing is clear", () => {
  const found = possibleCommands("echo $(r''m -rf x) `cu\\rl y` \"a && b\"");
  expect(found.map((words) => words.map(({ text }) => text).join(" "))).toEqual([
    "echo",
    "rm -rf x",
    "curl y",
    "a",
    "b",
  ]);
});
