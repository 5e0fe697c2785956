import { type Rows, rowsOf } from "../model/rows.ts";
import type { SessionIndex } from "../model/session-index.ts";
import { buildTree, pathTo, type Tree } from "../model/tree.ts";
import type { Store } from "./store.ts";

/** Which path through the session is shown. The one owner of that; others are told when it changes. */

export interface Session {
  readonly index: SessionIndex;
  readonly tree: Tree;
  readonly path: readonly number[];
  readonly rows: Rows;
  readonly labels: ReadonlyMap<string, string>;
  /** The end of the path that is shown, and where the session stands. */
  readonly leaf: number;
  readonly currentLeaf: number;
  entry(place: number): unknown;
  /** Takes in what the store has read meanwhile. */
  refresh(): void;
  /** Shows an entry, on another path if it is not on this one. */
  goTo(place: number): void;
}

export interface SessionEvents {
  /** Another path. */
  pathChanged(): void;
  wanted(place: number): void;
}

export function createSession(store: Store, events: SessionEvents): Session {
  let tree = buildTree(store.index);
  let leaf = -1;
  let currentLeaf = -1;
  let path: number[] = [];
  let rows = rowsOf(store.index, path);
  let labels = new Map<string, string>();

  const show = (end: number): void => {
    leaf = end;
    path = pathTo(store.index, end);
    rows = rowsOf(store.index, path);
    events.pathChanged();
  };

  return {
    index: store.index,
    get tree() {
      return tree;
    },
    get path() {
      return path;
    },
    get rows() {
      return rows;
    },
    get labels() {
      return labels;
    },
    get leaf() {
      return leaf;
    },
    get currentLeaf() {
      return currentLeaf;
    },
    entry: (place) => store.entry(place),
    refresh() {
      tree = buildTree(store.index);
      labels = new Map(Array.isArray(store.end?.labels) ? store.end.labels : []);
      const last = store.index.ids.length - 1;
      currentLeaf = store.index.places.get(store.end?.leafId ?? "") ?? last;
      show(currentLeaf);
    },
    goTo(place) {
      if (!rows.rowOf.has(place)) show(tree.ends[place] ?? place);
      events.wanted(place);
    },
  };
}
