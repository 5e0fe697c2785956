import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { tries } from "../../../../test/support/part-of.ts";
import { createAutomaton } from "./automaton.ts";
import { readCondition } from "./condition.ts";

const PROPERTY = {
  numRuns: Number(process.env.TILLER_PROPERTY_RUNS ?? tries(300)),
  seed: Number(process.env.TILLER_SEED ?? 7),
};

/** The place behind which each condition matches first; undefined when it never does. */
function firstMatches(conditions: string[], text: string, mostKept?: number): (number | undefined)[] {
  const automaton = createAutomaton(conditions.map(readCondition), mostKept);
  const found: (number | undefined)[] = conditions.map(() => undefined);
  const note = (hits: readonly number[], at: number) => {
    for (const hit of hits) found[hit] ??= at;
  };
  let state = automaton.start();
  note(state.hits, 0);
  let at = 0;
  for (const char of text) {
    at += char.length;
    state = automaton.step(state, char.codePointAt(0)!);
    note(state.hits, at);
  }
  note(automaton.end(state), at);
  return found;
}

const literal = fc.constantFrom(
  "a",
  "b",
  " ",
  "\\n",
  ".",
  "\\w",
  "\\s",
  "[ab]",
  "[^a]",
  "\\d",
  "é",
  "😀",
  "\\.",
  "\\b",
  "\\B",
);
const edge = fc.constantFrom("^", "$");
const count = fc.constantFrom("*", "+", "?", "{2}", "{1,3}", "{2,}", "+?");
const { pattern: anyPattern } = fc.letrec<{ pattern: string; part: string }>((tie) => ({
  pattern: fc.array(tie("part"), { minLength: 1, maxLength: 4 }).map((parts) => parts.join("")),
  part: fc.oneof(
    { maxDepth: 3, withCrossShrink: true },
    literal,
    literal,
    edge,
    fc.tuple(fc.constantFrom("a", "b", ".", "[ab]", "\\s"), count).map((both) => both.join("")),
    fc.tuple(tie("pattern"), fc.constantFrom("", "*", "+", "{2}")).map(([inner, times]) => `(?:${inner})${times}`),
    fc.tuple(tie("pattern"), tie("pattern")).map(([one, other]) => `(${one}|${other})`),
  ),
}));
const anyText = fc
  .array(fc.constantFrom("a", "b", "ab", " ", "\n", "\r", "1", ".", "é", "😀", "_"), { maxLength: 12 })
  .map((parts) => parts.join(""));

describe("matches what the engine of JavaScript matches", () => {
  it("whatever the pattern and the text", () => {
    const flags = fc.constantFrom("", "i", "m", "s", "ims");
    fc.assert(
      fc.property(anyPattern, flags, anyText, (pattern, letters, text) => {
        const condition = `${letters === "" ? "" : `(?${letters})`}${pattern}`;
        const [found] = firstMatches([condition], text);
        expect([text, found !== undefined]).toEqual([text, new RegExp(pattern, `u${letters}`).test(text)]);
      }),
      PROPERTY,
    );
  });

  it("also several at once, and with hardly any memory", () => {
    fc.assert(
      fc.property(fc.array(anyPattern, { minLength: 2, maxLength: 5 }), anyText, (patterns, text) => {
        const alone = patterns.map((pattern) => firstMatches([pattern], text)[0]);
        expect(firstMatches(patterns, text)).toEqual(alone);
        expect(firstMatches(patterns, text, 1)).toEqual(alone);
      }),
      PROPERTY,
    );
  });
});

it.each<[condition: string, text: string, at: number | undefined]>([
  ["foo", "a foo b", 5],
  ["foo$", "foo foo", 7],
  ["^foo", "a\nfoo", undefined],
  ["(?m)^foo$", "a\nfoo\nb", 6],
  // What comes behind a word is known with the next character, or at the end.
  [": any\\b", "x: any;", 7],
  [": any\\b", "x: any", 6],
  [": any\\b", "x: anything", undefined],
  ["(?i)TODO", "a todo", 6],
  ["(?s)a.b", "a\nb", 3],
  ["a.b", "a\nb", undefined],
  ["catch \\{\\s*\\}", "catch {\n  }", 11],
  ["", "", 0],
  ["[^]", "x", 1],
  ["[]", "x", undefined],
  ["\\u{1F600}", "😀", 2],
  ["^.$", "😀", 2],
  ["a{2,3}b", "aaaab", 5],
  // The older grammar: escapes and braces that mean themselves.
  ["\\_\\-{,}", "_-{,}", 5],
])("%s in %j", (condition, text, at) => expect(firstMatches([condition], text)).toEqual([at]));

describe("no pattern takes for ever", () => {
  it.each<[condition: string, text: string, found: boolean]>([
    ["(a+)+$", "a".repeat(50_000), true],
    ["(a+)+$", `${"a".repeat(50_000)}!`, false],
    ["(a|aa)*c", "a".repeat(50_000), false],
    ["(.*a){20}", "a".repeat(19), false],
    ["(x+x+)+y", "x".repeat(50_000), false],
    ["^(([a-z])+.)+[A-Z]([a-z])+$", "a".repeat(50_000), false],
  ])("%s", (condition, text, found) => expect(firstMatches([condition], text)[0] !== undefined).toBe(found));

  it("not even one whose states never repeat, in a text that never repeats", () => {
    let seed = 1;
    const next = () => {
      seed = (seed * 48_271) % 2_147_483_647;
      return seed % 2 === 0 ? "a" : "b";
    };
    const text = Array.from({ length: 2000 }, next).join("");
    expect(firstMatches(["a[ab]{400}c"], text)).toEqual([undefined]);
  });
});

it("forgets states when there are too many of them", () => {
  const automaton = createAutomaton([readCondition("a[ab]{8}c")], 2000);
  const seen = new Set<object>();
  let state = automaton.start();
  for (let round = 0; round < 200; round++) {
    for (const char of (round * 2_654_435_761).toString(2).replaceAll("0", "b").replaceAll("1", "a")) {
      state = automaton.step(state, char.charCodeAt(0));
      seen.add(state);
    }
  }
  // There are at most 512 sets of ways: whoever is met more often was forgotten in between.
  expect(seen.size).toBeGreaterThan(512);
});
