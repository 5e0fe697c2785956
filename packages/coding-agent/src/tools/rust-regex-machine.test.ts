import fc from "fast-check";
import { expect, it } from "vitest";
import { anyPattern, ODD_LINES } from "../../../../test/support/grep-arbitraries.ts";
import { tries } from "../../../../test/support/part-of.ts";
import { decodeUtf8 } from "./grep-text.ts";
import { readPattern } from "./rust-regex.ts";
import { createMachine } from "./rust-regex-machine.ts";

const lines = ODD_LINES.map((line) => decodeUtf8(line));
const machineOf = (pattern: string) => createMachine(readPattern(pattern).root!);

it("matches what the engine of JavaScript matches, whatever the pattern", () => {
  fc.assert(
    fc.property(anyPattern, fc.boolean(), (pattern, ignoreCase) => {
      const read = attempt(() => readPattern(pattern, { ignoreCase }));
      // In half of a character the engine sees places between characters.
      if (!read?.root || pattern.includes("\\B")) return;
      const matches = createMachine(read.root);
      // Braces and digits may come together as counts, and several of them are too much.
      if (!matches) return;
      for (const line of lines) expect([line, matches(line)]).toEqual([line, read.regex.test(line)]);
    }),
    { numRuns: Number(process.env.TILLER_PROPERTY_RUNS ?? tries(150)), seed: Number(process.env.TILLER_SEED ?? 7) },
  );
}, 600_000);

it.each([
  ["^(a+)+$", "a".repeat(5000), true],
  ["^(a+)+$", `${"a".repeat(5000)}b`, false],
  ["(a|aa)*c", "a".repeat(5000), false],
  ["(x?){40}x{40}$", "x".repeat(39), false],
  ["\\Bb\\B", "a😀b", false],
])("ends, however many ways there are: %s", (pattern, line, found) => expect(machineOf(pattern)!(line)).toBe(found));

it.each(["(a)\\1", "a(?=b)", "((a{1000}){1000}){1000}"])("cannot do %s", (pattern) =>
  expect(machineOf(pattern)).toBeUndefined(),
);

function attempt<T>(work: () => T): T | undefined {
  try {
    return work();
  } catch (error) {
    expect(error).toBeInstanceOf(SyntaxError);
    return undefined;
  }
}
