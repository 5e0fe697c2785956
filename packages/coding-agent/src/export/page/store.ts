import type { IndexColumns, PageEnd, PageStart } from "../html/format.ts";
import { addColumns, emptyIndex, type SessionIndex } from "../model/session-index.ts";

/** The data in the page: read while it arrives, parsed when it is needed. */

export interface Store {
  readonly index: SessionIndex;
  readonly start: Partial<PageStart>;
  /** Undefined until the whole file is there; empty if its end is missing. */
  readonly end: Partial<PageEnd> | undefined;
  /** Takes in the next block that has arrived. False when there is none for now. */
  readNext(): boolean;
  entry(place: number): unknown;
  blockCount(): number;
  /** The text of a block as it stands in the file, and the place of its first entry. */
  blockText(block: number): string;
  firstOf(block: number): number;
  entriesOf(block: number): unknown[];
}

/** Blocks that are kept parsed. */
const KEPT = 8;

export function createStore(): Store {
  const index = emptyIndex();
  const start = parsed(document.getElementById("start")) as Partial<PageStart>;
  const blocks: { element: Element; first: number }[] = [];
  const kept = new Map<number, unknown[]>();
  /** The place of the first entry in the block that comes next. */
  let nextFirst = 0;
  let cursor: Element | null = null;
  let end: Partial<PageEnd> | undefined;

  const entriesOf = (block: number): unknown[] => {
    const known = kept.get(block);
    // The one that was used last goes to the end.
    if (known) kept.delete(block);
    const entries = known ?? listIn(blocks[block]?.element);
    kept.set(block, entries);
    if (kept.size > KEPT) kept.delete(kept.keys().next().value as number);
    return entries;
  };

  return {
    index,
    start,
    get end() {
      return end;
    },
    readNext() {
      if (end) return false;
      const isWhole = document.readyState !== "loading";
      const next = cursor ? cursor.nextElementSibling : document.getElementById("data")?.firstElementChild;
      if (!next) {
        if (isWhole) end = {};
        return false;
      }
      // Of the last one only a part may be there.
      if (!isWhole && !next.nextElementSibling) return false;
      cursor = next;
      if (next.className === "i") {
        nextFirst = index.ids.length;
        addColumns(index, columnsIn(next));
      } else if (next.className === "d") blocks.push({ element: next, first: nextFirst });
      else if (next.id === "end") end = parsed(next) as Partial<PageEnd>;
      return true;
    },
    entry(place) {
      const block = blockOf(blocks, place);
      return entriesOf(block)[place - (blocks[block]?.first ?? 0)];
    },
    blockCount: () => blocks.length,
    blockText: (block) => blocks[block]?.element.textContent ?? "",
    firstOf: (block) => blocks[block]?.first ?? 0,
    entriesOf,
  };
}

function blockOf(blocks: readonly { first: number }[], place: number): number {
  let [low, high] = [0, blocks.length - 1];
  while (low < high) {
    const middle = Math.ceil((low + high) / 2);
    if ((blocks[middle] as { first: number }).first <= place) low = middle;
    else high = middle - 1;
  }
  return low;
}

/** Each stands on a line of its own: one that is damaged does not take the others with it. */
function listIn(element: Element | undefined): unknown[] {
  const list = parsed(element);
  if (Array.isArray(list)) return list;
  const lines = (element?.textContent ?? "").slice(1, -1).split(",\n");
  return lines.map(parsedText);
}

function columnsIn(element: Element): IndexColumns {
  const none: IndexColumns = { id: [], parent: [], kind: [], time: [], lines: [], usage: [] };
  return { ...none, ...(parsed(element) as Partial<IndexColumns>) };
}

/** What is cut off in the middle counts as not there. */
function parsed(element: Element | null | undefined): unknown {
  return parsedText(element?.textContent ?? "{}");
}

function parsedText(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return {};
  }
}
