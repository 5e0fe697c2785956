import fc from "fast-check";
import { describe, expect, it, test } from "vitest";
import { commandPattern, isAllowedLine, matchRestricted, wordsOf } from "./command-match.ts";
import { readShellLine } from "./shell-line.ts";

const patterns = (...texts: string[]) => texts.map((text) => commandPattern(text) as string[]);
const allows = (command: string, ...rules: string[]): boolean =>
  isAllowedLine(readShellLine(command), patterns(...rules));
const forbids = (command: string, rule: string): string =>
  matchRestricted(readShellLine(command), command, patterns(rule)[0]!);

describe("a rule that allows", () => {
  test.each<[command: string, rules: string[]]>([
    ["git status", ["git status"]],
    ["git  'status'", ["git status"]],
    ["git log -3 --oneline", ["git log *"]],
    ["git log", ["git log *"]],
    ["git log $X *.ts", ["git log *"]],
    ["npm run test:unit", ["npm run test:*"]],
    ["git status && npm test", ["git status", "npm test"]],
    ["npm test 2>&1 | head -20", ["npm test", "head *"]],
    ["cd src", ["cd *"]],
    ["npm test; cd src", ["npm test", "cd *"]],
    ["anything at all", ["* *"]],
    ["printf '%s $5' x", ["printf *"]],
  ])("covers %j with %j", (command, rules) => {
    expect(allows(command, ...rules)).toBe(true);
  });

  test.each<[story: string, command: string, rules: string[]]>([
    ["more words than it says", "git status --porcelain", ["git status"]],
    ["fewer words", "git", ["git status"]],
    ["another word", "git push", ["git status"]],
    ["a word that only begins so", "gitx status", ["git status"]],
    ["the program elsewhere", "/tmp/git status", ["git status"]],
    ["the program here", "./git status", ["git status"]],
    ["a second command", "git status; rm -rf ~", ["git status", "git status *"]],
    ["a second command behind &&", "git status&&rm x", ["git status *"]],
    ["a pipe", "git log | sh", ["git log *"]],
    ["the background", "git log & rm x", ["git log *"]],
    ["a line break", "git log\nrm x", ["git log *"]],
    ["a substitution", "git log $(rm x)", ["git log *"]],
    ["a substitution of what is allowed too", "git log $(git status)", ["git log *", "git status"]],
    ["a subshell", "(git log)", ["git log *"]],
    ["a redirection", "git log > ~/.bashrc", ["git log *"]],
    ["a variable before it", "PATH=/tmp/evil git status", ["git status"]],
    ["a variable before it, and everything is allowed", "LD_PRELOAD=x git status", ["* *"]],
    ["a variable on its own before it", "PATH=/tmp/evil; git status", ["git status", "PATH=*"]],
    ["another folder before it", "cd /tmp/evil && npm test", ["cd *", "npm test"]],
    ["another meaning before it", "alias git=evil; git status", ["alias *", "git status"]],
    ["another variable by a program", "printf -v PATH /tmp/evil; git status", ["printf *", "git status"]],
    ["a word from a variable", "git $x", ["git status"]],
    ["a word from a glob", "git stat*", ["git status"]],
    ["a word from braces", "git {push,status}", ["git push *", "git status *"]],
    ["a quoted operator that is none", "git 'status;' rm", ["git status"]],
    ["a word of the shell", "! git status", ["git status"]],
    ["what the shell looks for in quotes", "printf -v 'a[$(rm x)]' y", ["printf *"]],
    ["what a test works out", "test -v 'a[`rm x`]'", ["test *"]],
    ["nothing", "", ["*"]],
    ["only blanks", " \n ", ["*"]],
    ["no rule at all", "ls", []],
  ])("does not cover %s: %j", (_story, command, rules) => {
    expect(allows(command, ...rules)).toBe(false);
  });

  it("never covers an allowed command that is joined to one that is not, however they are joined", () => {
    const words = fc.constantFrom("status", "--porcelain", "'a b'", '"c d"', "$HOME", "*.ts", "\\;", "a=b", "2>&1");
    const allowed = fc.array(words, { maxLength: 4 }).map((more) => ["git", ...more].join(" "));
    const unlisted = fc
      .tuple(
        fc.constantFrom("rm", "'rm'", "r\\m", "curl", "x=1", "./git", "gi", "$x", "`git`"),
        fc.array(words, { maxLength: 3 }),
      )
      .map(([program, more]) => [program, ...more].join(" "));
    const join = fc.constantFrom(
      (a: string, b: string) => `${a}; ${b}`,
      (a: string, b: string) => `${a}&&${b}`,
      (a: string, b: string) => `${a} || ${b}`,
      (a: string, b: string) => `${a} | ${b}`,
      (a: string, b: string) => `${a}|&${b}`,
      (a: string, b: string) => `${a} & ${b}`,
      (a: string, b: string) => `${a}\n${b}`,
      (a: string, b: string) => `${b}\n${a}`,
      (a: string, b: string) => `${b} && ${a}`,
      (a: string, b: string) => `${a} $(${b})`,
      (a: string, b: string) => `${a} "$(${b})"`,
      (a: string, b: string) => `${a} \`${b}\``,
      (a: string, b: string) => `(${b}); ${a}`,
      (a: string, b: string) => `${a} <(${b})`,
      (a: string, b: string) => `${a} # '\n${b} #'`,
      (a: string, b: string) => `${a} <<X\n$(${b})\nX`,
      (a: string, b: string) => `${a} &>/dev/null ${b}`,
      (a: string, b: string) => `{ ${b}; }; ${a}`,
      (a: string, b: string) => `if ${b}; then ${a}; fi`,
    );
    const nest = fc.tuple(allowed, unlisted, join, fc.option(fc.tuple(allowed, join))).map(([a, b, how, outer]) => {
      const inner = how(a, b);
      return outer ? outer[1](outer[0], inner) : inner;
    });
    fc.assert(
      fc.property(nest, (command) => !allows(command, "git", "git *")),
      { numRuns: 2000 },
    );
  });
});

