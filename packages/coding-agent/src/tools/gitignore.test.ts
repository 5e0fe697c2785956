import { describe, expect, it } from "vitest";
import { type IgnoreRules, parseIgnoreFile, type Verdict } from "./gitignore.ts";
import { createIgnoreWork } from "./ignore-work.ts";

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
  ["**", "a", "ignored"],
  ["**", "x/a", "ignored"],
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
  ["[--a]", "0", "ignored"],
  ["[a\\-c]", "b", undefined],
  ["[a/]b", "/b", undefined],
  ["a[!x]b", "a/b", undefined],
  ["*.{ts,js}", "a.js", "ignored"],
  ["{a,b{c,d*}}e", "bdxe", "ignored"],
  ["{a,b{c,d*}}e", "be", undefined],
  ["{,a}b", "b", "ignored"],
  ["a}", "a}", undefined],
  ["?", "😀", "ignored"],
  ["[😀]", "😀", "ignored"],
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
  expect(parseIgnoreFile(text, createIgnoreWork()).verdict(plain, plain.split("/").at(-1)!, isDirectory)).toBe(verdict);
});

it("a rule that would be too much for the engine is one like any other", () => {
  const rules = parseIgnoreFile(`${"**/".repeat(30_000)}a\nb`, createIgnoreWork());
  expect([rules.verdict("x/a", "a", false), rules.verdict("x/b", "b", false)]).toEqual([undefined, "ignored"]);
});

describe("what rules may take", () => {
  const letters = (count: number, from: number) =>
    Array.from({ length: count }, (_, index) => "abc"[(from * 31 + index * index) % 3]);
  /** One name after the other, as a search asks for them. */
  const ask = (rules: IgnoreRules, work: ReturnType<typeof createIgnoreWork>, names: readonly string[]) =>
    names.map((name) => {
      work.nextName();
      return rules.verdict(`a/b/${name}`, name, false);
    });
  const names = Array.from({ length: 5000 }, (_, index) => letters(200, index).join(""));

  it.each<[string, (index: number) => string]>([
    ["stars", (index) => `*${letters(20, index).join("*")}*x`],
    ["folders", (index) => `**/*${letters(20, index).join("*/**/*")}*x`],
    ["single characters behind a star", (index) => `*${letters(1, index)}${"?".repeat(20)}*${letters(1, index + 1)}*x`],
    ["choices", (index) => `*{${letters(9, index).join(",*")}}{${letters(9, index).join("*,")}}*x`],
  ])("thousands with %s hold nobody up, and it is said that they do not count", (_, rule) => {
    const work = createIgnoreWork();
    const rules = parseIgnoreFile(Array.from({ length: 5000 }, (_, index) => rule(index)).join("\n"), work);
    expect(ask(rules, work, names).at(-1)).toBeUndefined();
    expect(work.hasLeftOut).toBe(true);
  });

  it("as many as people write count for every name", () => {
    const work = createIgnoreWork();
    const text = Array.from({ length: 1000 }, (_, index) => `*.x${index}\nname${index}/\n/path/*/x${index}*`).join(
      "\n",
    );
    const rules = parseIgnoreFile(`${text}\n*ab`, work);
    expect(ask(rules, work, names)).toEqual(names.map((name) => (name.endsWith("ab") ? "ignored" : undefined)));
    expect(work.hasLeftOut).toBe(false);
  });

  it("a file that is too large has none, and thousands of files have no more than one", () => {
    const large = createIgnoreWork();
    expect(ask(parseIgnoreFile("a\n".repeat(200_000), large), large, ["a"])).toEqual([undefined]);
    expect(large.hasLeftOut).toBe(true);
    const work = createIgnoreWork();
    const text = Array.from({ length: 10_000 }, (_, index) => `*${letters(10, index).join("")}`).join("\n");
    for (let file = 0; file < 20_000; file++) parseIgnoreFile(text, work);
    expect(work.hasLeftOut).toBe(true);
  });
});
