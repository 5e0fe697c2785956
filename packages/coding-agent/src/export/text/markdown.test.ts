import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { type Block, markdownBlocks } from "./markdown.ts";
import type { Inline } from "./markdown-inline.ts";
import { isDelimiterRow } from "./markdown-table.ts";

/** The tree as short text: `p(a strong(b))`. */
const inline = (nodes: readonly Inline[]): string =>
  nodes
    .map((node) => {
      if (node.type === "text") return node.text.replaceAll("\n", "⏎");
      if (node.type === "code") return `code(${node.text})`;
      if (node.type === "break") return "br()";
      if (node.type === "link") return `${node.isImage ? "image" : "link"}[${node.url}](${inline(node.children)})`;
      return `${node.type}(${inline(node.children)})`;
    })
    .join("");

const one = (block: Block): string => {
  switch (block.type) {
    case "heading":
      return `h${block.level}(${inline(block.children)})`;
    case "paragraph":
      return `p(${inline(block.children)})`;
    case "code":
      return `pre[${block.language}](${block.text.replaceAll("\n", "⏎")})`;
    case "quote":
      return `quote(${tree(block.children)})`;
    case "rule":
      return "rule";
    case "list": {
      const items = block.items.map(
        (item) => `${item.done === undefined ? "" : item.done ? "x " : "o "}${tree(item.children)}`,
      );
      return `${block.ordered ? `ol${block.start}` : "ul"}${block.tight ? "" : "~"}(${items.join("; ")})`;
    }
    case "table":
      return `table[${block.align.map((side) => side?.[0] ?? "-").join("")}](${[block.head, ...block.rows].map((row) => row.map(inline).join("|")).join(" / ")})`;
  }
};
const tree = (blocks: readonly Block[]): string => blocks.map(one).join(" ");
const shown = (text: string): string => tree(markdownBlocks(text));

describe("blocks", () => {
  test.each([
    ["", ""],
    ["a\nb\n\nc", "p(a⏎b) p(c)"],
    ["# One\n## Two ##\n#no\n### C#", "h1(One) h2(Two) p(#no) h3(C#)"],
    ["One\n===\nTwo\n---", "h1(One) h2(Two)"],
    ["***\n- - -\n___", "rule rule rule"],
    ["```ts\nlet a;\n\n```\nb", "pre[ts](let a;⏎) p(b)"],
    ["~~~~\n```\n~~~\n~~~~", "pre[](```⏎~~~)"],
    ["```\nnot closed", "pre[](not closed)"],
    ["text\n```js title=x\na\n```", "p(text) pre[js](a)"],
    ["    code\n\n      more\nno", "pre[](code⏎⏎  more) p(no)"],
    ["> a\n> > b\nlazy\n\nc", "quote(p(a) quote(p(b⏎lazy))) p(c)"],
    ["- a\n- b\n  - c\n- d", "ul(p(a); p(b) ul(p(c)); p(d))"],
    ["- a\n\n- b", "ul~(p(a); p(b))"],
    ["3. a\n4. b\n1) c", "ol3(p(a); p(b)) ol1(p(c))"],
    ["- a\n\n  b\n\n      code", "ul~(p(a) p(b) pre[](code))"],
    ["1. a\n   ```sh\n   x\n   ```\n2. b", "ol1(p(a) pre[sh](x); p(b))"],
    ["- [ ] open\n- [x] done\n- [y] no", "ul(o p(open); x p(done); p([y] no))"],
    ["* a\n+ b", "ul(p(a)) ul(p(b))"],
    ["-\n- b", "ul(; p(b))"],
    ["In 1984\n1984. was a year", "p(In 1984⏎1984. was a year)"],
    ["text\n- list", "p(text) ul(p(list))"],
    ["| a | b |\n|---|--:|\n| 1 | `x\\|y` |\n| 2 |\n\nend", "table[-r](a|b / 1|code(x|y) / 2|) p(end)"],
    ["a | b\n:-: | -\n1 | 2", "table[c-](a|b / 1|2)"],
    ["a | b\nc | d", "p(a | b⏎c | d)"],
    ["<script>alert(1)</script>\n\n<div onclick=x>", "p(<script>alert(1)</script>) p(<div onclick=x>)"],
    ["a\r\nb\rc", "p(a⏎b⏎c)"],
  ])("%j", (text, expected) => {
    expect(shown(text)).toBe(expected);
  });
});

