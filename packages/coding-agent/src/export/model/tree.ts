import type { Kind } from "../html/format.ts";
import type { SessionIndex } from "./session-index.ts";

/** The tree of a session: paths through it, and what stands in its outline. Pure. */

export interface Tree {
  /** Places of the children of each entry that has some; -1: the roots. */
  children: Map<number, number[]>;
  /** The last entry below each, or itself: the end of the branch that was worked on last. */
  ends: Int32Array;
}

export function buildTree({ parents }: SessionIndex): Tree {
  const children = new Map<number, number[]>();
  const ends = Int32Array.from(parents.keys());
  for (const [place, parent] of parents.entries()) {
    const siblings = children.get(parent);
    if (siblings) siblings.push(place);
    else children.set(parent, [place]);
  }
  for (let place = parents.length - 1; place >= 0; place -= 1) {
    const parent = parents[place] as number;
    if (parent >= 0) ends[parent] = Math.max(ends[parent] as number, ends[place] as number);
  }
  return { children, ends };
}

/** From the root to `leaf`. */
export function pathTo({ parents }: SessionIndex, leaf: number): number[] {
  const path: number[] = [];
  for (let place = leaf; place >= 0; place = parents[place] as number) path.push(place);
  return path.reverse();
}

/** Entries with the same parent, the entry itself among them. */
export function siblingsOf(index: SessionIndex, tree: Tree, place: number): readonly number[] {
  return tree.children.get(index.parents[place] ?? -1) ?? [place];
}

export interface OutlineRow {
  place: number;
  /** 0 for the path that is shown; side branches are further in. */
  depth: number;
  /** Another branch begins here. */
  isBranch: boolean;
}

/** What tells a reader where in the conversation something is. */
const LANDMARKS: ReadonlySet<Kind> = new Set(["user", "bashExecution", "compaction", "branchSummary"]);

/**
 * Every branch, in the order of the conversation: where the path splits, the branches that do not lead to `leaf` come
 * first, further in; then it goes on.
 */
export function outlineOf(
  index: SessionIndex,
  tree: Tree,
  leaf: number,
  isNamed: (place: number) => boolean,
): OutlineRow[] {
  const onPath = new Set(pathTo(index, leaf));
  const rows: OutlineRow[] = [];
  // Those to look at next are at the end.
  const todo = forks(tree.children.get(-1) ?? [], 0);
  for (let row = todo.pop(); row; row = todo.pop()) {
    const kind = index.kinds[row.place] as Kind;
    if (row.isBranch || LANDMARKS.has(kind) || isNamed(row.place)) rows.push(row);
    todo.push(...forks(tree.children.get(row.place) ?? [], row.depth));
  }
  return rows;

  function forks(children: readonly number[], depth: number): OutlineRow[] {
    const main = children.find((child) => onPath.has(child)) ?? latest(children);
    const others = children.filter((child) => child !== main);
    const all = others.map((place) => ({ place, depth: depth + 1, isBranch: true }));
    if (main !== undefined) all.push({ place: main, depth, isBranch: false });
    return all.reverse();
  }

  function latest(children: readonly number[]): number | undefined {
    let best: number | undefined;
    for (const child of children) {
      if (best === undefined || (tree.ends[child] as number) > (tree.ends[best] as number)) best = child;
    }
    return best;
  }
}
