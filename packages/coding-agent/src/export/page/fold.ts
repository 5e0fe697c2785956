import { addTo, type Child, el } from "./dom.ts";

/** Parts that are folded until somebody wants them; what is inside is made only then. */

export interface Folds {
  /** Folds that somebody has opened or closed, by their key: a row that is made again looks as it was left. */
  readonly states: Map<string, boolean>;
  /** Whether something with this text is to be opened, because what was searched for is in it. */
  reveals(text: () => string): boolean;
}

export interface FoldParts {
  key: string;
  className: string;
  summary: Child[];
  /** What can be found inside. */
  text: () => string;
  isOpen?: boolean;
  build: () => Child[];
}

export function fold(
  folds: Folds,
  { key, className, summary, text, isOpen = false, build }: FoldParts,
): HTMLDetailsElement {
  const body = el("div", { class: "fold-body" });
  const details = el("details", { class: `fold ${className}` }, el("summary", {}, ...summary), body);
  let isBuilt = false;
  const fill = (): void => {
    if (isBuilt) return;
    isBuilt = true;
    addTo(body, build());
  };
  if (folds.reveals(text) || (folds.states.get(key) ?? isOpen)) {
    details.open = true;
    fill();
  }
  details.addEventListener("toggle", () => {
    if (details.open) fill();
    if (details.open !== (folds.states.get(key) ?? isOpen)) folds.states.set(key, details.open);
    details.dispatchEvent(new CustomEvent("resized", { bubbles: true }));
  });
  return details;
}
