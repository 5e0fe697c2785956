import { expect, test } from "vitest";
import { patternToRegExp } from "./path-patterns.ts";

test.each([
  ["*.ts", "a.ts", true],
  ["*.ts", "in/a.ts", false],
  ["src/**/*.ts", "src/deep/down/a.ts", true],
  ["src/**/*.ts", "src/a.ts", true],
  ["src/**", "src/deep/a.js", true],
  ["a?.ts", "ab.ts", true],
  ["a?.ts", "a/.ts", false],
  ["a+(b).ts*", "a+(b).tsx", true],
  ["a.ts*", "abts", false],
  ["constructor*.ts", "constructor-one.ts", true],
  ["toString?valueOf", "toString-valueOf", true],
])("the pattern %s and %s: %s", (pattern, path, fits) => {
  expect(patternToRegExp(pattern).test(path)).toBe(fits);
});
