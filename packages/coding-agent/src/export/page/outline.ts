import { titleOf } from "../model/entry-text.ts";
import { type OutlineRow, outlineOf } from "../model/tree.ts";
import { el, entryLink } from "./dom.ts";
import { createList, type LineList } from "./list.ts";
import type { Session } from "./session.ts";

/** Every branch of the session at a glance, with what the user said; the path that is shown is marked. */

const LINE_PX = 34;
/** Further in there would be no room for words. */
const MOST_DEPTH = 6;

const NAMES: Record<string, string> = {
  user: "",
  bashExecution: "$ ",
  compaction: "Compaction: ",
  branchSummary: "Summary: ",
  assistant: "Assistant: ",
};

export interface Outline {
  readonly element: HTMLElement;
  /** The path, or the session, is another one. */
  reset(): void;
  /** It is on the screen again. */
  refresh(): void;
  /** Marks where in the conversation the reader is. */
  mark(place: number): void;
}

export function createOutline(session: Session): Outline {
  const list: LineList = createList("Messages of the user, on all branches", LINE_PX);
  let rows: OutlineRow[] = [];
  let onPath = new Set<number>();
  /** Lines of entries on the path, in its order. */
  let shown: number[] = [];
  let here = -1;

  const line = (number: number): HTMLElement => {
    const { place, depth, isBranch } = rows[number] as OutlineRow;
    const id = session.index.ids[place] ?? "";
    const kind = session.index.kinds[place] ?? "";
    const label = session.labels.get(id);
    const title = `${NAMES[kind] ?? ""}${titleOf(session.entry(place)) || kind}`;
    const isShown = onPath.has(place);
    const link = entryLink(
      id,
      {
        class: `outline-link ${isShown ? "on-path" : "off-path"} ${isBranch ? "branch" : ""}`,
        title,
        "aria-current": number === here ? "location" : undefined,
      },
      label !== undefined && el("span", { class: "label" }, label),
      !isShown && el("span", { class: "off-screen" }, "Other branch: "),
      el("bdi", {}, title),
    );
    link.style.paddingInlineStart = `${12 + 14 * Math.min(depth, MOST_DEPTH)}px`;
    return el("li", {}, link);
  };

  return {
    element: list.element,
    refresh: () => list.refresh(),
    reset() {
      onPath = new Set(session.path);
      rows = outlineOf(session.index, session.tree, session.leaf, (place) =>
        session.labels.has(session.index.ids[place] ?? ""),
      );
      shown = [...rows.keys()].filter((number) => onPath.has((rows[number] as OutlineRow).place));
      here = -1;
      list.set(rows.length, line);
    },
    mark(place) {
      let [low, high] = [0, shown.length];
      while (low < high) {
        const middle = (low + high) >> 1;
        if ((rows[shown[middle] as number] as OutlineRow).place <= place) low = middle + 1;
        else high = middle;
      }
      const found = shown[low - 1] ?? -1;
      if (found === here) return;
      here = found;
      if (found >= 0) list.reveal(found);
      list.refresh();
    },
  };
}
