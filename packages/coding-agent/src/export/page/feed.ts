import { createHeights, type Heights } from "../model/heights.ts";
import { el } from "./dom.ts";
import { budget, oncePerFrame } from "./slices.ts";

/**
 * A long list of rows of which only those near the screen exist. They stand in the normal flow between two fillers, so a
 * row that grows needs nobody's help; the heights of rows that were never shown are guessed.
 */

export interface FeedParts {
  build(row: number): HTMLElement;
  guess(): Float64Array;
  /** How much of the screen the bar at its top covers. */
  inset(): number;
  /** After every change of what is on the screen. */
  moved(): void;
}

export interface Feed {
  readonly element: HTMLElement;
  /** There are other rows now. */
  reset(): void;
  showRow(row: number, inner: () => Element | null): void;
  /** Makes a row anew. */
  rebuild(row: number): void;
  /** The row at the top of the screen. */
  topRow(): number;
  /** Where the reader is: the row at the top of the screen, -1 above all, and at the end the one that was gone to last. */
  currentRow(): number;
  /** Makes the first rows all exist, to be printed; and back. */
  showAll(most: number): void;
  update(): void;
}

/** How far beyond the screen rows are made, and how far they are kept. */
const AHEAD_PX = 700;
const KEEP_PX = 1_800;
const GAP_PX = 12;
/** What is shown above something in the middle of a row. */
const CONTEXT_PX = 100;

