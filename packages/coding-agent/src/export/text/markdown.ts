import { type Inline, inlineNodes } from "./markdown-inline.ts";
import { type Cell, isDelimiterRow, tableCells } from "./markdown-table.ts";

/**
 * Markdown as a tree: CommonMark as models write it, with tables, task lists and strikethrough. Raw HTML is text like any
 * other. It takes time with the length of the text, and no nesting is deeper than MOST_DEPTH. Pure.
 */

export type Block =
  | { type: "heading"; level: number; children: Inline[] }
  | { type: "paragraph"; children: Inline[] }
  | { type: "code"; language: string; text: string }
  | { type: "quote"; children: Block[] }
  | { type: "list"; ordered: boolean; start: number; tight: boolean; items: ListItem[] }
  | { type: "table"; align: Cell["align"][]; head: Inline[][]; rows: Inline[][][] }
  | { type: "rule" };

export interface ListItem {
  /** Of a task: whether it is done. */
  done?: boolean;
  children: Block[];
}

const MOST_DEPTH = 12;

const FENCE = /^( {0,3})(`{3,}(?=[^`]*$)|~{3,})/;
const HEADING = /^ {0,3}(#{1,6})(?=[ \t]|$)/;
const RULE = /^ {0,3}(?:(?:\*[ \t]*){3,}|(?:-[ \t]*){3,}|(?:_[ \t]*){3,})$/;
const QUOTE = /^ {0,3}> ?/;
const BULLET = /^( {0,3})([-*+])( {1,4}(?=\S)|[ \t]+|$)/;
const NUMBER = /^( {0,3})(\d{1,9})([.)])( {1,4}(?=\S)|[ \t]+|$)/;
const SETEXT = /^ {0,3}(=+|-+)[ \t]*$/;
const TASK = /^\[([ xX])\][ \t]+/;
const BLANK = /^[ \t]*$/;

export function markdownBlocks(text: string): Block[] {
  return blocksOf(text.replace(/\r\n?/g, "\n").split("\n"), 0);
}

interface Cursor {
  lines: readonly string[];
  at: number;
  depth: number;
}

/** In the order in which they are tried; each takes lines and says what they are, or takes none. */
const READERS: readonly ((cursor: Cursor) => Block | undefined)[] = [
  fence,
  indented,
  heading,
  rule,
  quote,
  list,
  table,
];

function blocksOf(lines: readonly string[], depth: number): Block[] {
  const cursor: Cursor = { lines, at: 0, depth };
  const blocks: Block[] = [];
  while (cursor.at < lines.length) {
    if (BLANK.test(lines[cursor.at] as string)) {
      cursor.at += 1;
      continue;
    }
    blocks.push(nextBlock(cursor));
  }
  return blocks;
}

function nextBlock(cursor: Cursor): Block {
  for (const read of READERS) {
    const block = read(cursor);
    if (block) return block;
  }
  return paragraph(cursor);
}

const line = ({ lines, at }: Cursor): string => lines[at] ?? "";

function fence(cursor: Cursor): Block | undefined {
  const open = FENCE.exec(line(cursor));
  if (!open) return undefined;
  const [whole, indent = "", mark = ""] = open;
  const language = line(cursor).slice(whole.length).trim().split(/\s/, 1)[0] ?? "";
  const close = new RegExp(`^ {0,3}\\${mark[0]}{${mark.length},}[ \\t]*$`);
  const strip = new RegExp(`^ {0,${indent.length}}`);
  const text: string[] = [];
  for (cursor.at += 1; cursor.at < cursor.lines.length && !close.test(line(cursor)); cursor.at += 1) {
    text.push(indent === "" ? line(cursor) : line(cursor).replace(strip, ""));
  }
  cursor.at += 1;
  return { type: "code", language, text: text.join("\n") };
}

const CODE_INDENT = /^(?: {4}| {0,3}\t)/;

function indented(cursor: Cursor): Block | undefined {
  if (!CODE_INDENT.test(line(cursor))) return undefined;
  const text: string[] = [];
  while (cursor.at < cursor.lines.length && (CODE_INDENT.test(line(cursor)) || BLANK.test(line(cursor)))) {
    text.push(line(cursor).replace(CODE_INDENT, ""));
    cursor.at += 1;
  }
  return { type: "code", language: "", text: text.join("\n").trimEnd() };
}

function heading(cursor: Cursor): Block | undefined {
  const found = HEADING.exec(line(cursor));
  if (!found) return undefined;
  const text = line(cursor).slice(found[0].length).trim();
  // Signs may close a heading as well; those that stand right behind a word belong to it.
  let end = text.length;
  while (text[end - 1] === "#") end -= 1;
  const isClosed = end === 0 || text[end - 1] === " " || text[end - 1] === "\t";
  cursor.at += 1;
  return {
    type: "heading",
    level: (found[1] as string).length,
    children: inlineNodes(isClosed ? text.slice(0, end).trimEnd() : text),
  };
}

function rule(cursor: Cursor): Block | undefined {
  if (!RULE.test(line(cursor))) return undefined;
  cursor.at += 1;
  return { type: "rule" };
}

function quote(cursor: Cursor): Block | undefined {
  if (!QUOTE.test(line(cursor)) || cursor.depth >= MOST_DEPTH) return undefined;
  const inner: string[] = [];
  // A line of plain text right after belongs to it, as in mail.
  while (cursor.at < cursor.lines.length && (QUOTE.test(line(cursor)) || (inner.length > 0 && isPlain(line(cursor))))) {
    inner.push(line(cursor).replace(QUOTE, ""));
    cursor.at += 1;
  }
  return { type: "quote", children: blocksOf(inner, cursor.depth + 1) };
}

