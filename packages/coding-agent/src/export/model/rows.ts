import type { SessionIndex } from "./session-index.ts";

/** The path as rows to show: an answer and the results of its tool calls are one. Pure. */

export interface Rows {
  /** Places of the entries of each row; the first is the one it is named by. */
  entries: number[][];
  /** In which row an entry of the path is. */
  rowOf: Map<number, number>;
}

export function rowsOf(index: SessionIndex, path: readonly number[]): Rows {
  const entries: number[][] = [];
  const rowOf = new Map<number, number>();
  let takesResults = false;
  for (const place of path) {
    const kind = index.kinds[place];
    if (kind === "toolResult" && takesResults) (entries.at(-1) as number[]).push(place);
    else entries.push([place]);
    takesResults = kind === "assistant" || (kind === "toolResult" && takesResults);
    rowOf.set(place, entries.length - 1);
  }
  return { entries, rowOf };
}

const LINE_PX = 26;
const BASE_PX: Partial<Record<string, number>> = { user: 96, assistant: 56, bashExecution: 90, compaction: 64 };
const FOLDED_PX = 44;

/** Browsers lay out some 33 million pixels, so those of a very long session are guessed smaller than they are. */
const MOST_PX = 12_000_000;

/** How high each row may be, before it is shown for the first time. */
export function guessHeights(index: SessionIndex, { entries }: Rows): Float64Array {
  const heights = new Float64Array(entries.length);
  let total = 0;
  for (const [row, places] of entries.entries()) {
    const place = places[0] as number;
    const base = BASE_PX[index.kinds[place] ?? ""];
    heights[row] = base === undefined ? FOLDED_PX : base + (index.lines[place] ?? 0) * LINE_PX;
    total += heights[row] as number;
  }
  const scale = Math.min(1, MOST_PX / total);
  return scale < 1 ? heights.map((height) => height * scale) : heights;
}