describe("inlines", () => {
  test.each([
    ["*a* **b** ***c*** ~~d~~", "emphasis(a) strong(b) emphasis(strong(c)) strike(d)"],
    ["_a_ snake_case_name __b__ 2 * 3 * 4", "emphasis(a) snake_case_name strong(b) 2 * 3 * 4"],
    ["**bold with *inner* text**", "strong(bold with emphasis(inner) text)"],
    ["**not closed", "**not closed"],
    ["*a **b* c**", "emphasis(a emphasis(emphasis(b) c))"],
    ["`a*b*` ``x ` y`` `open", "code(a*b*) code(x ` y) `open"],
    ["\\*no\\* \\a", "*no* \\a"],
    ["[t](https://e.org/a_(b) 'x')", "link[https://e.org/a_(b)](t)"],
    ["[t](<a b>) [no] (x) [no](a b)", "link[a b](t) [no] (x) [no](a b)"],
    ["[**b** `c`](u)", "link[u](strong(b) code(c))"],
    ["![alt](x.png)", "image[x.png](alt)"],
    ["[![alt](i.png)](u)", "link[u](image[i.png](alt))"],
    ["[a [b](c) d](e)", "[a link[c](b) d](e)"],
    ["[x](javascript:alert(1))", "link[javascript:alert(1)](x)"],
    ["[x](&#106;avascript:a)", "link[javascript:a](x)"],
    [
      "<https://e.org> <b> https://e.org/x?y=1. (https://e.org/a)",
      "link[https://e.org](https://e.org) <b> link[https://e.org/x?y=1](https://e.org/x?y=1). (link[https://e.org/a](https://e.org/a))",
    ],
    ["a  \nb\\\nc", "abr()bbr()c"],
    ["&lt;b&gt; &amp;amp; &#x41; &nope; &#0;", "<b> &amp; A &nope; �"],
    ["hi! [ ] ]", "hi! [ ] ]"],
  ])("%j", (text, expected) => {
    expect(shown(text)).toBe(`p(${expected})`);
  });
});

describe("malformed text", () => {
  const depthOf = (value: unknown): number =>
    typeof value === "object" && value !== null ? 1 + Math.max(0, ...Object.values(value).map(depthOf)) : 0;

  // Each of these has sent a parser into a deep recursion, or into a square of its length.
  test.each([
    ["quotes", ">".repeat(20_000)],
    ["quotes with spaces", "> ".repeat(20_000)],
    ["lists in lists", Array.from({ length: 300 }, (_, i) => `${"  ".repeat(i)}- a`).join("\n")],
    ["brackets", "[".repeat(40_000)],
    ["pairs of brackets", "[](".repeat(15_000)],
    ["links in links", `${"[".repeat(5_000)}a${"](b)".repeat(5_000)}`],
    ["stars", "*".repeat(40_000)],
    ["stars between letters", "*a ".repeat(15_000) + "b*".repeat(1_000)],
    ["emphasis in emphasis", "*a _b ".repeat(3_000) + "b_ a*".repeat(3_000)],
    ["backticks", Array.from({ length: 250 }, (_, i) => "`".repeat(i)).join(" ")],
    ["spaces in a heading", `# ${" ".repeat(200_000)}x #`],
    ["spaces behind a fence", `\`\`\`${" ".repeat(200_000)}\``],
    ["one long line", "x".repeat(5_000_000)],
    ["bars", `${"|".repeat(50_000)}\n${"|-".repeat(50_000)}|`],
    ["ampersands", "&".repeat(40_000)],
    ["empty lines", "- a\n".concat("\n".repeat(100_000))],
  ])("%s", (_name, text) => {
    expect(depthOf(markdownBlocks(text))).toBeLessThan(100);
  });

  test("no text makes it throw", () => {
    const parts = fc.constantFrom(
      "*",
      "_",
      "~~",
      "`",
      "```",
      "[",
      "](",
      ")",
      "![",
      "<",
      ">",
      "- ",
      "1. ",
      "|",
      "-|-",
      "\n",
      "\n\n",
      "  ",
      "    ",
      "a",
      "&#9;",
      "\\",
      "#",
      "http://a",
      "=",
    );
    fc.assert(
      fc.property(fc.array(parts, { maxLength: 60 }), (texts) => {
        expect(depthOf(markdownBlocks(texts.join("")))).toBeLessThan(100);
      }),
      { numRuns: 500 },
    );
  });
});

test("a long line of spaces below a bar holds nobody up", () => {
  expect(isDelimiterRow(`:-:${" ".repeat(1_000_000)}x`)).toBe(false);
  for (const row of ["-", "|-|", " | :-: | --- ", "-|-|  ", ":-  "]) expect(isDelimiterRow(row)).toBe(true);
  for (const row of ["||", "|-||", "-x"]) expect(isDelimiterRow(row)).toBe(false);
});