describe("a rule that asks or forbids", () => {
  test.each<[story: string, command: string, rule: string]>([
    ["the command", "rm x", "rm"],
    ["the command with a star", "rm", "rm *"],
    ["the last of several", "ls && cd x; rm y", "rm"],
    ["in a pipe", "ls | xargs rm", "rm"],
    ["with its path", "/bin/rm x", "rm"],
    ["with its quotes", "'r'm x", "rm"],
    ["with a backslash", "\\rm x", "rm"],
    ["behind a variable", "A=1 rm x", "rm"],
    ["behind a program that runs others", "sudo -u root env A=1 rm x", "rm"],
    ["in a command for a shell", "bash -c 'ls; rm x'", "rm"],
    ["behind a redirection in a command for a shell", "sh -c '2>&1 rm x'", "rm"],
    ["deep in commands for shells", `sh -c "sh -c '2>&1 rm x'"`, "rm"],
    ["in a command for eval", 'eval "r""m x"', "rm"],
    ["in a substitution", "echo $(rm x)", "rm"],
    ["in backticks", "echo `rm x`", "rm"],
    ["in a subshell", "(cd x; rm y)", "rm"],
    ["in a group", "{ rm x; }", "rm"],
    ["in a loop", "for f in a b; do rm $f; done", "rm"],
    ["behind find", "find . -name x -exec rm {} +", "rm"],
    ["behind a comment that hides it", "ls # '\nrm x\n#'", "rm"],
    ["in a here-document", "sh <<EOF\nrm x\nEOF", "rm"],
    ["with an option in between", "git -C /x push origin", "git push"],
    ["with a wildcard", "npm run deploy:prod", "npm run deploy:*"],
  ])("sees %s: %j", (_story, command, rule) => {
    expect(forbids(command, rule)).toBe("yes");
  });

  test.each<[command: string, rule: string, match: string]>([
    ["git $x", "git push", "maybe"],
    ["git {push,x}", "git push", "maybe"],
    ["sudo $x push", "git push", "maybe"],
    ["x=rm; A=1 $x y", "rm", "maybe"],
    ["env /bin/r? y", "rm", "maybe"],
    ["env {rm,y}", "rm", "maybe"],
    ["if true; then $x y; fi", "rm", "maybe"],
    ["! $x y", "rm", "maybe"],
    ["ls | xargs $x", "rm", "maybe"],
    ["sh -c 'x=rm; $x y'", "rm", "maybe"],
    ["sh -c 'r$@m y'", "rm", "maybe"],
    ["eval 'r$1m y'", "rm", "maybe"],
    ["bash -c '{rm,y}'", "rm", "maybe"],
    ["find . -exec sh -c 'r$@m y' ';'", "rm", "maybe"],
    [`bash -c "bash -c 'r\\$@m y'"`, "rm", "maybe"],
    ["setpriv rm y", "rm", "yes"],
    ["echo rm y | sh", "rm", "maybe"],
    ["cat x | sudo bash -s", "rm", "maybe"],
    ["bash --version", "rm", "no"],
    ["command -v bash", "rm", "no"],
    ["if [ -f x ]; then cat x; fi", "rm", "no"],
    ["bash x.sh", "rm", "no"],
    ["bash -c 'echo $HOME'", "rm", "no"],
    ["bash -lc 'cd x && npm test'", "rm", "no"],
    ["for f in *.ts; do wc $f; done", "rm", "no"],
    ["A=$B make", "rm", "no"],
    ["find . -name '*.ts' -exec cat {} +", "rm", "no"],
    ["ls | xargs -I{} cat {}", "rm", "no"],
    ["sudo cat ~/x", "rm", "no"],
    ["echo rm", "rm", "no"],
    ["grep -r 'rm -rf' .", "rm", "no"],
    ["git pull", "git push", "no"],
    ["rmdir x", "rm", "no"],
  ])("%j and %j: %s", (command, rule, match) => {
    expect(forbids(command, rule)).toBe(match);
  });
});

it("a line of many words takes no time", () => {
  expect(forbids(`sudo ${"git ".repeat(20_000)}`, "git push")).toBe("no");
});

test.each(["a && b", "a; b", "a | b", "$x", "`a`", "(a)", "a > b", "'a b'", 'a "b"', "a\\ b", "a\nb", " ", ""])(
  "%j is no command of a rule",
  (text) => {
    expect(commandPattern(text)).toHaveProperty("problem");
  },
);

it("names every word that may be a file", () => {
  const command = "curl -T.env --data=@key.pem 'a b' \"$(cat x/y)\"";
  const words = wordsOf(readShellLine(command), command);
  expect(words).toEqual(expect.arrayContaining([".env", "key.pem", "a b", "x/y"]));
});