interface Marker {
  ordered: boolean;
  start: number;
  /** The same list goes on only with the same sign. */
  sign: string;
  /** How far its text is indented. */
  width: number;
  isEmpty: boolean;
}

function markerOf(text: string): Marker | undefined {
  const bullet = RULE.test(text) ? null : BULLET.exec(text);
  if (bullet) return { ordered: false, start: 1, sign: bullet[2] as string, ...widthOf(bullet, text) };
  const number = NUMBER.exec(text);
  return number
    ? { ordered: true, start: Number(number[2]), sign: number[3] as string, ...widthOf(number, text) }
    : undefined;
}

function widthOf(found: RegExpExecArray, text: string): { width: number; isEmpty: boolean } {
  const isEmpty = found[0].trim() === text.trim();
  const space = found.at(-1) as string;
  // Code behind a sign is indented by more than the one space that belongs to the sign.
  return { width: isEmpty || space.length > 4 ? found[0].length - space.length + 1 : found[0].length, isEmpty };
}

function list(cursor: Cursor): Block | undefined {
  const first = cursor.depth < MOST_DEPTH ? markerOf(line(cursor)) : undefined;
  if (!first) return undefined;
  const items: ListItem[] = [];
  let isLoose = false;
  for (;;) {
    const marker = markerOf(line(cursor));
    if (!marker || marker.ordered !== first.ordered || marker.sign !== first.sign) break;
    const { lines, hasBlank } = itemLines(cursor, marker);
    items.push(listItem(lines, cursor.depth + 1));
    const before = cursor.at;
    while (cursor.at < cursor.lines.length && BLANK.test(line(cursor))) cursor.at += 1;
    const goesOn = cursor.at < cursor.lines.length && markerOf(line(cursor)) !== undefined;
    isLoose ||= hasBlank || (goesOn && cursor.at > before);
    if (!goesOn) break;
  }
  return { type: "list", ordered: first.ordered, start: first.start, tight: !isLoose, items };
}

/** The lines that belong to an item, without their indentation. */
function itemLines(cursor: Cursor, marker: Marker): { lines: string[]; hasBlank: boolean } {
  const lines = [line(cursor).slice(marker.width)];
  let hasBlank = false;
  cursor.at += 1;
  while (cursor.at < cursor.lines.length) {
    const text = line(cursor);
    if (BLANK.test(text)) {
      const next = nextFilled(cursor);
      if (next === undefined || indentOf(next) < marker.width || lines.length === 0) break;
      hasBlank ||= indentOf(next) < marker.width + 2 && !BLANK.test(lines.at(-1) ?? "");
      lines.push("");
    } else if (indentOf(text) >= marker.width) {
      lines.push(text.slice(marker.width));
    } else if (isPlain(text) && !markerOf(text) && !BLANK.test(lines.at(-1) ?? "")) {
      lines.push(text.trimStart());
    } else break;
    cursor.at += 1;
  }
  return { lines, hasBlank };
}

function nextFilled({ lines, at }: Cursor): string | undefined {
  for (let next = at; next < lines.length && next < at + 50; next += 1) {
    if (!BLANK.test(lines[next] as string)) return lines[next];
  }
  return undefined;
}

const indentOf = (text: string): number => /^ */.exec(text)?.[0].length ?? 0;

function listItem(lines: string[], depth: number): ListItem {
  const task = TASK.exec(lines[0] ?? "");
  if (!task) return { children: blocksOf(lines, depth) };
  lines[0] = (lines[0] as string).slice(task[0].length);
  return { done: task[1] !== " ", children: blocksOf(lines, depth) };
}

function table(cursor: Cursor): Block | undefined {
  const next = cursor.lines[cursor.at + 1];
  if (next === undefined || !line(cursor).includes("|") || !isDelimiterRow(next)) return undefined;
  const align = tableCells(next).map(({ align }) => align);
  const head = tableCells(line(cursor));
  if (head.length !== align.length) return undefined;
  const rows: Inline[][][] = [];
  for (cursor.at += 2; cursor.at < cursor.lines.length; cursor.at += 1) {
    if (BLANK.test(line(cursor)) || !line(cursor).includes("|")) break;
    const cells = tableCells(line(cursor));
    rows.push(align.map((_, i) => inlineNodes(cells[i]?.text ?? "")));
  }
  return { type: "table", align, head: head.map(({ text }) => inlineNodes(text)), rows };
}

/** Whether a line can only be the continuation of a paragraph. */
function isPlain(text: string): boolean {
  if (BLANK.test(text) || FENCE.test(text) || HEADING.test(text) || RULE.test(text) || QUOTE.test(text)) return false;
  const marker = markerOf(text);
  // A number other than 1, or a sign without text, does not interrupt one.
  return !marker || marker.isEmpty || (marker.ordered && marker.start !== 1);
}

function paragraph(cursor: Cursor): Block {
  const text = [line(cursor)];
  for (cursor.at += 1; cursor.at < cursor.lines.length; cursor.at += 1) {
    const setext = SETEXT.exec(line(cursor));
    if (setext) {
      cursor.at += 1;
      return { type: "heading", level: setext[1]?.startsWith("=") ? 1 : 2, children: inlineNodes(joined(text)) };
    }
    if (!isPlain(line(cursor))) break;
    text.push(line(cursor));
  }
  return { type: "paragraph", children: inlineNodes(joined(text)) };
}

const joined = (lines: readonly string[]): string =>
  lines
    .map((text) => text.replace(/^[ \t]+/, ""))
    .join("\n")
    .trimEnd();
