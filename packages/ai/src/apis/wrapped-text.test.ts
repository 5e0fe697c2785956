import fc from "fast-check";
import { expect, test } from "vitest";
import type { Delta } from "../provider.ts";
import { learnWrapping, noWrapping, pushWrapped } from "./wrapped-text.ts";

const event = (text: string) => JSON.stringify({ type: "delta", index: 0, delta: { text } });
const grow = (text: string, index = 3): Delta => ({ type: "grow", index, text });

function learned(first: string, delta: Delta = grow("Hel")) {
  const wrapping = noWrapping();
  learnWrapping(wrapping, first, delta);
  return wrapping;
}

function take(wrapping: ReturnType<typeof noWrapping>, data: string): Delta[] | false {
  const out: Delta[] = [];
  return pushWrapped(wrapping, data, out) && out;
}

test("nothing is taken before a wrapping is known", () => {
  expect(take(noWrapping(), event("x"))).toBe(false);
});

test("the next token of the block is cut out of its event", () => {
  expect(take(learned(event("Hel")), event("lo ✓ world"))).toEqual([grow("lo ✓ world")]);
});

test.each<[story: string, data: string]>([
  ["a quote in the text", event('say "hi"')],
  ["an escape in the text", event("a\\b")],
  ["a line break, which is an escape too", event("a\nb")],
  ["nothing in the text", event("")],
  ["another block", event("x").replace('"index":0', '"index":1')],
  ["another kind of event", '{"type":"ping"}'],
  ["more after the text", JSON.stringify({ type: "delta", index: 0, delta: { text: "x", stop: true } })],
  ["cut off", event("hello").slice(0, -1)],
  ["nothing but the beginning", event("hello").slice(0, 41)],
])("has to be parsed: %s", (_story, data) => {
  expect(take(learned(event("Hel")), data)).toBe(false);
});

test("blanks that pad an event do not matter", () => {
  const padded = (text: string, blanks: number) => event(text).replace(/\}$/, `${" ".repeat(blanks)}}`);
  const wrapping = learned(padded("Hel", 4));
  expect([0, 1, 9].map((blanks) => take(wrapping, padded("lo", blanks)))).toEqual([0, 1, 9].map(() => [grow("lo")]));
});

test("blanks inside another text do matter", () => {
  const named = (text: string, name: string) => JSON.stringify({ text, name });
  const wrapping = learned(named("Hel", "a b"));
  expect(take(wrapping, named("lo", "a b"))).toEqual([grow("lo")]);
  expect(take(wrapping, named("lo", "ab"))).toBe(false);
});

test("a text that could stand in two places teaches nothing", () => {
  expect(learned(event("delta"), grow("delta"))).toEqual(noWrapping());
  expect(learned(event("Hel"), { type: "close", index: 0 })).toEqual(noWrapping());
});

test("what is taken is what parsing gives, for any text and any event", () => {
  const texts = fc.oneof(fc.string({ unit: "grapheme" }), fc.constantFrom('"', "\\", "}", '"}}', "text", "delta", " "));
  fc.assert(
    fc.property(texts, texts, (first, next) => {
      const taken = take(learned(event(first), grow(first)), event(next));
      if (taken) expect(taken).toEqual([grow(next)]);
    }),
    { numRuns: 1000 },
  );
});
