/** A looser reading of a text for finding, with the way back to the original: models retype quotes, dashes and blanks. */
export interface FuzzyText {
  text: string;
  /** The position in the original from which on a stretch stands that begins here. */
  originOf(position: number): number;
  /** The position in the original up to which a stretch goes that ends here; the blanks of a line's end may belong to it. */
  endOf(position: number, withBlanks: boolean): number;
  /** False for a position inside of what was one character: nothing can begin or end there. */
  isBorder(position: number): boolean;
}

// biome-ignore lint/suspicious/noControlCharactersInRegex: the first half of the bytes is meant
const ASCII = /^[\u0000-\u007f]*$/;
/** A character with the marks that combine with it. */
const CHARACTERS = /\P{M}\p{M}*|\p{M}+/gu;

const LOOKALIKES: readonly [RegExp, string][] = [
  [/[\u2018-\u201b]/g, "'"],
  [/[\u201c-\u201f]/g, '"'],
  [/[\u2010-\u2015\u2212]/g, "-"],
  [/[\u00a0\u2000-\u200a\u202f\u205f\u3000]/g, " "],
];

/** Quotes, dashes and spaces become plain ones, compatible characters (NFKC) the same, and blanks at line ends go. */
export function toFuzzyText(original: string): FuzzyText {
  const lines = original.split("\n");
  const loose = loosen(original)
    .split("\n")
    .map((line) => line.trimEnd());
  /** Where each line begins, there and here. */
  const there = new Float64Array(lines.length + 1);
  const here = new Float64Array(lines.length + 1);
  for (let i = 0; i < lines.length; i++) {
    there[i + 1] = there[i]! + lines[i]!.length + 1;
    here[i + 1] = here[i]! + loose[i]!.length + 1;
  }
  /** Looked up only where something was found, so lines need not keep a map of their characters. */
  const lineOf = (position: number) => {
    const line = Math.min(lastAtMost(here, position), lines.length - 1);
    return { line, column: position - here[line]! };
  };
  const originOf = (position: number) => {
    const { line, column } = lineOf(position);
    if (column === 0) return there[line]!;
    if (column >= loose[line]!.length) return there[line]! + lines[line]!.length;
    return there[line]! + originInLine(lines[line]!.trimEnd(), column).origin;
  };
  return {
    text: loose.join("\n"),
    originOf,
    endOf(position, withBlanks) {
      const { line, column } = lineOf(position);
      if (column < loose[line]!.length || (column === 0 && !withBlanks)) return originOf(position);
      return there[line]! + (withBlanks ? lines[line]!.length : lines[line]!.trimEnd().length);
    },
    isBorder(position) {
      const { line, column } = lineOf(position);
      return column >= loose[line]!.length || originInLine(lines[line]!.trimEnd(), column).isBorder;
    },
  };
}

function originInLine(line: string, column: number): { origin: number; isBorder: boolean } {
  if (ASCII.test(line)) return { origin: column, isBorder: true };
  let passed = 0;
  for (const { 0: character, index } of line.matchAll(CHARACTERS)) {
    const loose = loosen(character);
    const inside = column - passed;
    // What became something else stands as a whole for the character it was.
    if (inside < loose.length) {
      const same = loose === character;
      return { origin: index + (same ? inside : 0), isBorder: inside === 0 || same };
    }
    passed += loose.length;
  }
  // Letters that join with their neighbour were counted apart: better not to find anything than in the wrong place.
  return { origin: line.length, isBorder: false };
}

/** No line end comes or goes by this. */
function loosen(text: string): string {
  if (ASCII.test(text)) return text;
  let result = text;
  for (const [pattern, plain] of LOOKALIKES) result = result.replace(pattern, plain);
  return result.normalize("NFKC");
}

/** The last index whose value is not greater. The values grow, and the first is 0. */
function lastAtMost(values: Float64Array, value: number): number {
  let low = 0;
  let high = values.length - 1;
  while (low < high) {
    const middle = (low + high + 1) >> 1;
    if (values[middle]! <= value) low = middle;
    else high = middle - 1;
  }
  return low;
}
