import { expect, it } from "vitest";
import { readGlob } from "./glob.ts";

it.each<[glob: string, path: string, fits: boolean]>([
  ["*.rs", "a.rs", true],
  ["*.rs", "src/deep/a.rs", true],
  ["*.rs", "a.rsx", false],
  ["*.{ts,tsx}", "src/a.tsx", true],
  ["*.{ts,tsx}", "src/a.js", false],
  ["src/*.ts", "src/a.ts", true],
  ["src/*.ts", "src/b/a.ts", false],
  ["src/**/*.ts", "src/b/c/a.ts", true],
  ["src/**/*.ts", "src/a.ts", true],
  ["**/*.md", "README.md", true],
  ["docs/**", "docs/a/b.md", true],
  ["./a?.ts", "ab.ts", true],
  ["/a[!b].ts", "ac.ts", true],
  ["a[!b].ts", "ab.ts", false],
  ["a[b].ts", "ab.ts", true],
  ["a(b)+.ts", "a(b)+.ts", true],
  ["a\\*b", "a*b", true],
  ["a\\*b", "axb", false],
  ["{a", "a", true],
  ["a,b}", "a,b}", true],
  // Paths come from models.
  ["*a*a*a*a*a*a*a*a*b", "a".repeat(4096), false],
])("%s and %.20s", (glob, path, fits) => expect(readGlob(glob)(path)).toBe(fits));

it("refuses what cannot be read", () => expect(() => readGlob("[z-a]")).toThrow(SyntaxError));

it("a glob that opens a million brackets is refused at once", () => {
  expect(() => readGlob("[".repeat(1_000_000))).toThrow("it has 1000000 characters, at most 2000 are allowed");
});
