import type { Lots } from "./lots.ts";

/** Small damage, to bytes and to values. */

const BYTES = Buffer.from('{}[]",:\\ \t\r0-19.eEtrufalsn\0\x7f\xff\xc3\xa4\xed\xa0\x80\xf0\x9f', "latin1");

type ByteChange = (bytes: Buffer, at: number, lots: Lots) => Buffer;

const BYTE_CHANGES: readonly ByteChange[] = [
  (bytes, at, lots) => {
    const copy = Buffer.from(bytes);
    copy[at] = (copy[at] ?? 0) ^ (1 << lots.below(8));
    return copy;
  },
  (bytes, at, lots) => Buffer.concat([bytes.subarray(0, at), bytes.subarray(at + 1 + lots.below(20))]),
  (bytes, at, lots) => {
    const end = at + 1 + lots.below(20);
    return Buffer.concat([bytes.subarray(0, end), bytes.subarray(at)]);
  },
  (bytes, at, lots) => Buffer.concat([bytes.subarray(0, at), Buffer.of(lots.one([...BYTES])), bytes.subarray(at)]),
  (bytes, at) => bytes.subarray(0, at),
];

export function mutatedBytes(bytes: Buffer, lots: Lots): Buffer {
  let result = bytes;
  for (let left = 1 + lots.below(3); left > 0 && result.length > 0; left--) {
    result = lots.one(BYTE_CHANGES)(result, lots.below(result.length), lots);
  }
  return result;
}

export function randomBytes(lots: Lots): Buffer {
  return Buffer.from(
    Array.from({ length: lots.below(80) }, () => (lots.oneIn(2) ? lots.below(256) : lots.one([...BYTES]))),
  );
}

/** Values that programs stumble over. */
export const ODD_VALUES: readonly unknown[] = [
  null,
  true,
  false,
  0,
  -1,
  1.5,
  1e308,
  2 ** 53,
  "",
  " ",
  "x",
  "0",
  "../x",
  "/nowhere/x",
  "\u0000",
  "\ud800",
  "\u2028",
  "ä".repeat(300),
  "__proto__",
  "constructor",
  [],
  [[]],
  [null],
  ["x", 7],
  {},
  { type: "text", text: "x" },
  { type: "image", data: "x", mimeType: "x" },
  { toString: "x", hasOwnProperty: 1 },
];

/** The same value with one place in it changed, taken away or added to. */
export function mutatedValue(value: unknown, lots: Lots): unknown {
  const isLeaf = typeof value !== "object" || value === null;
  const keys = isLeaf ? [] : Object.keys(value);
  if (isLeaf || lots.oneIn(8)) return lots.one(ODD_VALUES);
  const copy: Record<string, unknown> | unknown[] = Array.isArray(value) ? [...value] : { ...value };
  const key = keys.length > 0 && !lots.oneIn(6) ? lots.one(keys) : lots.one(["__proto__", "extra", "id", "type", "0"]);
  const record = copy as Record<string, unknown>;
  if (lots.oneIn(4)) Reflect.deleteProperty(copy, key);
  else put(record, key, mutatedValue(record[key], lots));
  return copy;
}

/** Also under names that mean something else when they are assigned to. */
const put = (record: Record<string, unknown>, key: string, value: unknown): void =>
  void Object.defineProperty(record, key, { value, enumerable: true, configurable: true, writable: true });
