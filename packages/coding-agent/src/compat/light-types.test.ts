import { Type } from "typebox";
import { Value } from "typebox/value";
import { describe, expect, test } from "vitest";
import { isLight, LIGHT_TYPES } from "./light-types.ts";

/** All that can be seen of a schema, also what is hidden. */
const seen = (value: unknown): unknown => {
  if (Array.isArray(value)) return value.map(seen);
  if (typeof value !== "object" || value === null) return value;
  return Object.entries(Object.getOwnPropertyDescriptors(value)).map(([name, about]) => [
    name,
    { ...about, value: seen(about.value) },
  ]);
};
type Library = typeof Type;
const d = { description: "d", examples: [1] };
const schemas: [name: string, make: (t: Library) => object][] = [
  ["any", (t) => t.Any()],
  ["any, described", (t) => t.Any(d)],
  ["unknown", (t) => t.Unknown(d)],
  ["null", (t) => t.Null()],
  ["boolean", (t) => t.Boolean({ default: true })],
  ["integer", (t) => t.Integer({ minimum: 0 })],
  ["number", (t) => t.Number()],
  ["string", (t) => t.String({ ...d, minLength: 2 })],
  ["literals", (t) => t.Union([t.Literal("a"), t.Literal(1), t.Literal(true)], d)],
  ["array", (t) => t.Array(t.String(), { minItems: 1 })],
  ["empty object", (t) => t.Object({})],
  ["object", (t) => t.Object({ a: t.String(), b: t.Optional(t.Array(t.Number(d))) }, { additionalProperties: false })],
  ["object of what is optional", (t) => t.Object({ a: t.Optional(t.Object({ b: t.Null() })) })],
  ["unsafe", (t) => t.Unsafe({ type: "string", enum: ["a", "b"] })],
];

describe("a schema of the common types", () => {
  test.each(schemas)("is what the library makes: %s", (_name, make) => {
    const ours = make(LIGHT_TYPES as unknown as Library);
    expect(seen(ours)).toEqual(seen(make(Type)));
    expect(JSON.stringify(ours)).toBe(JSON.stringify(make(Type)));
  });

  test("is one for the library, too, and may hold schemas of it", () => {
    const ours = LIGHT_TYPES.Object({ a: Type.Optional(Type.String()), b: LIGHT_TYPES.Integer() });
    expect(Value.Check(ours as never, { b: 1 })).toBe(true);
    expect(Value.Check(ours as never, { a: 1, b: 1 })).toBe(false);
    expect(JSON.stringify(Type.Partial(ours as never))).toBe(
      '{"type":"object","properties":{"a":{"type":"string"},"b":{"type":"integer"}}}',
    );
  });

  test("what it is made of stays as it was", () => {
    const text = LIGHT_TYPES.String();
    LIGHT_TYPES.Optional(text);
    expect(Object.getOwnPropertyNames(text)).toEqual(["type", "~kind"]);
  });
});

describe("who needs no more than these", () => {
  test.each<[names: string[] | undefined, code: string | undefined, light: boolean]>([
    [["Type"], "x.Type.Object({ a: x.Type.Optional(x.Type.String()) })", true],
    [["Type"], "x.Type.Object(x.Type.Partial(y))", false],
    [["Type"], "const { Object } = x.Type;", false],
    [["Type"], "x.Type.Objects()", false],
    [["Type"], 'x.Type["Object"]()', false],
    [["Type"], 'x.Type.String(); "say .Type"', false],
    [["Type"], "nothing of it", true],
    [["Type", "Static"], "x.Type.String()", false],
    [["*"], "x.Type.String()", false],
    [undefined, "x.Type.String()", false],
    [["Type"], undefined, false],
  ])("%j in %j: %j", (names, code, light) => expect(isLight(names, code)).toBe(light));
});
