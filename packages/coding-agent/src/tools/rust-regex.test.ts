import { expect, it } from "vitest";
import { readRustPattern } from "./rust-regex.ts";

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
  ["foo(?=bar)", "foobar", true],
  ["(a)\\1", "aa", true],
])("%s in %j: %s", (pattern, line, found) => {
  const { source, ignoreCase } = readRustPattern(pattern);
  expect(new RegExp(source, ignoreCase ? "iv" : "v").test(line)).toBe(found);
});

it("a class that is never closed is left for the compiler to refuse", () => {
  expect(() => new RegExp(readRustPattern("a[b").source, "v")).toThrow(SyntaxError);
});
