import { isFields, type Kind } from "../html/format.ts";
import { titleOf } from "../model/entry-text.ts";
import { siblingsOf } from "../model/tree.ts";
import { copyButton } from "./copy.ts";
import { type Child, el, elementId, entryLink, icon } from "./dom.ts";
import { type Look, lookOf, type Shown } from "./entry-view.ts";
import type { Folds } from "./fold.ts";
import { clockText, dayText, isoText } from "./numbers.ts";
import type { Session } from "./session.ts";

/** One row of the conversation: the line above it, and what the entry says. */

export function rowElement(session: Session, folds: Folds, row: number): HTMLElement {
  const places = session.rows.entries[row] ?? [];
  const place = places[0] ?? 0;
  const kind = session.index.kinds[place] as Kind;
  const id = session.index.ids[place] ?? "";
  const look = lookOf(kind, shownEntry(session, folds, places));
  const article = el("article", {
    id: elementId(id),
    class: ["row", `kind-${kind}`, look.isSmall && "small", isQuiet(session, row, look) && "quiet", look.tone]
      .filter(Boolean)
      .join(" "),
    tabindex: -1,
    "aria-posinset": row + 1,
    "aria-setsize": session.rows.entries.length,
    "aria-label": `${look.title || titleOf(session.entry(place)) || kind}, ${dayText(session.index.times[place] ?? 0)}`,
  });
  article.append(metaLine(session, place, look), el("div", { class: "body" }, ...look.body));
  return article;
}

/** Whether the line above it would say what the reader knows: it is another answer of the same turn, or only a remark. */
function isQuiet({ index, tree, rows, labels }: Session, row: number, { isSmall, tone }: Look): boolean {
  const place = rows.entries[row]?.[0] ?? 0;
  if (labels.has(index.ids[place] ?? "") || siblingsOf(index, tree, place).length > 1) return false;
  if (isSmall || tone === "landmark") return true;
  const before = rows.entries[row - 1]?.[0] ?? -1;
  return index.kinds[place] === "assistant" && index.kinds[before] === "assistant";
}

function shownEntry(session: Session, folds: Folds, places: readonly number[]): Shown {
  const [place = 0, ...results] = places;
  const entry = fieldsOf(session.entry(place));
  return {
    entry,
    message: messageOf(entry),
    id: session.index.ids[place] ?? "",
    folds,
    spent: session.index.spent.get(place),
    results: results.map((result) => ({
      id: session.index.ids[result] ?? "",
      message: messageOf(fieldsOf(session.entry(result))),
    })),
  };
}

const fieldsOf = (value: unknown): Record<string, unknown> => (isFields(value) ? value : {});
const messageOf = (entry: Record<string, unknown>): Record<string, unknown> =>
  isFields(entry.message) ? entry.message : entry;

function metaLine(session: Session, place: number, look: Look): HTMLElement {
  const { index } = session;
  const time = index.times[place] ?? 0;
  const id = index.ids[place] ?? "";
  const label = session.labels.get(id);
  const title = look.title !== "" && el(index.kinds[place] === "user" ? "h2" : "h3", { class: "who" }, look.title);
  return el(
    "div",
    { class: "meta" },
    title,
    label !== undefined && el("span", { class: "label", title: "label" }, label),
    ...(look.about ?? []),
    branchSwitch(session, place),
    el("span", { class: "space" }),
    look.copies && copyButton("Copy this message", look.copies),
    entryLink(
      id,
      { class: "icon-button permalink", "aria-label": "Link to this entry", title: "Link to this entry" },
      icon("link"),
    ),
    time > 0 && el("time", { datetime: isoText(time), title: dayText(time) }, clockText(time)),
  );
}

/** Where the conversation splits: to the branch before and after this one. */
function branchSwitch({ index, tree }: Session, place: number): Child {
  const siblings = siblingsOf(index, tree, place);
  if (siblings.length < 2) return undefined;
  const own = siblings.indexOf(place);
  const noun = siblings.every((sibling) => index.kinds[sibling] === "assistant") ? "attempt" : "branch";
  const step = (by: number, label: string, name: "left" | "right"): HTMLElement => {
    const target = index.ids[siblings[own + by] ?? -1];
    if (target === undefined) return el("span", { class: "icon-button off" }, icon(name));
    return entryLink(target, { class: "icon-button", "aria-label": label, title: label }, icon(name));
  };
  return el(
    "span",
    { class: "branches", role: "group", "aria-label": `This is one of ${siblings.length}` },
    step(-1, `The ${noun} before`, "left"),
    el("span", {}, `${noun} ${own + 1} of ${siblings.length}`),
    step(1, `The next ${noun}`, "right"),
  );
}
