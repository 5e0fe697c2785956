import type { Kind } from "../html/format.ts";
import { searchText, snippetOf, titleOf } from "../model/entry-text.ts";
import { say } from "./copy.ts";
import { button, el, entryLink, icon } from "./dom.ts";
import { createList } from "./list.ts";
import { countText } from "./numbers.ts";
import type { Search } from "./search.ts";
import type { Session } from "./session.ts";

/** The field one searches with, the steps from hit to hit, and the list of all hits. */

const LINE_PX = 52;

const KIND_NAMES: Partial<Record<Kind, string>> = {
  user: "User",
  assistant: "Assistant",
  toolResult: "Result of a tool",
  bashExecution: "Command of the user",
  customMessage: "Extension",
  custom: "Extension",
  branchSummary: "Summary of a branch",
  compaction: "Compaction",
};

export interface SearchBar {
  readonly element: HTMLElement;
  /** The hits, in place of the outline. */
  readonly results: HTMLElement;
  focus(): void;
  isFocused(): boolean;
  /** There are other hits. */
  refresh(): void;
}

export interface SearchBarParts {
  session: Session;
  search: Search;
  /** Goes to a hit. */
  show(place: number): void;
  /** Somebody searches, or does so no longer. */
  changed(isSearching: boolean): void;
}

const kindName = (kind: Kind): string => KIND_NAMES[kind] ?? kind.replaceAll("_", " ");

export function createSearchBar({ session, search, show, changed }: SearchBarParts): SearchBar {
  const field = el("input", {
    type: "search",
    id: "search",
    placeholder: "Search all entries",
    "aria-label": "Search all entries",
    autocomplete: "off",
    spellcheck: "false",
  });
  const count = el("span", { class: "hit-count", "aria-live": "polite" });
  const list = createList("Entries that were found", LINE_PX);
  let current = -1;

  const step = (by: number): void => {
    if (search.hits.length === 0) return;
    current = (current + by + search.hits.length) % search.hits.length;
    list.reveal(current);
    refresh();
    show(search.hits[current] as number);
  };
  const previous = button("Previous hit", icon("up"), () => step(-1));
  const next = button("Next hit", icon("down"), () => step(1));

  const line = (number: number): HTMLElement => {
    const place = search.hits[number] as number;
    const entry = session.entry(place);
    const snippet = snippetOf(searchText(entry), search.wanted) ?? { text: titleOf(entry), at: 0 };
    const before = snippet.text.slice(0, snippet.at);
    const hit = snippet.text.slice(snippet.at, snippet.at + search.wanted.length);
    const link = entryLink(
      session.index.ids[place] ?? "",
      { class: "hit", "aria-current": number === current ? "true" : undefined },
      el(
        "span",
        { class: "hit-kind" },
        kindName(session.index.kinds[place] ?? "other"),
        !session.rows.rowOf.has(place) && " · other branch",
      ),
      el(
        "bdi",
        { class: "hit-text" },
        before,
        el("mark", {}, hit),
        snippet.text.slice(snippet.at + search.wanted.length),
      ),
    );
    link.addEventListener("click", (event) => {
      event.preventDefault();
      current = number;
      refresh();
      show(place);
    });
    return el("li", {}, link);
  };

  const refresh = (): void => {
    const { wanted, hits, isDone } = search;
    const total = `${countText(hits.length)}${isDone ? "" : "…"}`;
    count.textContent = wanted === "" ? "" : current < 0 ? total : `${countText(current + 1)} / ${total}`;
    previous.disabled = hits.length === 0;
    next.disabled = hits.length === 0;
    list.set(hits.length, line);
    if (isDone && wanted !== "" && hits.length === 0) say("Nothing found.");
  };

  field.addEventListener("input", () => {
    current = -1;
    search.start(field.value.trim());
    changed(search.wanted !== "");
  });
  field.addEventListener("keydown", (event) => {
    if (event.key === "Enter") {
      event.preventDefault();
      step(event.shiftKey ? -1 : 1);
    } else if (event.key === "Escape") {
      field.value = "";
      field.dispatchEvent(new Event("input"));
      field.blur();
    }
  });
  refresh();

  return {
    element: el("div", { class: "search", role: "search" }, icon("search"), field, count, previous, next),
    results: list.element,
    focus() {
      field.focus();
      field.select();
    },
    isFocused: () => document.activeElement === field,
    refresh,
  };
}
