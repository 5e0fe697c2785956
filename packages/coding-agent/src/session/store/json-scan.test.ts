import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { tries } from "../../../../../test/support/part-of.ts";
import { jsonEnd } from "./json-scan.ts";

const bytesOf = (text: string): Buffer => Buffer.from(text);
const endOf = (text: string): number => {
  const bytes = bytesOf(text);
  return jsonEnd(bytes, 0, bytes.length);
};
/** The whole text is one value, and nothing but white space before it. */
const isWhole = (bytes: Buffer): boolean => jsonEnd(bytes, 0, bytes.length) === bytes.length;

function parses(bytes: Buffer): boolean {
  try {
    JSON.parse(bytes.toString("utf8"));
    return true;
  } catch {
    return false;
  }
}

describe("the end of a JSON value", () => {
  const values: string[] = [
    ...["0", "-0", "7", "10", "-12", "0.5", "-0.0", "1e5", "1E5", "1e+5", "1e-05", "0e0", "123.456e-7", "1e999"],
    ...["true", "false", "null", '""', '"a"', '"\u007f"', '"ä€😀"', "{}", "[]", "[[]]", "[{}]", "[1]", "[1,2]"],
    ...['"\\""', '"\\\\"', '"\\/"', '"\\b\\f\\n\\r\\t"', '"\\u00e9"', '"\\uD83D\\uDE00"', '"\\ud800"', '"\\u2028"'],
    ...['{"a":1}', '{"":{}}', '{"a":1,"a":2}', '{"a":[1,{"b":[]}],"c":null}', '{"\\u0061":1}'],
    ...["[ 1 , 2 ]", '{ "a" : 1 }', "[\t\n\r 1]", "{ }", "[ ]", '{"a":\n{"b":\r[ ]}}'],
  ];
  for (const value of values) {
    it(`is found: ${JSON.stringify(value)}`, () => {
      const padded = bytesOf(`xx \t\r\n${value},yy`);
      const end = 6 + Buffer.byteLength(value);
      expect(jsonEnd(padded, 2, padded.length)).toBe(end);
      expect(jsonEnd(padded, 2, end)).toBe(end);
    });
  }

  const broken: string[] = [
    ...["", " ", "-", "+1", ".5", "1.", "1.e5", "1e", "1e+", "-a", "--1", "00", "01", "-01", "0x1", "1_0", "Infinity"],
    ...["tru", "trux", "nul", "nulL", "fals", "True", "undefined", "NaN", "'a'", "a", "}", "]", ",", ":"],
    ...['"', '"a', '"\\', '"\\"', '"\\x"', '"\\u12"', '"\\u123g"', '"\\u"', '"a\nb"', '"a\tb"', '"\u0000"'],
    ...["[", "[1", "[1,", "[1,]", "[,]", "[,1]", "[1 2]", "[1}", "[}", "[1,,2]", "[\u00a01]", "[\u000b1]"],
    ...["{", '{"a"', '{"a":', '{"a":1', '{"a":1,', '{"a":1,}', '{"a" 1}', "{1:2}", "{a:1}", '{"a":1]', "{]", "{,}"],
    ...['{"a":,"b":1}', '{"a":1 "b":2}', '{"a":1,2}', '[{"a":]}', "/**/1", "[1]]", "{}}", "1 2"],
  ];
  for (const text of broken) {
    it(`is not found: ${JSON.stringify(text)}`, () => {
      expect(parses(bytesOf(text)), "JSON.parse takes it").toBe(false);
      expect(isWhole(bytesOf(text))).toBe(false);
    });
  }

  it("is not found where a control character stands in a string", () => {
    for (let code = 0; code < 0x20; code++) expect(endOf(`"a${String.fromCharCode(code)}b"`), String(code)).toBe(-1);
    for (let code = 0x20; code < 0x100; code++) {
      const text = `"${String.fromCharCode(code)}"`;
      if (code !== 0x22 && code !== 0x5c) expect(endOf(text), String(code)).toBe(Buffer.byteLength(text));
    }
  });

  it("is looked for between start and end only", () => {
    const bytes = bytesOf('[1,"abc",true]');
    for (let end = 0; end < bytes.length; end++) expect(jsonEnd(bytes, 0, end)).toBe(-1);
    expect(jsonEnd(bytes, 3, 8)).toBe(8);
    expect(jsonEnd(bytes, 3, 7)).toBe(-1);
    expect(jsonEnd(bytes, 9, 12)).toBe(-1);
    expect(jsonEnd(bytes, 9, 13)).toBe(13);
  });

  it("is not found where U+2028 or U+2029 stands as it is, in a value or in a key", () => {
    for (const char of ["\u2028", "\u2029"]) {
      expect(endOf(`"${char}"`)).toBe(-1);
      expect(endOf(`["a",{"b${char}":1}]`)).toBe(-1);
    }
    for (const char of ["\u2027", "\u202a", "\u20a8", "\u3028", "\ue028"]) expect(endOf(`"${char}"`)).toBe(5);
  });

  it("is not found where a text stands for an image outside of the file", () => {
    expect(endOf('{"data":"blob:sha256:0123"}')).toBe(-1);
    expect(isWhole(bytesOf('{"data":"a blob:sha256:0123"}'))).toBe(true);
    expect(isWhole(bytesOf('{"data":"blob:sha1:0123"}'))).toBe(true);
  });

  it("is found down to 512 levels, and after a deeper one was refused", () => {
    const nested = (depth: number): string => `${'[{"a":'.repeat(depth / 2)}1${"}]".repeat(depth / 2)}`;
    expect(isWhole(bytesOf(nested(512)))).toBe(true);
    expect(endOf(nested(514))).toBe(-1);
    expect(endOf(`${"[".repeat(513)}${"]".repeat(513)}`)).toBe(-1);
    expect(endOf("[".repeat(1_000_000))).toBe(-1);
    expect(isWhole(bytesOf('{"a":[1,{"b":2}]}'))).toBe(true);
  });
});

