import fc from "fast-check";
import { expect, test } from "vitest";
import type { Delta } from "../../provider.ts";
import { learnRepeated, nothingRepeated, pushRepeated } from "./repeated.ts";
import { textDelta } from "./test-events.ts";

const grow = (text: string): Delta => ({ type: "grow", index: 3, text });
const event = (delta: string, sequence_number = 7, obfuscation = "xY1") =>
  JSON.stringify({ ...textDelta(0, delta), sequence_number, obfuscation });

function learned(data: string, piece: string) {
  const repeated = nothingRepeated();
  learnRepeated(repeated, data, piece, grow(piece));
  return repeated;
}

function pushed(data: string, repeated = learned(event("Hel"), "Hel")): Delta[] {
  const out: Delta[] = [];
  return pushRepeated(repeated, data, out) ? out : [];
}

test("the next pieces are cut out", () => {
  expect(pushed(event("lo", 12345, ""))).toEqual([grow("lo")]);
  expect(pushed(event("ü 🙂 {}()[]$^.*", 8))).toEqual([grow("ü 🙂 {}()[]$^.*")]);
  const spaced = event("Hel").replaceAll('":', '": ');
  expect(pushed(spaced.replace("Hel", "lo"), learned(spaced, "Hel"))).toEqual([grow("lo")]);
});

test.each([
  ["a quote", event('a"b')],
  ["an escape", event("a\nb")],
  ["nothing in it", event("")],
  ["another type", event("lo").replace("output_text", "refusal")],
  ["another place", event("lo").replace('"output_index":0', '"output_index":1')],
  ["something after it", `${event("lo")} `],
  ["something more", event("lo").replace("}", ',"delta":"other"}')],
  ["a text for a number", event("lo").replace(":7", ':"7"')],
])("an event with %s has to be parsed", (_what, data) => {
  expect(pushed(data)).toEqual([]);
});

test("what was not passed on as it came is not learned", () => {
  const repeated = nothingRepeated();
  learnRepeated(repeated, event("Hel"), "Hel", grow("\n\nHel"));
  learnRepeated(repeated, event("Hel"), "Hel", { type: "close", index: 3 });
  learnRepeated(repeated, event("Hel"), undefined, undefined);
  learnRepeated(repeated, '{"delta":"a\\"b","more":{"delta":"Hel"}}', 'a"b', grow('a"b'));
  expect(repeated.pattern).toBeUndefined();
});

test("a server whose form is not learned is given up", () => {
  const repeated = nothingRepeated();
  const odd = '{"type":"x","delta":"a","more":{"delta":"b"}}';
  for (let i = 0; i < 9; i++) learnRepeated(repeated, odd, "a", grow("a"));
  learnRepeated(repeated, event("Hel"), "Hel", grow("Hel"));
  expect(repeated.pattern).toBeUndefined();
});

test("property: what is cut out is what a parser reads", () => {
  const unit = fc.constantFrom("a", " ", '"', "\\", "\n", "\u0001", "ü", "🙂", "\ud83d", "}", ":", '"delta":"x"');
  const repeated = learned(event("Hel"), "Hel");
  fc.assert(
    fc.property(fc.string({ unit }), fc.nat(), fc.string({ unit }), (text, number, padding) => {
      const data = event(text, number, padding);
      const isPlain = text !== "" && JSON.stringify(text + padding) === `"${text}${padding}"`;
      expect(pushed(data, repeated)).toEqual(isPlain ? [grow(text)] : []);
    }),
  );
});
