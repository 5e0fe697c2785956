import { type IndexColumns, KINDS, type Kind } from "../html/format.ts";

/** What the page knows of every entry without parsing it. Entries are named by their place in the file. Pure. */

export interface Spent {
  input: number;
  output: number;
  cacheRead: number;
  cacheWrite: number;
  cost: number;
}

export interface SessionIndex {
  ids: string[];
  /** Place of the parent, -1 for a root. Always smaller than the own place, so there are no circles. */
  parents: number[];
  kinds: Kind[];
  /** Unix milliseconds. */
  times: number[];
  lines: number[];
  spent: Map<number, Spent>;
  places: Map<string, number>;
}

export function emptyIndex(): SessionIndex {
  return { ids: [], parents: [], kinds: [], times: [], lines: [], spent: new Map(), places: new Map() };
}

/** Adds the entries of one block behind those that are there. */
export function addColumns(index: SessionIndex, columns: IndexColumns): void {
  const first = index.ids.length;
  let time = 0;
  for (const [row, id] of columns.id.entries()) {
    const place = first + row;
    time += Number(columns.time[row]) || 0;
    index.ids.push(id);
    index.parents.push(parentOf(index, place, columns.parent[row]));
    index.kinds.push(KINDS[columns.kind[row] ?? 0] ?? "other");
    index.times.push(time);
    index.lines.push(Math.max(0, Number(columns.lines[row]) || 0));
    // Should two entries have the same id, the first one is the one that others name.
    if (!index.places.has(id)) index.places.set(id, place);
  }
  for (const [row, input, output, cacheRead, cacheWrite, cost] of columns.usage) {
    index.spent.set(first + row, { input, output, cacheRead, cacheWrite, cost });
  }
}

function parentOf(index: SessionIndex, place: number, parent: string | number | null | undefined): number {
  if (parent === 0) return place - 1;
  return typeof parent === "string" ? (index.places.get(parent) ?? -1) : -1;
}
