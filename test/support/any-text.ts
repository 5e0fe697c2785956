import fc from "fast-check";

/** Halves of surrogate pairs are no characters. */
const HALVES = { from: 0xd800, count: 0x800 };

const characterAt = (place: number): string => String.fromCodePoint(place < HALVES.from ? place : place + HALVES.count);

function placeOf(character: unknown): number {
  const code = typeof character === "string" ? character.codePointAt(0) : undefined;
  if (code === undefined || character !== String.fromCodePoint(code)) throw new Error("not one character");
  return code < HALVES.from ? code : code - HALVES.count;
}

const character = fc.integer({ min: 0, max: 0x10ffff - HALVES.count }).map(characterAt, placeOf);

/** What `unit: "binary"` gives; that one makes a table of all 1.1 million characters first, which takes a second in each worker. */
export function anyText(options: { maxLength?: number } = {}): fc.Arbitrary<string> {
  return fc.string({ ...options, unit: character });
}
