import { guessHeights } from "../model/rows.ts";
import { say } from "./copy.ts";
import { button, el, elementId, entryLink, icon } from "./dom.ts";
import { createFeed } from "./feed.ts";
import type { Folds } from "./fold.ts";
import { paintFound, rangesIn } from "./highlights.ts";
import { introElement, nameOf } from "./intro.ts";
import { dayText } from "./numbers.ts";
import { createOutline } from "./outline.ts";
import { rowElement } from "./row-view.ts";
import { createSearch } from "./search.ts";
import { createSearchBar } from "./search-bar.ts";
import { createSession } from "./session.ts";
import { inSlices } from "./slices.ts";
import { createStore } from "./store.ts";
import { startTheme } from "./theme.ts";

/** The program of an exported page: puts its parts together. It runs before the entries have arrived. */

/** More than so many rows take a printer, and the browser, too long. */
const MOST_PRINTED = 1_500;

const theme = startTheme();
const store = createStore();
/** The hit that is looked at: what was searched for is unfolded in it. */
let revealed = -1;
let revealedRow = -1;
let building = -1;
let hasFirst = false;

const folds: Folds = {
  states: new Map(),
  reveals: (text) => building === revealedRow && building >= 0 && text().toLowerCase().includes(search.wanted),
};

const session = createSession(store, { pathChanged, wanted: showPlace });
const search = createSearch(store, () => searchBar.refresh());
const searchBar = createSearchBar({ session, search, show: showHit, changed: searchChanged });
const outline = createOutline(session);
const feed = createFeed({
  build(row) {
    building = row;
    try {
      return rowElement(session, folds, row);
    } catch (error) {
      // One entry of a form that nobody has thought of must not take the others with it.
      return el("article", { class: "row" }, el("p", { class: "note" }, `This entry cannot be shown: ${error}`));
    } finally {
      building = -1;
    }
  },
  guess: () => guessHeights(session.index, session.rows),
  inset: () => bar.getBoundingClientRect().bottom,
  moved() {
    outline.mark(session.rows.entries[feed.topRow()]?.[0] ?? 0);
    if (search.wanted !== "") paintFound(feed.element, search.wanted);
  },
});

const outlineTitle = el("h2", { class: "side-title" }, "Outline");
const sidebar = el("nav", { id: "outline", "aria-label": "Outline" }, outlineTitle, outline.element);
const menu = button("Outline", icon("menu"), () => setSidebar(!isSidebarOpen()));
menu.setAttribute("aria-controls", "outline");
const otherBranch = el("p", { class: "other-branch", hidden: true });
const bar = el(
  "header",
  { class: "bar" },
  el(
    "div",
    { class: "bar-line" },
    menu,
    el("span", { class: "bar-name" }, nameOf(store.start, undefined)),
    searchBar.element,
    el(
      "div",
      { class: "steps", role: "group", "aria-label": "Messages of the user" },
      button("Previous message of the user", icon("up"), () => stepToUser(-1)),
      el("span", { class: "steps-name", "aria-hidden": "true" }, "User"),
      button("Next message of the user", icon("down"), () => stepToUser(1)),
    ),
    button("Light or dark", icon("theme"), theme.toggle),
  ),
  otherBranch,
);
const intro = el("div", { class: "intro-place" });
const footer = el("footer", { class: "foot" });
const main = el("main", { id: "conversation", tabindex: -1 }, intro, feed.element, footer);

function start(): void {
  const skip = el("a", { class: "skip" }, "Skip to the conversation");
  skip.setAttribute("href", "#conversation");
  const status = el("p", { id: "said", class: "off-screen", role: "status" });
  document.getElementById("app")?.append(skip, bar, el("div", { class: "columns" }, sidebar, main), status);
  setSidebar(isWide());
  listen();
  showIntro();
  load();
}

/** The first block is shown as soon as it is there, the whole when all of it is. */
function load(): void {
  main.setAttribute("aria-busy", "true");
  inSlices(() => {
    if (store.readNext()) {
      if (!hasFirst && store.blockCount() > 0) {
        hasFirst = true;
        session.refresh();
      }
      return false;
    }
    if (!store.end) return waitForMore();
    main.removeAttribute("aria-busy");
    session.refresh();
    showIntro();
    showFooter();
    followHash();
    return true;
  });
}

/** Nothing has arrived for now: looks again in the next frame. */
function waitForMore(): boolean {
  requestAnimationFrame(load);
  return true;
}

function showIntro(): void {
  intro.replaceChildren(introElement(session, folds, store.start, store.end));
  const name = nameOf(store.start, store.end);
  document.title = name;
  bar.querySelector(".bar-name")?.replaceChildren(name);
}

