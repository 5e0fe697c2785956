import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { highlight } from "./highlight.ts";
import { languageOf, languageOfPath } from "./languages.ts";

/** `keyword:const` and so on, plain pieces left out. */
const marked = (code: string, language: string): string[] =>
  [...highlight(code, language)].filter(({ kind }) => kind !== "plain").map(({ kind, text }) => `${kind}:${text}`);

describe("highlight", () => {
  test.each<[language: string, code: string, tokens: string[]]>([
    [
      "ts",
      'const a: Array<string> = f(1_000, "x\\"y") // end',
      ["keyword:const", "type:Array", "call:f", "number:1_000", 'string:"x\\"y"', "comment:// end"],
    ],
    ["js", "`a\n$(b)` /* c\n */ null", ["string:`a\n$(b)`", "comment:/* c\n */", "constant:null"]],
    ["py", 'def f():\n  """doc\n  """ # x', ["keyword:def", "call:f", 'string:"""doc\n  """', "comment:# x"]],
    ["sh", 'echo "$HOME" $x a#b # c', ["keyword:echo", 'string:"$HOME"', "variable:$x", "comment:# c"]],
    ["json", '{"a": [1, true, "b"]}', ['key:"a"', "number:1", "constant:true", 'string:"b"']],
    ["yaml", "a-b: 'c' # d", ["key:a-b", "string:'c'", "comment:# d"]],
    ["sql", "SELECT 'it' FROM t", ["keyword:SELECT", "string:'it'", "keyword:FROM"]],
    ["html", '<a href="x">y</a>', ["tag:<a", 'string:"x"', "tag:>", "tag:</a", "tag:>"]],
    ["rust", "fn main() { let s: String; }", ["keyword:fn", "call:main", "keyword:let", "type:String"]],
    ["brainfuck", "+ + +", []],
    ["__proto__", "x", []],
    ["constructor", "x", []],
    ["js", '"not closed\nnext', ['string:"not closed']],
    ["js", "/* not closed", ["comment:/* not closed"]],
    ["c", "don't 'x'", ["string:'x'"]],
  ])("%s: %j", (language, code, tokens) => {
    expect(marked(code, language)).toEqual(tokens);
  });

  test("the pieces are the code, whatever it is", () => {
    const names = fc.constantFrom("ts", "py", "sh", "json", "css", "html", "sql", "toml", "make", "php", "none");
    const parts = fc.array(
      fc.oneof(
        fc.constantFrom('"', "'", "`", "\\", "/*", "*/", "//", "#", "<", "$", "${", "\n", "0x"),
        fc.integer({ min: 0, max: 0xffff }).map((code) => String.fromCharCode(code)),
      ),
    );
    fc.assert(
      fc.property(names, parts, (name, texts) => {
        const code = texts.join("");
        expect([...highlight(code, name)].map(({ text }) => text).join("")).toBe(code);
      }),
    );
  });
});

test("the language of a file stands in its name", () => {
  expect(languageOfPath("/a/b.test.ts")).toBe("ts");
  expect(languageOfPath("Dockerfile")).toBe("dockerfile");
  expect(languageOf("TypeScript")).toBe(languageOf("js"));
  expect(languageOf("")).toBeUndefined();
});
