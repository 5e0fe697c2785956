import fc from "fast-check";
import { expect, test } from "vitest";
import { parsePartialObject } from "./partial-json.ts";

test.each<[text: string, object: unknown]>([
  ["", {}],
  ["[1]", {}],
  ["{", {}],
  ['{"pa', {}],
  ['{"path"', {}],
  ['{"path":', {}],
  ['{"path":"src/ma', { path: "src/ma" }],
  ['{"path":"a\\', { path: "a" }],
  ['{"path":"a\\\\', { path: "a\\" }],
  ['{"path":"a\\u00', { path: "a" }],
  ['{"path":"a\\\\u00', { path: "a\\u00" }],
  ['{"path":"a\\u00e9', { path: "aé" }],
  ['{"a":1,"b":tr', { a: 1 }],
  ['{"a":[1,{"b":"c', { a: [1, { b: "c" }] }],
  ['{"a":{"b":1},', { a: { b: 1 } }],
  ['{ "a" : null , "b" : -1.5e3 } rest', { a: null, b: -1500 }],
  ['{"a":1 "b":2}', { a: 1 }],
])("%s", (text, object) => {
  expect(parsePartialObject(text)).toEqual(object);
});

test("whole objects are read as JSON.parse reads them", () => {
  const object = fc.dictionary(
    fc.string().filter((key) => key !== "__proto__"),
    fc.jsonValue({ maxDepth: 4 }),
  );
  fc.assert(
    fc.property(object, fc.constantFrom(0, 2), (value, indent) => {
      const text = JSON.stringify(value, null, indent);
      expect(parsePartialObject(text)).toEqual(JSON.parse(text));
    }),
  );
});

test("no beginning of an object is ever refused", () => {
  fc.assert(
    fc.property(fc.object(), fc.nat(), (value, cut) => {
      const text = JSON.stringify(value);
      const object = parsePartialObject(text.slice(0, cut % (text.length + 1)));
      for (const key of Object.keys(object)) expect(value).toHaveProperty([key]);
    }),
  );
});

test("deep nesting does not overflow the stack", () => {
  expect(parsePartialObject(`{"a":${"[".repeat(100_000)}`)).toHaveProperty("a");
});
