import { expect, it } from "vitest";
import { parseIgnoreFile, type Verdict } from "./gitignore.ts";

it.each<[string, string, Verdict]>([
  ["*.log", "a.log", "ignored"],
  ["*.log", "deep/a.log", "ignored"],
  ["*.log", "a.logs", undefined],
  ["/a.log", "a.log", "ignored"],
  ["/a.log", "deep/a.log", undefined],
  ["src/a", "src/a", "ignored"],
  ["src/a", "x/src/a", undefined],
  ["build/", "build/", "ignored"],
  ["build/", "build", undefined],
  ["build/", "x/build/", "ignored"],
  ["a/**", "a/b/c", "ignored"],
  ["a/**", "a/", undefined],
  ["**/b", "b", "ignored"],
  ["**/b", "x/y/b", "ignored"],
  ["a/**/b", "a/b", "ignored"],
  ["a/**/b", "a/x/y/b", "ignored"],
  ["a*b", "axxb", "ignored"],
  ["a*b", "a/b", undefined],
  ["a?b", "axb", "ignored"],
  ["[ab].c", "b.c", "ignored"],
  ["[!ab].c", "b.c", undefined],
  ["[!ab].c", "x.c", "ignored"],
  ["[]a]", "]", "ignored"],
  ["[a", "[a", undefined],
  ["[z-a]", "z", undefined],
  ["*.{ts,js}", "a.js", "ignored"],
  ["{a", "{a", undefined],
  ["# a", "# a", undefined],
  ["\\# a", "# a", "ignored"],
  ["\\!a", "!a", "ignored"],
  ["a\\*", "a*", "ignored"],
  ["a\\*", "ab", undefined],
  ["a\\", "a", undefined],
  ["a   ", "a", "ignored"],
  ["a\\ ", "a ", "ignored"],
  ["", "a", undefined],
  ["*\n!a", "a", "wanted"],
  ["!a\n*", "a", "ignored"],
  ["a\r\nb\r\n", "b", "ignored"],
  ["\ufeffa", "a", "ignored"],
  ["a.b", "axb", undefined],
])("%j says of %s: %s", (text, path, verdict) => {
  const isDirectory = path.endsWith("/");
  const plain = isDirectory ? path.slice(0, -1) : path;
  expect(parseIgnoreFile(text).verdict(plain, plain.split("/").at(-1)!, isDirectory)).toBe(verdict);
});

it("a rule that is too much for the engine is none", () => {
  const rules = parseIgnoreFile(`${"**/".repeat(30_000)}a\nb`);
  expect([rules.verdict("x/a", "a", false), rules.verdict("x/b", "b", false)]).toEqual([undefined, "ignored"]);
});