export function createFeed({ build, guess, inset, moved }: FeedParts): Feed {
  const above = el("div", { class: "filler" });
  const below = el("div", { class: "filler" });
  const list = el("div", { class: "rows", role: "feed", "aria-label": "Conversation" });
  const element = el("div", { class: "feed" }, above, list, below);
  let heights: Heights = createHeights(new Float64Array(0));
  /** The rows from `first` up to `last`, not included, exist. */
  let first = 0;
  let last = 0;
  let isPrinting = false;
  let aim: { row: number; inner: () => Element | null; tries: number } | undefined;
  const soon = oncePerFrame(() => update());

  const rowAt = (row: number): HTMLElement | undefined => list.children[row - first] as HTMLElement | undefined;

  function measure(): void {
    for (let row = first; row < last; row += 1) {
      heights.set(row, (rowAt(row) as HTMLElement).getBoundingClientRect().height);
    }
  }

  function fill(): void {
    above.style.height = `${heights.before(first)}px`;
    below.style.height = `${heights.total() - heights.before(last)}px`;
  }

  function clear(row: number): void {
    list.replaceChildren();
    first = row;
    last = row;
  }

  function trim(from: number, to: number): void {
    while (first < from && first < last) {
      list.firstElementChild?.remove();
      first += 1;
    }
    while (last > to && last > first) {
      list.lastElementChild?.remove();
      last -= 1;
    }
  }

  /** What is on the screen first, then what is near; the rest in the next frame when it takes too long. */
  function grow(windows: readonly (readonly [from: number, to: number])[]): boolean {
    const left = budget();
    for (const [from, to] of windows) {
      while (last < to) {
        list.append(build(last));
        last += 1;
        if (left.isUsedUp()) return false;
      }
      while (first > from) {
        list.prepend(build(first - 1));
        first -= 1;
        if (left.isUsedUp()) return false;
      }
    }
    return true;
  }

  const range = (top: number, bottom: number): [number, number] => [
    heights.rowAt(top),
    heights.count === 0 ? 0 : heights.rowAt(bottom) + 1,
  ];

  /** The row that is read now; it must not move when others change. */
  function anchorRow(edge = inset()): HTMLElement | undefined {
    for (const child of list.children) {
      if (child.getBoundingClientRect().bottom > edge) return child as HTMLElement;
    }
    return undefined;
  }

  function update(): void {
    if (isPrinting) return;
    measure();
    const anchor = anchorRow();
    const anchorTop = anchor?.getBoundingClientRect().top ?? 0;
    const top = -element.getBoundingClientRect().top;
    const bottom = top + window.innerHeight;
    const near = range(top - AHEAD_PX, bottom + AHEAD_PX);
    const screen = range(top, bottom);
    if (first >= near[1] || last <= near[0]) clear(screen[0]);
    trim(...range(top - KEEP_PX, bottom + KEEP_PX));
    const isDone = grow([screen, near]);
    fill();
    measure();
    fill();
    if (aim) settle();
    else if (anchor?.isConnected) {
      const shift = anchor.getBoundingClientRect().top - anchorTop;
      if (Math.abs(shift) > 0.5) window.scrollBy(0, shift);
    }
    if (!isDone || aim) soon();
    moved();
  }

  /** Rows above have turned out higher or lower than guessed: corrects the position until it is right. */
  function settle(): void {
    if (!aim) return;
    const place = placeToShow(rowAt(aim.row), aim.inner());
    const shift = place === undefined ? undefined : place - inset() - GAP_PX;
    aim.tries -= 1;
    if (shift === undefined) window.scrollTo(0, positionOf(aim.row));
    else if (Math.abs(shift) > 1) window.scrollBy(0, shift);
    else if (aim.tries < 5) aim = undefined;
    if (aim && aim.tries <= 0) aim = undefined;
  }

  /** The top of the row, unless what is wanted in it would then be far down. */
  function placeToShow(row: Element | undefined, inner: Element | null): number | undefined {
    const top = row?.getBoundingClientRect().top;
    const innerTop = inner?.getBoundingClientRect().top ?? top;
    if (top === undefined || innerTop === undefined) return undefined;
    return innerTop - top > window.innerHeight / 2 ? innerTop - CONTEXT_PX : top;
  }

  /** One that was gone to is a little below the bar. */
  const topLine = (): number => inset() + GAP_PX + 4;
  const topRow = (): number => {
    const anchor = anchorRow(topLine());
    return anchor ? first + [...list.children].indexOf(anchor) : first;
  };
  /** The screen cannot go further down: what is at its top says nothing about where the reader is. */
  const isAtEnd = (): boolean => window.scrollY + window.innerHeight >= document.documentElement.scrollHeight - 2;

  const positionOf = (row: number): number =>
    window.scrollY + element.getBoundingClientRect().top + heights.before(row) - inset() - GAP_PX;

  window.addEventListener("scroll", soon, { passive: true });
  window.addEventListener("resize", soon);
  element.addEventListener("resized", soon);
  // Whoever scrolls is not to be brought back.
  for (const event of ["wheel", "touchmove", "keydown"]) {
    window.addEventListener(
      event,
      () => {
        aim = undefined;
      },
      // Before whatever is done about the key.
      { passive: true, capture: true },
    );
  }

  return {
    element,
    update,
    reset() {
      heights = createHeights(guess());
      clear(0);
      fill();
      update();
    },
    showRow(row, inner) {
      aim = { row, inner, tries: 8 };
      if (row < first || row >= last) {
        clear(row);
        fill();
        window.scrollTo(0, positionOf(row));
      }
      update();
    },
    rebuild(row) {
      const old = rowAt(row);
      if (row < first || row >= last || !old) return;
      old.replaceWith(build(row));
      soon();
    },
    topRow,
    currentRow() {
      const target = isAtEnd() ? list.querySelector(".target") : null;
      if (target) return first + [...list.children].findIndex((row) => row.contains(target));
      const isAbove = first === 0 && (list.firstElementChild?.getBoundingClientRect().top ?? 0) > topLine();
      return isAbove ? -1 : topRow();
    },
    showAll(most) {
      isPrinting = most > 0;
      if (!isPrinting) {
        update();
        return;
      }
      clear(0);
      for (; last < Math.min(most, heights.count); last += 1) list.append(build(last));
      above.style.height = "0";
      below.style.height = "0";
    },
  };
}