/** Any JSON, also with white space in it. */
const anyJson = fc
  .tuple(fc.jsonValue({ maxDepth: 5 }), fc.constantFrom(undefined, 1, "\t", " \r "))
  .map(([value, space]) => JSON.stringify(value, null, space));

/** Bytes that mean something are more likely to do harm. */
const anyByte = fc.oneof(
  fc.constantFrom(...'{}[]",:\\ -+.eE0129truefalsn/ub\n\r\t\u0000'.split("").map((char) => char.charCodeAt(0))),
  fc.integer({ min: 0, max: 255 }),
);

const mutated = fc
  .tuple(
    anyJson,
    fc.array(fc.tuple(fc.constantFrom("flip", "insert", "delete", "cut"), fc.nat(), anyByte), {
      minLength: 1,
      maxLength: 3,
    }),
  )
  .map(([json, changes]) => {
    let bytes = bytesOf(json);
    for (const [what, where, byte] of changes) {
      const at = where % (bytes.length + 1);
      const after = what === "insert" ? at : at + 1;
      const middle = what === "insert" || what === "flip" ? [byte] : [];
      const rest = what === "cut" ? Buffer.alloc(0) : bytes.subarray(after);
      bytes = Buffer.concat([bytes.subarray(0, at), Buffer.from(middle), rest]);
    }
    return bytes;
  });

/** It belongs to no value, so it is not looked at; JSON.parse takes it. */
function withoutSpaceBehind(bytes: Buffer): Buffer {
  let end = bytes.length;
  while (end > 0 && [0x20, 0x09, 0x0a, 0x0d].includes(bytes[end - 1]!)) end -= 1;
  return bytes.subarray(0, end);
}

const hasLineSeparator = (bytes: Buffer): boolean => /[\u2028\u2029]/.test(bytes.toString("utf8"));

const RUNS = tries(5000);

describe("what jsonEnd says about any bytes", () => {
  it("is what JSON.parse says: of every value", () => {
    fc.assert(
      fc.property(anyJson, (json) => {
        const bytes = bytesOf(json);
        if (!hasLineSeparator(bytes)) expect(jsonEnd(bytes, 0, bytes.length)).toBe(bytes.length);
      }),
      { numRuns: 1000 },
    );
  });

  it("is what JSON.parse says: of values in which bytes were changed, added, taken away or cut off", () => {
    let whole = 0;
    fc.assert(
      fc.property(mutated, (bytes) => {
        if (hasLineSeparator(bytes)) return;
        const trimmed = withoutSpaceBehind(bytes);
        const isJson = parses(trimmed);
        if (isJson) whole += 1;
        expect(isWhole(trimmed)).toBe(isJson);
      }),
      { numRuns: RUNS },
    );
    // Both answers must have been seen often.
    expect(whole).toBeGreaterThan(RUNS / 10);
    expect(whole).toBeLessThan((RUNS * 9) / 10);
  });

  it("is the same for a line among others, and for a message that its line ends behind", () => {
    const behind = fc.constantFrom("\n", "}\n", "}");
    fc.assert(
      fc.property(mutated, mutated, behind, (bytes, others, between) => {
        const text = Buffer.concat([others, bytes, Buffer.from(between), others]);
        const end = others.length + bytes.length;
        expect(jsonEnd(text, others.length, end) === end).toBe(isWhole(bytes));
      }),
      { numRuns: RUNS },
    );
  });
});
