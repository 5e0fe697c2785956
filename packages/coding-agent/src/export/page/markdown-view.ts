import { type Block, markdownBlocks } from "../text/markdown.ts";
import type { Inline } from "../text/markdown-inline.ts";
import { type Child, el, outerLink } from "./dom.ts";
import { codeBlock } from "./long-text.ts";

/** Markdown as elements. */

/** More is shown when somebody asks for it. */
const FIRST_CHARS = 20_000;

export function markdown(text: string): HTMLElement {
  const place = el("div", { class: "prose", dir: "auto" });
  appendPart(place, text);
  return place;
}

function appendPart(place: HTMLElement, text: string): void {
  const end = partEnd(text);
  place.append(...blocks(markdownBlocks(text.slice(0, end))));
  if (end >= text.length) return;
  const more = el(
    "button",
    { type: "button", class: "more" },
    `Show more (${Math.round((text.length - end) / 1000)} thousand characters left)`,
  );
  more.addEventListener("click", () => {
    more.remove();
    appendPart(place, text.slice(end));
    place.dispatchEvent(new CustomEvent("resized", { bubbles: true }));
  });
  place.append(more);
}

/** After an empty line if there is one, else after a line. */
function partEnd(text: string): number {
  if (text.length <= FIRST_CHARS * 1.2) return text.length;
  const paragraph = text.lastIndexOf("\n\n", FIRST_CHARS);
  if (paragraph > FIRST_CHARS / 2) return paragraph + 2;
  const line = text.lastIndexOf("\n", FIRST_CHARS);
  return line > 0 ? line + 1 : FIRST_CHARS;
}

const blocks = (list: readonly Block[]): HTMLElement[] => list.map(blockElement);

function blockElement(block: Block): HTMLElement {
  switch (block.type) {
    case "heading":
      // Those of the page itself stand above them.
      return el(
        block.level < 2 ? "h4" : block.level < 3 ? "h5" : "h6",
        { class: `level-${block.level}` },
        ...inlines(block.children),
      );
    case "paragraph":
      return el("p", {}, ...inlines(block.children));
    case "code":
      return codeBlock(block.text, block.language);
    case "quote":
      return el("blockquote", {}, ...blocks(block.children));
    case "rule":
      return el("hr");
    case "list":
      return listElement(block);
    case "table":
      return tableElement(block);
  }
}

function listElement({ ordered, start, tight, items }: Block & { type: "list" }): HTMLElement {
  const children = items.map(({ done, children }) => {
    const content = tight ? children.flatMap(withoutParagraph) : blocks(children);
    if (done === undefined) return el("li", {}, ...content);
    const box = el("span", { class: done ? "task done" : "task", role: "img", "aria-label": done ? "done" : "open" });
    return el("li", { class: "task-item" }, box, ...content);
  });
  return ordered ? el("ol", { start: start === 1 ? undefined : start }, ...children) : el("ul", {}, ...children);
}

const withoutParagraph = (block: Block): Child[] =>
  block.type === "paragraph" ? inlines(block.children) : [blockElement(block)];

function tableElement({ align, head, rows }: Block & { type: "table" }): HTMLElement {
  const cell = (tag: "th" | "td") => (content: Inline[], column: number) =>
    el(
      tag,
      { class: align[column] ? `align-${align[column]}` : undefined, scope: tag === "th" ? "col" : undefined },
      ...inlines(content),
    );
  const table = el(
    "table",
    {},
    el("thead", {}, el("tr", {}, ...head.map(cell("th")))),
    el("tbody", {}, ...rows.map((row) => el("tr", {}, ...row.map(cell("td"))))),
  );
  return el("div", { class: "table", tabindex: 0, role: "group", "aria-label": "Table" }, table);
}

function inlines(nodes: readonly Inline[]): Child[] {
  return nodes.map(inlineElement);
}

const TAGS = { strong: "strong", emphasis: "em", strike: "s" } as const;

function inlineElement(node: Inline): Child {
  switch (node.type) {
    case "text":
      return node.text;
    case "code":
      return el("code", {}, node.text);
    case "break":
      return el("br");
    case "link":
      return outerLink(node.url, [node.isImage && "image: ", ...inlines(node.children)]);
    default:
      return el(TAGS[node.type], {}, ...inlines(node.children));
  }
}
