import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { type Intent, isAddition, parseIntent } from "./intent.ts";

const SUMMARY: Intent = { kind: "summary" };
const HELP: Intent = { kind: "help" };
const read = (path: string): Intent => ({ kind: "read", path });
const list = (path: string): Intent => ({ kind: "list", path });
const find = (pattern: string, path = "."): Intent => ({ kind: "find", pattern, path });
const search = (text: string, path = "."): Intent => ({ kind: "search", text, path });
const run = (command: string): Intent => ({ kind: "run", command });
const write = (path: string, content: string): Intent => ({ kind: "write", path, content });
const replace = (before: string, after: string, path: string): Intent => ({ kind: "replace", before, after, path });

const TABLE: readonly [words: string, intent: Intent][] = [
  ["Summarize this repo", SUMMARY],
  ["summarise the repository, please.", SUMMARY],
  ["Please summarize this project in three sentences", SUMMARY],
  ["Can you give me an overview of this codebase?", SUMMARY],
  ["Explain this project", SUMMARY],
  ["What is this?", SUMMARY],
  ["What does this project do?", SUMMARY],
  ["what's in this folder", SUMMARY],
  ["summary", SUMMARY],
  ["Summarize the repo and its risks", SUMMARY],

  ["read README.md", read("README.md")],
  ["Read the file src/a.ts.", read("src/a.ts")],
  ["show me `docs/with space.md`", read("docs/with space.md")],
  ["please open package.json", read("package.json")],
  ["read the README", read("README.md")],
  ["Also read notes.txt", read("notes.txt")],

  ["list", list(".")],
  ["ls src", list("src")],
  ["List all files in the current directory", list(".")],
  ["list files in packages/ai.", list("packages/ai")],
  ["list ..", list("..")],
  ['list "my folder"', list("my folder")],

  ["find *.ts", find("*.ts")],
  ["find notes", find("*notes*")],
  ["find all *.test.ts files in src", find("*.test.ts", "src")],
  ["find src/**/*.md", find("src/**/*.md")],

  ["search TODO", search("TODO")],
  ["search for hello world in src", search("hello world", "src")],
  ['grep "sign in page"', search("sign in page")],
  ["search 'a in b' in docs/", search("a in b", "docs/")],

  ["run npm test", run("npm test")],
  ["run: echo a && echo b", run("echo a && echo b")],
  ["Run `ls -la`", run("ls -la")],
  ["$ git status", run("git status")],
  ["run cat <<X\nhello\nX", run("cat <<X\nhello\nX")],

  ["write a.txt: hello", write("a.txt", "hello")],
  ["write src/new.ts:\nexport {};\n", write("src/new.ts", "export {};")],
  ["write hello world to notes.md", write("notes.md", "hello world")],
  ['write "to be or not to be" to file b.txt', write("b.txt", "to be or not to be")],
  ["write note: buy milk to todo.txt", write("todo.txt", "note: buy milk")],
  ['create "Makefile": all:', write("Makefile", "all:")],

  ["replace foo with bar in a.ts", replace("foo", "bar", "a.ts")],
  ['replace "x with y" with "" in src/b.ts', replace("x with y", "", "src/b.ts")],
  ["Replace `a in b` with `c in d` in f.txt.", replace("a in b", "c in d", "f.txt")],

  ["Hello!", HELP],
  ["Hello, world!", HELP],
  ["", HELP],
  ["What's in this image?", HELP],
  ["Look at this instead", HELP],
  ["Stop and do this instead", HELP],
  ["Write a poem to cheer me up", HELP],
  ["Find the meaning of life", HELP],
  ["list the reasons why ships float", HELP],
  ["Read my mind for once", HELP],
  ["The text of a long page:\nsummarize this repo\nand more", HELP],
];

describe("what a person wants", () => {
  test.each(TABLE)("%j", (words, intent) => {
    expect(parseIntent(words)).toEqual(intent);
  });

  test("any words at all mean something, if only help", () => {
    const verb = fc.constantFrom("", "read ", "find ", "search ", "write ", "replace a with ", "run ", "summarize ");
    fc.assert(
      fc.property(verb, fc.string({ unit: "grapheme" }), (start, rest) => {
        expect(parseIntent(start + rest).kind).toBeTypeOf("string");
      }),
    );
  });

  test("long and hostile texts are read in no time", () => {
    const fillers = [" ", ".", "a with ", " to x", "please ", '"', "the ", "\n"];
    const verbs = ["", "replace ", "search ", "write ", "list ", "find ", "read ", "summarize this ", "hello "];
    for (const verb of verbs) {
      for (const filler of fillers) {
        for (const length of [9_000, 1_000_000]) {
          const text = `${verb}${filler.repeat(length / filler.length)}\n:x`;
          expect(parseIntent(text).kind).toBeTypeOf("string");
        }
      }
    }
  });

  test("what stands in quotes is taken letter by letter", () => {
    const plain = fc
      .string({ minLength: 1 })
      .filter((text) => !/["\n]/.test(text) && text.trim() === text && text !== "");
    fc.assert(
      fc.property(plain, plain, (before, after) => {
        expect(parseIntent(`replace "${before}" with "${after}" in a.txt`)).toEqual(replace(before, after, "a.txt"));
      }),
    );
  });
});

describe("additions to the task before", () => {
  test.each([
    ["Also include risks", true],
    ["and the risks please", true],
    ["Also read a.txt", false],
    ["Hello!", false],
    ["Stop and do this instead", false],
  ])("%j: %j", (words, expected) => {
    expect(isAddition(words)).toBe(expected);
  });
});
