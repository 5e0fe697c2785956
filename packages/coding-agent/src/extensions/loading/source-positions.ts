/** Reads the mappings of a source map: which place of the source a place of the compiled code comes from. */

export interface Position {
  /** Both count from 1, as stack traces do. */
  line: number;
  column: number;
}

const DIGITS = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";

/** Numbers of one segment: five bits each, least significant first, the lowest bit is the sign. */
function numbersOf(segment: string): number[] {
  const numbers: number[] = [];
  let value = 0;
  let shift = 0;
  for (const char of segment) {
    const digit = DIGITS.indexOf(char);
    value += (digit & 31) << shift;
    shift += 5;
    if (digit & 32) continue;
    numbers.push(value & 1 ? -(value >> 1) : value >> 1);
    value = 0;
    shift = 0;
  }
  return numbers;
}

/** The last mapped place at or before the one asked for, within its line. */
export function originalPosition(mappings: string, wanted: Position): Position | undefined {
  const lines = mappings.split(";");
  let [sourceLine, sourceColumn] = [0, 0];
  for (let line = 0; line < lines.length && line < wanted.line; line++) {
    let column = 0;
    let best: Position | undefined;
    for (const segment of (lines[line] as string).split(",")) {
      const [columnStep = 0, , lineStep, sourceStep = 0] = numbersOf(segment);
      column += columnStep;
      if (lineStep === undefined) continue;
      sourceLine += lineStep;
      sourceColumn += sourceStep;
      if (best && column > wanted.column - 1) continue;
      best = { line: sourceLine + 1, column: sourceColumn + 1 };
    }
    if (line === wanted.line - 1) return best;
  }
  return undefined;
}

/** Back through one map after the other. */
export function through(maps: readonly string[], compiled: Position): Position | undefined {
  if (maps.length === 0) return undefined;
  let place: Position | undefined = compiled;
  for (const map of maps) place = place && originalPosition(map, place);
  return place;
}
