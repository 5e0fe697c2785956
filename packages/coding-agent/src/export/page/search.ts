import { searchText } from "../model/entry-text.ts";
import { inSlices } from "./slices.ts";
import type { Store } from "./store.ts";

/** Looks through all entries, a little in each frame. */

export interface Search {
  /** In lower case; empty: nothing is looked for. */
  readonly wanted: string;
  readonly hits: readonly number[];
  readonly isDone: boolean;
  start(text: string): void;
}

/** `found` is called when there are new hits, and when all was looked through. */
export function createSearch(store: Store, found: () => void): Search {
  let wanted = "";
  let hits: number[] = [];
  let isDone = true;
  let stop: () => void = () => undefined;

  return {
    get wanted() {
      return wanted;
    },
    get hits() {
      return hits;
    },
    get isDone() {
      return isDone;
    },
    start(text) {
      stop();
      wanted = text.toLowerCase();
      hits = [];
      isDone = wanted === "";
      found();
      if (isDone) return;
      let block = 0;
      const core = plainCore(wanted);
      stop = inSlices(() => {
        if (block < store.blockCount()) {
          const before = hits.length;
          searchBlock(block, core);
          block += 1;
          if (hits.length > before) found();
          return false;
        }
        isDone = true;
        found();
        return true;
      });
    },
  };

  /** Most blocks are ruled out by their text as it stands in the file, without being parsed. */
  function searchBlock(block: number, core: string): void {
    if (core !== "" && !store.blockText(block).toLowerCase().includes(core)) return;
    const first = store.firstOf(block);
    for (const [i, entry] of store.entriesOf(block).entries()) {
      if (searchText(entry).toLowerCase().includes(wanted)) hits.push(first + i);
    }
  }
}

/** The longest part that JSON writes as it is. */
function plainCore(text: string): string {
  const parts = text.split(/[^a-z0-9 _.,:;()=+*-]+/);
  return parts.reduce((longest, part) => (part.length > longest.length ? part : longest), "");
}
