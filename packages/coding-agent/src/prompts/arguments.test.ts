// biome-ignore-all lint/suspicious/noTemplateCurlyInString: these placeholders are those of prompt templates
import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { countPlaceholders, fillIn, splitArguments } from "./arguments.ts";
import { ODD_PIECES } from "./test-fixture.ts";

const anyText = fc.array(fc.constantFrom(...ODD_PIECES), { maxLength: 12 }).map((pieces) => pieces.join(""));

const values = (text: string) => splitArguments(text).map(({ value }) => value);

test.each([
  ["", []],
  ["   ", []],
  ["a b  c", ["a", "b", "c"]],
  ["a\tb\nc", ["a", "b", "c"]],
  ['"a b" c', ["a b", "c"]],
  ["'a b' c", ["a b", "c"]],
  [`"it's" 'say "x"'`, ["it's", 'say "x"']],
  ['name="a b"', ["name=a b"]],
  ['"" b', ["", "b"]],
  ['a"b c"d', ["ab cd"]],
  ["a\\ b", ["a\\", "b"]],
  ['"never closed', ['"never', "closed"]],
  ["don't stop, it's fine", ["don't", "stop,", "it's", "fine"]],
])("%j splits into %j", (text, expected) => {
  expect(values(text)).toEqual(expected);
});

const fill = (template: string, given: string) => fillIn(template, splitArguments(given));

describe("placeholders", () => {
  test.each([
    ["$1 and $2", "a b", "a and b"],
    ["$1 and $2", "a", "a and "],
    ["$10$1", "1 2 3 4 5 6 7 8 9 ten", "ten1"],
    ["$0", "a", ""],
    ["[$@]", "a b c", "[a b c]"],
    ["[$ARGUMENTS]", "a b c", "[a b c]"],
    ["[$@]", "", "[]"],
    ["$@", "line one\n  line two", "line one\n  line two"],
    ["$@", '"a b" c', "a b c"],
    ["[${@:2}]", "a b c", "[b c]"],
    ["[${@:0}]", "a b c", "[a b c]"],
    ["[${@:2:1}]", "a b c", "[b]"],
    ["[${@:2:0}]", "a b c", "[]"],
    ["[${@:9}]", "a b c", "[]"],
    ["[$@[2]]", "a b c", "[b c]"],
    ["[$@[2:1]]", "a b c", "[b]"],
    ["[$@[2:]]", "a b c", "[b c]"],
    ["[$@[0:2]]", "a b c", "[a b]"],
    ["[${1:-x}]", "a", "[a]"],
    ["[${1:-x y}]", "", "[x y]"],
    ["[${2:-}]", "a", "[]"],
    ["[${1:-x}]", '""', "[x]"],
    ["[${@:-all}]", "", "[all]"],
    ["[${@:-all}]", "a b", "[a b]"],
    ["[${1}] [${@}]", "a b", "[a] [a b]"],
    ["[${ARGUMENTS}]", "a b", "[a b]"],
    ["$99999999999999999999", "a", ""],
  ])("%j with %j is %j", (template, given, expected) => {
    expect(fill(template, given)).toBe(expected);
  });

  test.each(["$", "$ 1", "$name", "${name}", "${1", "$@[x]", "{{1}}", "100$", "$$"].map((text) => [text]))(
    "%j is none, so it stays or keeps what is around it",
    (text) => {
      expect(fill(text, "a b")).toBe(text.replace("$@", "a b"));
    },
  );

  test("what looks like a placeholder in an argument is text", () => {
    expect(fill("$1|$2|$@", "$2 $@ $ARGUMENTS ${1:-x} $& $$")).toBe("$2|$@|$2 $@ $ARGUMENTS ${1:-x} $& $$");
  });

  test("any arguments, quoted, arrive unchanged at their places", () => {
    const quote = (text: string) =>
      text
        .split('"')
        .map((piece) => `"${piece}"`)
        .join(`'"'`);
    fc.assert(
      fc.property(fc.array(anyText, { minLength: 1, maxLength: 5 }), (list) => {
        const template = list.map((_, index) => `$${index + 1}`).join("\0");
        expect(fill(template, list.map(quote).join(" "))).toBe(list.join("\0"));
        expect(fill("$@", list.map(quote).join(" "))).toBe(list.join(" "));
      }),
    );
  });

  test("what is never closed is text, however often it is begun", () => {
    const begun = "${1:-x".repeat(100_000);
    expect([countPlaceholders(begun), countPlaceholders(`${begun}}$1 ${begun} $2`)]).toEqual([0, 3]);
    expect(fill("${1:-a} ${2:-b} $1 ${2:-", "c")).toBe("c b c ${2:-");
  });

  test("any text without quotes arrives unchanged as a whole", () => {
    const text = anyText.map((raw) => raw.replace(/["']/g, "").trim());
    fc.assert(
      fc.property(text, (given) => {
        expect(fill("<$@|$ARGUMENTS|${@:1}|$@[1]>", given)).toBe(`<${given}|${given}|${given}|${given}>`);
      }),
    );
  });
});