function showFooter(): void {
  const { version = "", exported = "", redacted, sessionId = "" } = store.start;
  footer.replaceChildren(
    el(
      "p",
      {},
      `Session ${sessionId}. Written by Tiller ${version}${exported ? `, ${dayText(Date.parse(exported))}` : ""}.`,
    ),
    el("p", {}, redacted === false ? "Secrets were not looked for." : "Known keys and secrets were replaced."),
    el(
      "p",
      {},
      "Keys: Ctrl+F searches, Enter and Shift+Enter go from hit to hit, Alt+↑ and Alt+↓ go from one message of the user to another.",
    ),
  );
}

function pathChanged(): void {
  outline.reset();
  feed.reset();
  const isOther = session.leaf !== session.currentLeaf;
  otherBranch.hidden = !isOther;
  if (!isOther) return;
  const back = entryLink(session.index.ids[session.currentLeaf] ?? "", {}, "Back to where the session stands");
  otherBranch.replaceChildren("This is another branch. ", back);
}

function showPlace(place: number): void {
  const row = session.rows.rowOf.get(place);
  if (row === undefined) return;
  const id = elementId(session.index.ids[place] ?? "");
  const find = (): Element | null => foundIn(place) ?? document.getElementById(id);
  feed.showRow(row, find);
  const target = document.getElementById(id);
  const article = target?.closest("article");
  for (const old of document.querySelectorAll(".target")) old.classList.remove("target");
  target?.classList.add("target");
  article?.focus({ preventScroll: true });
  if (!isWide()) setSidebar(false);
}

/** The place in the row where what was searched for stands. */
function foundIn(place: number): Element | null {
  if (place !== revealed || search.wanted === "") return null;
  const element = document.getElementById(elementId(session.index.ids[place] ?? ""));
  const range = element ? rangesIn(element.querySelector(".body") ?? element, search.wanted).next().value : undefined;
  return range?.startContainer.parentElement ?? null;
}

function showHit(place: number): void {
  const before = revealedRow;
  revealed = place;
  if (!session.rows.rowOf.has(place)) session.goTo(place);
  revealedRow = session.rows.rowOf.get(place) ?? -1;
  if (before !== revealedRow) feed.rebuild(before);
  feed.rebuild(revealedRow);
  session.goTo(place);
  history.replaceState(null, "", `#${encodeURIComponent(session.index.ids[place] ?? "")}`);
  searchBar.focus();
}

function searchChanged(isSearching: boolean): void {
  revealed = -1;
  revealedRow = -1;
  outlineTitle.textContent = isSearching ? "Found" : "Outline";
  sidebar.replaceChildren(outlineTitle, isSearching ? searchBar.results : outline.element);
  searchBar.refresh();
  outline.refresh();
  paintFound(feed.element, search.wanted);
}

function stepToUser(by: 1 | -1): void {
  const isUser = (row: number): boolean => session.index.kinds[session.rows.entries[row]?.[0] ?? -1] === "user";
  const count = session.rows.entries.length;
  let row = feed.currentRow() + by;
  while (row >= 0 && row < count && !isUser(row)) row += by;
  const place = session.rows.entries[row]?.[0];
  if (place === undefined)
    say(by > 0 ? "This is the last message of the user." : "This is the first message of the user.");
  else session.goTo(place);
  if (place === undefined && by < 0) window.scrollTo(0, 0);
}

function followHash(): void {
  const id = safeDecode(location.hash.slice(1));
  const place = session.index.places.get(id);
  if (place !== undefined) session.goTo(place);
}

function safeDecode(text: string): string {
  try {
    return decodeURIComponent(text);
  } catch {
    // A hash that somebody has typed: it names no entry.
    return "";
  }
}

/** Whether the outline has room beside the conversation. */
const isWide = (): boolean => matchMedia("(min-width: 64rem)").matches;

const isSidebarOpen = (): boolean => document.documentElement.classList.contains("with-outline");

function setSidebar(isOpen: boolean): void {
  document.documentElement.classList.toggle("with-outline", isOpen);
  menu.setAttribute("aria-expanded", String(isOpen));
  sidebar.hidden = !isOpen;
  // Nothing of it was made while it was not to be seen.
  outline.refresh();
  searchBar.refresh();
}

function listen(): void {
  window.addEventListener("hashchange", followHash);
  window.addEventListener("keydown", (event) => {
    const isFind =
      event.key.toLowerCase() === "f" && (event.ctrlKey || event.metaKey) && !event.shiftKey && !event.altKey;
    // A second time it is the search of the browser, which knows only what is on the screen.
    if (isFind && !searchBar.isFocused()) {
      event.preventDefault();
      searchBar.focus();
    } else if (event.altKey && (event.key === "ArrowUp" || event.key === "ArrowDown")) {
      event.preventDefault();
      stepToUser(event.key === "ArrowUp" ? -1 : 1);
    } else if (event.key === "Escape" && !isWide()) setSidebar(false);
  });
  main.addEventListener("click", () => {
    if (!isWide()) setSidebar(false);
  });
  window.addEventListener("beforeprint", () => {
    theme.forPrint(true);
    feed.showAll(MOST_PRINTED);
  });
  window.addEventListener("afterprint", () => {
    theme.forPrint(false);
    feed.showAll(0);
  });
}

start();
