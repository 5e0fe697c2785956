import { isFields } from "../html/format.ts";
import { type Child, el } from "./dom.ts";
import { codeBlock, diffBlock, plainBlock, terminalBlock } from "./long-text.ts";
import { markdown } from "./markdown-view.ts";

/** What extensions declare for their own entries, see EntryView in format.ts. All of it is text; the rest is passed over. */

const TONES = ["neutral", "good", "warning", "bad"];

const text = (value: unknown): string => (typeof value === "string" || typeof value === "number" ? String(value) : "");
const list = (value: unknown): unknown[] => (Array.isArray(value) ? value : []);

/** The first of these that declares something to show. */
export function viewIn(...places: unknown[]): { title: Child[]; body: () => Child[] } | undefined {
  for (const place of places) {
    const view = isFields(place) ? place.view : undefined;
    if (!isFields(view) || !Array.isArray(view.blocks)) continue;
    return {
      title: [text(view.title), isFields(view.badge) && badge(text(view.badge.text), text(view.badge.tone))],
      body: () => list(view.blocks).map(viewBlock),
    };
  }
  return undefined;
}

export function badge(label: string, tone = "neutral"): HTMLElement {
  return el("span", { class: `badge ${TONES.includes(tone) ? tone : "neutral"}` }, label);
}

const BLOCKS: Record<string, (block: Record<string, unknown>) => Child> = {
  text: (block) => plainBlock(text(block.text)),
  markdown: (block) => markdown(text(block.text)),
  code: (block) => codeBlock(text(block.text), text(block.language)),
  diff: (block) => diffBlock(text(block.text)),
  terminal: (block) => terminalBlock(text(block.text)),
  badge: (block) => el("p", {}, badge(text(block.text), text(block.tone))),
  fields: (block) => fieldList(list(block.fields).map((field) => list(field).map(text))),
  table: (block) =>
    tableOf(
      list(block.columns).map(text),
      list(block.rows).map((row) => list(row).map(text)),
    ),
};

function viewBlock(block: unknown): Child {
  if (!isFields(block) || typeof block.type !== "string" || !Object.hasOwn(BLOCKS, block.type)) return undefined;
  return BLOCKS[block.type]?.(block);
}

export function fieldList(fields: readonly (readonly string[])[]): HTMLElement {
  return el("dl", { class: "fields" }, ...fields.flatMap(([name, value]) => [el("dt", {}, name), el("dd", {}, value)]));
}

const MOST_ROWS = 500;

function tableOf(columns: readonly string[], rows: readonly (readonly string[])[]): HTMLElement {
  const table = el(
    "table",
    {},
    el("thead", {}, el("tr", {}, ...columns.map((name) => el("th", { scope: "col" }, name)))),
    el("tbody", {}, ...rows.slice(0, MOST_ROWS).map((row) => el("tr", {}, ...row.map((cell) => el("td", {}, cell))))),
  );
  const rest =
    rows.length > MOST_ROWS && el("p", { class: "note" }, `${rows.length - MOST_ROWS} more rows are not shown.`);
  return el("div", { class: "table", tabindex: 0, role: "group", "aria-label": "Table" }, table, rest);
}
