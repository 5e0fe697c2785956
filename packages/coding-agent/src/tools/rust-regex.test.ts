import { expect, it } from "vitest";
import { readPattern } from "./rust-regex.ts";

it.each<[string, string, boolean]>([
  ["foo", "a foo b", true],
  ["\\d", "٣", true],
  ["\\w+\\(", "naïve(", true],
  ["\\bfoo\\b", "xfoo", false],
  ["\\bfoo\\b", "éfoo", false],
  ["\\bfoo\\b", "-foo-", true],
  ["\\Boo", "foo", true],
  ["\\Afoo\\z", "foo", true],
  ["[[:alpha:]]+", "123", false],
  ["[[:^alpha:]]", "a1", true],
  ["[a-z&&[^b]]", "b", false],
  ["[a-z&&[^b]]", "c", true],
  ["[\\w--\\d]", "5", false],
  ["[]x]", "]", true],
  ["[a-]", "-", true],
  ["[(|)]", "|", true],
  ["[\\]]", "]", true],
  ["[\\-x]", "-", true],
  ["\\x41\\x{42}\\u0043\\u{44}", "ABCD", true],
  ["\\pL\\p{Lu}\\P{Lu}", "aBc", true],
  ["\\p{^Lu}", "A", false],
  ['a\\_b\\"\\-\\ ', 'a_b"- ', true],
  ["(?P<year>\\d{4})", "2024", true],
  ["(?i)FOO", "foo", true],
  ["a.c", "a\u2028c", true],
  ["a(?i)b", "aB", true],
  ["a(?i)b", "AB", false],
  ["a(?i)b|c", "C", true],
  ["(a(?i)b)c", "aBC", false],
  ["(?i:[^k])x", "\u212ax", false],
  ["(?i)a(?-i)b", "Ab", true],
  ["(?i)a(?-i)b", "aB", false],
  ["(?x) a [ b # c\n ] d", "abd", true],
  ["(?-u:\\w)x", "éx", false],
  ["[a-c~~b-d]", "b", false],
  ["[a-c~~b-d]", "d", true],
  ["[a-z&&b-y--c]", "c", false],
  ["[--a]", "-", true],
  ["[a&&]", "a", false],
  ["fo**$", "f", true],
  ["^*a", "ba", true],
  ["\\<b", "a b", true],
  ["\\<b", "ab", false],
  ["\\b{end}", "-", false],
  ["\\p{sc=Grek}|\\p{script: Cyrillic}", "д", true],
  ["\\p{uppercase-letter}", "A", true],
  ["\\p{gc!=Lu}", "A", false],
  ["x.y", "x\ry", false],
  ["x\\sy", "x\ry", false],
  ["x[^a]y", "x\udc80y", false],
  ["x\\Wy", "x\udc80y", false],
  ["x{,2}", "x{,2}", true],
  ["foo(?=bar)", "foobar", true],
  ["(a)\\1", "aa", true],
])("%s in %j: %s", (pattern, line, found) => {
  expect(readPattern(pattern).regex.test(line)).toBe(found);
});

it("a class that is never closed is left for the compiler to refuse", () => {
  expect(() => readPattern("a[b")).toThrow(SyntaxError);
});

it.each<[string, boolean]>([
  ["foo\\w+", true],
  ["a(?i)b", true],
  ["\\Afoo", false],
  ["foo\\z", false],
  ["\\B", false],
  ["(?-m)^a", false],
  ["(?R)a$", false],
  ["(?-u)\\xff", false],
  ["a(?=b)", false],
  ["(a)\\1", false],
  ["a{", false],
  ["\\h", false],
])("%s is asked of ripgrep: %s", (pattern, isPortable) => {
  expect(readPattern(pattern).isPortable).toBe(isPortable);
});

it.each([
  ["braces", `${"{".repeat(300_000)}}`],
  ["braces that are never closed", "{".repeat(300_000)],
  ["spaces in a count", `a{0 ,${" ".repeat(300_000)}!}`],
])("a pattern of many %s is read at once", (_, pattern) => {
  expect(readPattern(pattern).isPortable).toBe(false);
});
