import { el } from "./dom.ts";
import { oncePerFrame } from "./slices.ts";

/** A list of lines of the same height, of which only those exist that are seen. */

export interface LineList {
  readonly element: HTMLElement;
  /** Shows other lines. */
  set(count: number, build: (line: number) => HTMLElement): void;
  refresh(): void;
  reveal(line: number): void;
}

export function createList(label: string, lineHeight: number): LineList {
  const lines = el("ol", { class: "lines", "aria-label": label });
  const element = el("div", { class: "line-list" }, lines);
  let count = 0;
  let build: (line: number) => HTMLElement = () => el("li");

  const refresh = (): void => {
    const from = Math.max(0, Math.floor(element.scrollTop / lineHeight) - 5);
    const to = Math.min(count, Math.ceil((element.scrollTop + element.clientHeight) / lineHeight) + 5);
    const shown: HTMLElement[] = [];
    for (let line = from; line < to; line += 1) {
      const item = build(line);
      item.style.top = `${line * lineHeight}px`;
      item.style.height = `${lineHeight}px`;
      shown.push(item);
    }
    const focused = lines.contains(document.activeElement) ? document.activeElement?.getAttribute("href") : undefined;
    lines.replaceChildren(...shown);
    if (focused)
      shown
        .find((item) => item.querySelector("a")?.getAttribute("href") === focused)
        ?.querySelector("a")
        ?.focus();
  };
  const soon = oncePerFrame(refresh);
  element.addEventListener("scroll", soon, { passive: true });
  window.addEventListener("resize", soon);

  return {
    element,
    refresh: soon,
    set(newCount, newBuild) {
      count = newCount;
      build = newBuild;
      lines.style.height = `${count * lineHeight}px`;
      soon();
    },
    reveal(line) {
      const top = line * lineHeight;
      if (top < element.scrollTop) element.scrollTop = top - lineHeight;
      else if (top + lineHeight > element.scrollTop + element.clientHeight) {
        element.scrollTop = top - element.clientHeight + 2 * lineHeight;
      }
    },
  };
}
