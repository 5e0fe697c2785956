import type { Region } from "./edit-match.ts";

/** Edits are looked for in text with plain newlines and carried out in the text as it is, so that everything untouched stays as it was. */

export function toPlainNewlines(text: string): string {
  return text.replaceAll("\r\n", "\n");
}

/** Moves regions of the plain text to the original, and gives new lines the endings that stand there. */
export function toOriginalRegions(original: string, regions: readonly Region[]): Region[] {
  if (!original.includes("\r\n")) return [...regions];
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
  return regions.map((region) => {
    const start = advance(region.start);
    const end = advance(region.end);
    return { start, end, newText: withEndings(region.newText, endingsAt(original, start, end)) };
  });
}

/** The endings of the lines in a stretch; where it has none, that of the line it is in, else of the line before. */
function endingsAt(original: string, start: number, end: number): string[] {
  const inside = original.slice(start, end).match(/\r?\n/g);
  if (inside) return inside;
  const next = original.indexOf("\n", end);
  const near = next === -1 && start > 0 ? original.lastIndexOf("\n", start - 1) : next;
  return [original[near - 1] === "\r" ? "\r\n" : "\n"];
}

/** In a file of mixed endings each new line takes that of the line it replaces; further ones take the last. */
function withEndings(text: string, endings: readonly string[]): string {
  let line = 0;
  return text.replaceAll("\n", () => endings[Math.min(line++, endings.length - 1)]!);
}
