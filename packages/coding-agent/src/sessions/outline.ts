import { oneLine } from "./plain-text.ts";

/** The user messages of a session as a tree, one line each. Pure. */
export interface OutlineItem {
  id: string;
  parentId: string | null;
  /** Set for user messages only. */
  text?: string;
}

const LONGEST_LINE = 100;

interface Said {
  text: string;
  children: number[];
}

/** `*` marks what leads to the last entry; an indented `-` begins a branch. */
export function outline(items: readonly OutlineItem[]): string[] {
  const { above, current } = links(items);
  const said = new Map<number, Said>();
  const roots: number[] = [];
  items.forEach(({ text }, at) => {
    if (text === undefined) return;
    said.set(at, { text, children: [] });
    (said.get(above[at]!)?.children ?? roots).push(at);
  });

  const lines: string[] = [];
  const todo = branches(roots, 0);
  for (let next = todo.pop(); next; next = todo.pop()) {
    const { text, children } = said.get(next.at)!;
    const mark = current.has(next.at) ? "*" : " ";
    const indent = "  ".repeat(next.depth) + (next.depth === 0 ? "" : next.isFirst ? "- " : "  ");
    lines.push(`${mark} ${indent}${oneLine(text, LONGEST_LINE) || "(no text)"}`);
    todo.push(...branches(children, next.depth));
  }
  return lines;
}

/** For a stack, so the first comes last. An only child stays in the column of its parent. */
function branches(positions: readonly number[], depth: number) {
  const isFork = positions.length > 1;
  return positions.map((at) => ({ at, depth: isFork ? depth + 1 : depth, isFirst: isFork })).reverse();
}

/** The nearest user message above each item, -1 for none; and what lies between the last item and its root. */
function links(items: readonly OutlineItem[]): { above: number[]; current: Set<number> } {
  const positions = new Map<string, number>();
  const above: number[] = [];
  const parents: number[] = [];
  items.forEach(({ id, parentId }, at) => {
    // A parent that comes later in the file would lead in a circle sooner or later: it counts as none.
    const parent = parentId === null ? -1 : (positions.get(parentId) ?? -1);
    parents.push(parent);
    above.push(parent < 0 || items[parent]!.text !== undefined ? parent : above[parent]!);
    positions.set(id, at);
  });
  const current = new Set<number>();
  for (let at = items.length - 1; at >= 0; at = parents[at]!) current.add(at);
  return { above, current };
}
