/**
 * What most schemas of tools are made of, as the schema library makes it, hidden properties included: so that the library,
 * ten milliseconds of a start, is loaded for those who use more of it. A test compares the two.
 */

type Fields = Readonly<Record<string, unknown>>;

const hidden = (schema: object, name: string, value: unknown): object =>
  Object.defineProperty(schema, name, { value, writable: true, configurable: true, enumerable: false });
const schema = (kind: string, fields: Fields, options: Fields = {}): object =>
  hidden({ ...fields, ...options }, "~kind", kind);
const plain = (kind: string, fields: Fields) => (options?: Fields) => schema(kind, fields, options);

export const LIGHT_TYPES = {
  Any: plain("Any", {}),
  Unknown: plain("Unknown", {}),
  Null: plain("Null", { type: "null" }),
  Boolean: plain("Boolean", { type: "boolean" }),
  Integer: plain("Integer", { type: "integer" }),
  Number: plain("Number", { type: "number" }),
  String: plain("String", { type: "string" }),
  Literal: (value: unknown, options?: Fields) => schema("Literal", { type: typeof value, const: value }, options),
  Array: (items: object, options?: Fields) => schema("Array", { type: "array", items }, options),
  Union: (anyOf: readonly object[], options?: Fields) => schema("Union", { anyOf }, options),
  Object(properties: Readonly<Record<string, object>>, options?: Fields) {
    const names = Object.keys(properties).filter((name) => !("~optional" in (properties[name] ?? {})));
    return schema("Object", { type: "object", ...(names.length > 0 && { required: names }), properties }, options);
  },
  Optional: (type: object) =>
    hidden(Object.defineProperties({}, Object.getOwnPropertyDescriptors(type)), "~optional", true),
  Unsafe: (given: Fields) => hidden({ ...given }, "~unsafe", null),
};

const ALL = /\.Type\b/g;
const LIGHT = new RegExp(`\\.Type\\.(?:${Object.keys(LIGHT_TYPES).join("|")})\\(`, "g");

/**
 * A module that imports nothing but `Type`, and calls nothing of it but these. `code` is compiled: what is imported stands
 * there as a field. What only looks like another use counts as one.
 */
export function isLight(names: readonly string[] | undefined, code: string | undefined): boolean {
  if (names?.length !== 1 || names[0] !== "Type" || code === undefined) return false;
  return code.match(ALL)?.length === code.match(LIGHT)?.length;
}
