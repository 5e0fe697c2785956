/** The tree that entries form by their parents. Pure. */

export interface Parents {
  readonly length: number;
  /** -1 for a root. */
  parent(position: number): number;
}

/** The positions from the root to the leaf; none for -1. */
export function pathTo({ parent }: Parents, leaf: number): number[] {
  const path: number[] = [];
  for (let at = leaf; at >= 0; at = parent(at)) path.push(at);
  return path.reverse();
}

/** The children of every entry in the order they were written; those of -1 are the roots. */
export function childrenOf(entries: Parents): Map<number, number[]> {
  const children = new Map<number, number[]>();
  for (let at = 0; at < entries.length; at++) {
    const parent = entries.parent(at);
    const siblings = children.get(parent);
    if (siblings) siblings.push(at);
    else children.set(parent, [at]);
  }
  return children;
}

/** The last entry that both are below of, -1 when they have nothing in common. */
export function commonAncestor({ parent }: Parents, one: number, other: number): number {
  const above = new Set<number>();
  for (let at = one; at >= 0; at = parent(at)) above.add(at);
  for (let at = other; at >= 0; at = parent(at)) if (above.has(at)) return at;
  return -1;
}

export interface TreeStep {
  position: number;
  /** Its children are over. */
  isOver: boolean;
}

/**
 * The whole tree as it is now: each entry when it begins, and again behind its children. Without recursion: a
 * conversation is as deep as it is long.
 */
export function walkTree(entries: Parents): Iterable<TreeStep> {
  return stepsOf(childrenOf(entries));
}

function* stepsOf(children: ReadonlyMap<number, readonly number[]>): Generator<TreeStep> {
  const waiting: TreeStep[] = [];
  const addBelow = (parent: number): void => {
    const below = children.get(parent) ?? [];
    for (let i = below.length - 1; i >= 0; i--) waiting.push({ position: below[i]!, isOver: false });
  };
  addBelow(-1);
  for (let next = waiting.pop(); next; next = waiting.pop()) {
    yield next;
    if (next.isOver) continue;
    waiting.push({ position: next.position, isOver: true });
    addBelow(next.position);
  }
}
