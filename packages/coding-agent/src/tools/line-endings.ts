import type { Region } from "./edit-match.ts";

/** Edits are looked for in text with plain newlines and carried out in the text as it is, so that everything untouched stays as it was. */

export function toPlainNewlines(text: string): string {
  return text.replaceAll("\r\n", "\n");
}

/** Moves regions of the plain text to the original, and gives new lines the ending that the file uses. */
export function toOriginalRegions(original: string, regions: readonly Region[]): Region[] {
  if (!original.includes("\r\n")) return [...regions];
  const usesCrlf = original.indexOf("\r\n") === original.indexOf("\n") - 1;
  let plain = 0;
  let position = 0;
  /** Positions only grow, so one walk over the text serves all. */
  const advance = (target: number): number => {
    while (plain < target) {
      const next = original.indexOf("\r\n", position);
      const distance = next === -1 ? Number.POSITIVE_INFINITY : next - position;
      if (plain + distance >= target) {
        position += target - plain;
        plain = target;
      } else {
        // Past one line end: two characters here, one there.
        position = next + 2;
        plain += distance + 1;
      }
    }
    return position;
  };
  return regions.map(({ start, end, newText }) => ({
    start: advance(start),
    end: advance(end),
    newText: usesCrlf ? newText.replaceAll("\n", "\r\n") : newText,
  }));
}
