import { visibleText } from "../text/visible.ts";

/**
 * The only way in which this page makes elements. There is no markup anywhere: tags are written in our sources, text goes
 * into text nodes, and attributes have to be on the list.
 */

export type Child = Node | string | undefined | false;
export type Attributes = Record<string, string | number | boolean | undefined>;

const ATTRIBUTES =
  /^(class|id|title|role|type|for|tabindex|datetime|alt|open|hidden|placeholder|scope|start|disabled|autocomplete|spellcheck|dir|decoding|checked|aria-[a-z]+|data-[a-z]+)$/;

export function el<K extends keyof HTMLElementTagNameMap>(
  tag: K,
  attributes: Attributes = {},
  ...children: Child[]
): HTMLElementTagNameMap[K] {
  const element = document.createElement(tag);
  for (const [name, value] of Object.entries(attributes)) {
    if (value === undefined || value === false) continue;
    if (!ATTRIBUTES.test(name)) throw new Error(`the attribute ${name} is not on the list`);
    element.setAttribute(name, value === true ? "" : visibleText(String(value)));
  }
  addTo(element, children);
  return element;
}

export function addTo(element: Element | DocumentFragment, children: readonly Child[]): void {
  for (const child of children) {
    if (child === undefined || child === false || child === "") continue;
    element.append(typeof child === "string" ? document.createTextNode(visibleText(child)) : child);
  }
}

/** Text that must not turn its surroundings around, however it is written. */
export function isolated(text: string, className?: string): HTMLElement {
  return el("bdi", { class: className }, text);
}

const SAFE_LINK = /^(?:https?:\/\/|mailto:)[^\s]/i;

/** A link to elsewhere, which says nothing of where it is followed from. Any other kind of address stays text. */
export function outerLink(url: string, children: readonly Child[]): HTMLElement {
  if (!SAFE_LINK.test(url)) return el("span", { class: "no-link", title: url }, ...children);
  const link = el("a", { title: url }, ...children);
  link.setAttribute("href", url);
  link.setAttribute("rel", "noopener noreferrer");
  link.setAttribute("target", "_blank");
  return link;
}

/** A link to an entry of this page. */
export function entryLink(id: string, attributes: Attributes, ...children: Child[]): HTMLAnchorElement {
  const link = el("a", attributes, ...children);
  link.setAttribute("href", `#${encodeURIComponent(id)}`);
  return link;
}

/** No entry can take the name of a part of the page. */
export const elementId = (id: string): string => `e-${visibleText(id)}`;

const SVG = "http://www.w3.org/2000/svg";
const SVG_ATTRIBUTES =
  /^(class|viewBox|d|x|y|x1|x2|y1|y2|width|height|points|fill|role|rx|preserveAspectRatio|aria-[a-z]+|data-[a-z]+)$/;

export function svg(
  tag: "svg" | "path" | "rect" | "polyline" | "line" | "g",
  attributes: Attributes,
  ...children: Node[]
): SVGElement {
  const element = document.createElementNS(SVG, tag);
  for (const [name, value] of Object.entries(attributes)) {
    if (!SVG_ATTRIBUTES.test(name)) throw new Error(`the attribute ${name} is not on the list`);
    if (value !== undefined) element.setAttribute(name, String(value));
  }
  element.append(...children);
  return element;
}

/** Drawn on a grid of 16. */
const ICONS = {
  menu: "M2 4h12M2 8h12M2 12h12",
  search: "M7 2.5a4.5 4.5 0 1 0 0 9a4.5 4.5 0 0 0 0-9M10.5 10.5L14 14",
  up: "M3.5 10L8 5.5L12.5 10",
  down: "M3.5 6L8 10.5L12.5 6",
  left: "M10 3.5L5.5 8L10 12.5",
  right: "M6 3.5L10.5 8L6 12.5",
  close: "M4 4l8 8M12 4l-8 8",
  copy: "M5.5 5.5v-3h8v8h-3M2.5 5.5h8v8h-8z",
  check: "M3 8.5L6.5 12L13 4.5",
  link: "M6.5 9.5a2.5 2.5 0 0 0 3.5 0l2.5-2.5a2.5 2.5 0 0 0-3.5-3.5l-1 1M9.5 6.5a2.5 2.5 0 0 0-3.5 0L3.5 9a2.5 2.5 0 0 0 3.5 3.5l1-1",
  theme: "M8 2a6 6 0 1 0 0 12a6 6 0 0 0 0-12M8 2v12M8 4.5h3M8 7h5M8 9.5h5M8 12h3",
} as const;

export function icon(name: keyof typeof ICONS): SVGElement {
  return svg(
    "svg",
    { class: "icon", viewBox: "0 0 16 16", "aria-hidden": "true" },
    svg("path", { d: ICONS[name], fill: "none" }),
  );
}

export function button(
  label: string,
  content: Child,
  onClick: () => void,
  className = "icon-button",
): HTMLButtonElement {
  const element = el("button", { type: "button", class: className, "aria-label": label, title: label }, content);
  element.addEventListener("click", onClick);
  return element;
}
