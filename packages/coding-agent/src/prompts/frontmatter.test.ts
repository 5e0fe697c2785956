import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { readMarkdown, readSimpleHeader, splitFrontMatter, textOf } from "./frontmatter.ts";
import { readYamlHeader } from "./yaml-header.ts";

const read = async (text: string) => {
  const { values, body, problem, hasFrontMatter } = await readMarkdown(text, "a.md");
  return { values: Object.fromEntries(values), body, problem, hasFrontMatter };
};

describe("front matter", () => {
  const understood: [what: string, text: string, values: object, body: string][] = [
    [
      "plain lines",
      "---\nname: review\ndescription: Look at it\n---\nbody\n",
      { name: "review", description: "Look at it" },
      "body\n",
    ],
    ["CR LF", "---\r\nname: a\r\n---\r\nbody\r\n", { name: "a" }, "body\r\n"],
    ["a byte order mark", "\ufeff---\nname: a\n---\nbody", { name: "a" }, "body"],
    ["spaces after the dashes", "---  \nname: a\n--- \nbody", { name: "a" }, "body"],
    ["an end at the end of the file", "---\nname: a\n---", { name: "a" }, ""],
    ["nothing between the dashes", "---\n---\nbody", {}, "body"],
    ["comments and blank lines", "---\n# why\n\nname: a\n---\n", { name: "a" }, ""],
    ["quotes", "---\na: \"x: y\"\nb: 'z #1'\n---\n", { a: "x: y", b: "z #1" }, ""],
    ["words and nothing", "---\na: true\nb: no\nc:\n---\n", { a: true, b: "no", c: null }, ""],
    ["a folded text", "---\nd: >-\n  one\n  two\n\n  three\n---\nx", { d: "one two\nthree" }, "x"],
    ["a kept text", "---\nd: |\n  one\n  two\n---\nx", { d: "one\ntwo\n" }, "x"],
    ["a text over two lines", "---\nd: one\n  two\n---\nx", { d: "one two" }, "x"],
    [
      "lists",
      "---\ntools: [read, bash]\nmore:\n  - x\n  - y\n---\n",
      { tools: ["read", "bash"], more: ["x", "y"] },
      "",
    ],
    [
      "nested values",
      "---\nmetadata:\n  author: me\n  version: '1'\n---\n",
      { metadata: { author: "me", version: "1" } },
      "",
    ],
    ["hints in brackets", "---\r\nh: [file] [more]\r\ni: [a] <b>\n---\n", { h: "[file] [more]", i: "[a] <b>" }, ""],
    ["numbers", "---\na: 12\nb: -1.5\n---\n", { a: 12, b: -1.5 }, ""],
    ["other scripts", "---\nd: größer — 日本語\n---\n", { d: "größer — 日本語" }, ""],
    ["a line separator inside of a value", "---\nd: 'a\u2028---\u2028b'\n---\nx", { d: "a\u2028---\u2028b" }, "x"],
  ];
  test.each(understood)("%s", async (_what, text, values, body) => {
    expect(await read(text)).toEqual({ values, body, problem: undefined, hasFrontMatter: true });
  });

  test.each([
    ["none", "# Title\n---\nrule\n---\n"],
    ["dashes that do not begin the file", "\n---\na: b\n---\n"],
    ["four dashes", "----\na: b\n----\n"],
    ["an empty file", ""],
  ])("%s is all body", async (_what, text) => {
    expect(await read(text)).toEqual({ values: {}, body: text, problem: undefined, hasFrontMatter: false });
  });

  const broken: [what: string, text: string, values: object, body: string, problem: RegExp][] = [
    ["a missing end", "---\na: b\nbody", {}, "---\na: b\nbody", /^a\.md:1: .*never closed/],
    [
      "a colon in a value",
      "---\nname: a\ndescription: Use it when: always\n---\nbody",
      { name: "a", description: "Use it when: always" },
      "body",
      /^a\.md:3: .*colon.*quotes/,
    ],
    ["a bracket that stays open", "---\nname: a\ntools: [read\n---\nbody", { name: "a" }, "body", /^a\.md:\d: /],
    ["a quote that stays open", '---\nname: a\nd: "x\n---\nbody', { name: "a", d: '"x' }, "body", /^a\.md:\d: /],
    ["a key twice", "---\na: x\na: z\n---\nbody", { a: "x" }, "body", /^a\.md:3: a key occurs twice/],
    ["a tab", "---\na:\n\tb: c\n---\nbody", {}, "body", /^a\.md:3: .*tab/],
    ["a list", "---\n- a\n---\nbody", {}, "body", /^a\.md:2: .*keys/],
    ["prose", "---\njust a text\n---\nbody", {}, "body", /^a\.md:2: .*keys/],
    ["an alias to nowhere", "---\na: *b\n---\nbody", {}, "body", /^a\.md:2: /],
    ["depth", `---\nb: x\na: ${"[".repeat(50_000)}\n---\nbody`, { b: "x" }, "body", /^a\.md:3: .*deep/],
    [
      "depth of another kind",
      `---\nb: x\na:\n  ${"- ".repeat(20_000)}\n---\nbody`,
      { b: "x" },
      "body",
      /^a\.md:4: .*deep/,
    ],
    ["length", `---\nb: x\na: [${"x,".repeat(50_000)}]\n---\nbody`, { b: "x" }, "body", /^a\.md:2: .*long/],
    [
      "aliases that blow up",
      `---\na: &a [${"x,".repeat(99)}]\nb: &b [${"*a,".repeat(99)}]\nc: &c [${"*b,".repeat(99)}]\nd: [${"*c,".repeat(99)}]\n---\nbody`,
      {},
      "body",
      /^a\.md:4: there are more than 100 aliases/,
    ],
  ];
  test.each(broken)(
    "broken by %s: said with its place, and the rest counts",
    async (_what, text, values, body, problem) => {
      const found = await read(text);
      expect(found).toMatchObject({ values, body });
      expect(found.problem).toMatch(problem);
      expect(found.problem).not.toContain("\n");
    },
  );

  test("says where a key stands", async () => {
    const simple = await readMarkdown("---\n\nname: a\n---\n", "a.md");
    const full = await readMarkdown("---\nlist: [a]\nname: a\n---\n", "a.md");
    expect([simple.lineOf("name"), full.lineOf("name"), full.lineOf("nothing")]).toEqual([3, 3, 1]);
  });

  test("keys of objects that every object has are keys like others", async () => {
    const { values } = await readMarkdown("---\n__proto__: x\nconstructor: y\n---\n", "a.md");
    expect([...values]).toEqual([
      ["__proto__", "x"],
      ["constructor", "y"],
    ]);
  });

  test("what is read without the YAML reader is what it would read", () => {
    const piece = fc.constantFrom(
      "a",
      "true",
      "null",
      "No",
      " ",
      "  ",
      ":",
      ": ",
      " #",
      "#",
      "-",
      "'",
      '"',
      "1",
      "é",
      "[",
      "x:y",
      "\t",
      "~",
      "\n",
      "k: ",
    );
    const line = fc
      .tuple(fc.constantFrom("name", "b-c", "null", "_x"), fc.array(piece, { maxLength: 6 }))
      .map(([key, rest]) => `${key}: ${rest.join("")}`);
    fc.assert(
      fc.property(fc.array(line, { maxLength: 3 }), (lines) => {
        const header = lines.map((text) => `${text}\n`).join("");
        const simple = readSimpleHeader(header);
        if (simple) expect({ header, found: simple }).toEqual({ header, found: readYamlHeader(header) });
      }),
      { numRuns: 1000 },
    );
  });

  test("no text makes it fail, and the body is always the end of the text", async () => {
    const text = fc.array(
      fc.oneof(fc.constantFrom("---\n", "---", "\r\n", "\n", "a: b\n", "a: [\n", "- ", "  ", "\ufeff"), fc.string()),
      { maxLength: 8 },
    );
    await fc.assert(
      fc.asyncProperty(text, async (pieces) => {
        const whole = pieces.join("");
        const { body } = await readMarkdown(whole, "a.md");
        expect(whole.endsWith(body)).toBe(true);
        expect(splitFrontMatter(whole).body).toBe(body);
      }),
    );
  });
});

test.each([
  ["a", "a"],
  ["  a ", "a"],
  [12, "12"],
  [true, "true"],
  ["", undefined],
  [null, undefined],
  [undefined, undefined],
  [["a"], null],
  [{}, null],
])("the text of %j is %j", (value, expected) => {
  expect(textOf(value)).toBe(expected);
});

test("a line of spaces that ends oddly holds nobody up", async () => {
  const { values } = await readMarkdown(`---\na:${" ".repeat(1_000_000)}\u2028b\nname: x\n---\nBody`, "f.md");
  expect(values.get("name")).toBe("x");
});
