/**
 * What stands inside of a paragraph: emphasis, code, links. Emphasis follows the rules of CommonMark: runs of `*` and `_`
 * that can close something close the nearest that can open it. Pure.
 */

export type Inline =
  | { type: "text"; text: string }
  | { type: "code"; text: string }
  | { type: "break" }
  | { type: "strong" | "emphasis" | "strike"; children: Inline[] }
  /** Nothing is ever loaded for an image: it is a link to it. */
  | { type: "link"; url: string; isImage: boolean; children: Inline[] };

/** Longer ones are a dump, not prose. */
const MOST_CHARS = 50_000;
const MOST_DEPTH = 12;

/** A piece that is done, or a run of signs, or a bracket, that may still become something. */
interface Piece {
  node?: Inline;
  /** The signs that are left of a run, or the bracket. */
  sign: string;
  count: number;
  canOpen: boolean;
  canClose: boolean;
  /** How deep emphasis nests in it. */
  depth: number;
}

export function inlineNodes(text: string): Inline[] {
  return text.length > MOST_CHARS ? [{ type: "text", text }] : parse(text, 0);
}

function parse(text: string, depth: number): Inline[] {
  const pieces: Piece[] = [];
  const scan: Scan = { text, at: 0, pieces, depth, missing: new Set(), openBrackets: [] };
  while (scan.at < text.length) {
    const next = nextSpecial(text, scan.at);
    if (next > scan.at) {
      pieces.push(done({ type: "text", text: text.slice(scan.at, next) }));
      scan.at = next;
      continue;
    }
    const read = READERS[text[next] as string];
    if (!read?.(scan)) {
      pieces.push(done({ type: "text", text: text[next] as string }));
      scan.at += 1;
    }
  }
  return emphasised(pieces);
}

interface Scan {
  text: string;
  at: number;
  pieces: Piece[];
  depth: number;
  /** Lengths of runs of backticks of which there are no more. */
  missing: Set<number>;
  /** Places in `pieces`. */
  openBrackets: { piece: number; at: number; isImage: boolean }[];
}

const SPECIAL = /[\\`*_~[\]!<\n&]|https?:\/\/|mailto:/g;

function nextSpecial(text: string, from: number): number {
  SPECIAL.lastIndex = from;
  return SPECIAL.exec(text)?.index ?? text.length;
}

const done = (node: Inline): Piece => ({ node, sign: "", count: 0, canOpen: false, canClose: false, depth: 0 });

const READERS: Record<string, (scan: Scan) => boolean> = {
  "\\": escaped,
  "`": codeSpan,
  "*": signs,
  _: signs,
  "~": signs,
  "[": (scan) => openBracket(scan, false),
  "!": (scan) => scan.text[scan.at + 1] === "[" && openBracket(scan, true),
  "]": closeBracket,
  "<": angleLink,
  "\n": lineEnd,
  "&": entity,
  h: bareLink,
  m: bareLink,
};

function escaped(scan: Scan): boolean {
  const next = scan.text[scan.at + 1];
  if (next === undefined || !/[!-/:-@[-`{-~\n]/.test(next)) return false;
  scan.pieces.push(done(next === "\n" ? { type: "break" } : { type: "text", text: next }));
  scan.at += 2;
  return true;
}

function codeSpan(scan: Scan): boolean {
  const run = runLength(scan.text, scan.at);
  const close = scan.missing.has(run) ? -1 : closingRun(scan.text, scan.at + run, run);
  if (close < 0) {
    scan.missing.add(run);
    scan.pieces.push(done({ type: "text", text: scan.text.slice(scan.at, scan.at + run) }));
    scan.at += run;
    return true;
  }
  const inner = scan.text.slice(scan.at + run, close).replaceAll("\n", " ");
  const isPadded = inner.startsWith(" ") && inner.endsWith(" ") && inner.trim() !== "";
  scan.pieces.push(done({ type: "code", text: isPadded ? inner.slice(1, -1) : inner }));
  scan.at = close + run;
  return true;
}

function runLength(text: string, at: number): number {
  let end = at;
  while (text[end] === text[at]) end += 1;
  return end - at;
}

function closingRun(text: string, from: number, length: number): number {
  for (let at = text.indexOf("`", from); at >= 0; ) {
    const run = runLength(text, at);
    if (run === length) return at;
    at = text.indexOf("`", at + run);
  }
  return -1;
}

const isSpace = (char: string): boolean => char === "" || /\s/.test(char);
const isPunctuation = (char: string): boolean => /[\p{P}\p{S}]/u.test(char);

/** A run opens something when text follows it, and closes something when text stands before it. */
function signs(scan: Scan): boolean {
  const { text, at } = scan;
  const sign = text[at] as string;
  const count = runLength(text, at);
  const before = text[at - 1] ?? "";
  const after = text[at + count] ?? "";
  const left = !isSpace(after) && (!isPunctuation(after) || isSpace(before) || isPunctuation(before));
  const right = !isSpace(before) && (!isPunctuation(before) || isSpace(after) || isPunctuation(after));
  // Names_with_such_signs are no emphasis.
  const canOpen = left && (sign !== "_" || !right || isPunctuation(before));
  const canClose = right && (sign !== "_" || !left || isPunctuation(after));
  const counts = sign === "~" ? count <= 2 : true;
  scan.pieces.push({ sign, count, canOpen: canOpen && counts, canClose: canClose && counts, depth: 0 });
  scan.at += count;
  return true;
}

function openBracket(scan: Scan, isImage: boolean): boolean {
  const sign = isImage ? "![" : "[";
  scan.openBrackets.push({ piece: scan.pieces.length, at: scan.at, isImage });
  scan.pieces.push(done({ type: "text", text: sign }));
  scan.at += sign.length;
  return true;
}

/** `(url "title")`; parentheses inside of the address in pairs, one level deep. */
const TARGET =
  /\(\s{0,20}(?:<([^<>\n]{0,2000})>|((?:[^\s()\\]|\\.|\((?:[^\s()\\]|\\.){0,500}\)){0,4000}))(?:\s{1,20}(?:"[^"]{0,500}"|'[^']{0,500}'|\([^()]{0,500}\)))?\s{0,20}\)/y;

function closeBracket(scan: Scan): boolean {
  const open = scan.openBrackets.pop();
  if (!open) return false;
  TARGET.lastIndex = scan.at + 1;
  const target = TARGET.exec(scan.text);
  if (!target || scan.depth >= MOST_DEPTH) return false;
  const children = emphasised(scan.pieces.splice(open.piece).slice(1));
  const url = (target[1] ?? target[2] ?? "").replace(/\\([!-/:-@[-`{-~])/g, "$1");
  scan.pieces.push(done({ type: "link", url: decodeEntities(url), isImage: open.isImage, children }));
  // A link has no link inside.
  if (!open.isImage) scan.openBrackets = scan.openBrackets.filter(({ isImage }) => isImage);
  scan.at = TARGET.lastIndex;
  return true;
}

const ANGLE = /<((?:https?:\/\/|mailto:)[^\s<>]{1,2000})>/y;

function angleLink(scan: Scan): boolean {
  ANGLE.lastIndex = scan.at;
  const url = ANGLE.exec(scan.text)?.[1];
  if (url === undefined) return false;
  scan.pieces.push(done({ type: "link", url, isImage: false, children: [{ type: "text", text: url }] }));
  scan.at = ANGLE.lastIndex;
  return true;
}

const BARE = /(?:https?:\/\/[^\s<>"'`\]]{1,2000}|mailto:[^\s<>"'`()\]]{1,200})/y;

function bareLink(scan: Scan): boolean {
  BARE.lastIndex = scan.at;
  const found = BARE.exec(scan.text)?.[0];
  if (found === undefined || /[\p{L}\d]/u.test(scan.text[scan.at - 1] ?? "") || scan.openBrackets.length > 0)
    return false;
  const url = withoutTail(found);
  scan.pieces.push(done({ type: "link", url, isImage: false, children: [{ type: "text", text: url }] }));
  scan.at += url.length;
  return true;
}

/** The sentence around an address ends behind it, not in it. */
function withoutTail(url: string): string {
  let end = url.length;
  let open = 0;
  for (const char of url) open += char === "(" ? 1 : char === ")" ? -1 : 0;
  while (end > 0) {
    const last = url[end - 1] as string;
    if (/[.,:;!?*_~]/.test(last)) end -= 1;
    else if (last === ")" && open < 0) {
      end -= 1;
      open += 1;
    } else break;
  }
  return url.slice(0, end);
}

function lineEnd(scan: Scan): boolean {
  const last = scan.pieces.at(-1)?.node;
  const isHard = last?.type === "text" && last.text.endsWith("  ");
  if (last?.type === "text") last.text = last.text.trimEnd();
  scan.pieces.push(done(isHard ? { type: "break" } : { type: "text", text: "\n" }));
  scan.at += 1;
  return true;
}

const ENTITY =
  /&(?:#(\d{1,7})|#[xX]([\da-fA-F]{1,6})|(amp|lt|gt|quot|apos|nbsp|copy|hellip|mdash|ndash|rarr|larr|times));/y;
const NAMED: Record<string, string> = {
  amp: "&",
  lt: "<",
  gt: ">",
  quot: '"',
  apos: "'",
  nbsp: "\u00a0",
  copy: "©",
  hellip: "…",
  mdash: "—",
  ndash: "–",
  rarr: "→",
  larr: "←",
  times: "×",
};

function entity(scan: Scan): boolean {
  ENTITY.lastIndex = scan.at;
  const found = ENTITY.exec(scan.text);
  if (!found) return false;
  scan.pieces.push(done({ type: "text", text: decoded(found) }));
  scan.at = ENTITY.lastIndex;
  return true;
}

function decoded(found: RegExpExecArray): string {
  if (found[3] !== undefined) return NAMED[found[3]] as string;
  const code = found[1] !== undefined ? Number(found[1]) : Number.parseInt(found[2] as string, 16);
  return code > 0 && code <= 0x10ffff ? String.fromCodePoint(code) : "\ufffd";
}

function decodeEntities(text: string): string {
  let out = "";
  for (let at = 0; at < text.length; ) {
    ENTITY.lastIndex = at;
    const found = text[at] === "&" ? ENTITY.exec(text) : null;
    out += found ? decoded(found) : text[at];
    at += found ? found[0].length : 1;
  }
  return out;
}

/** Pairs up the runs of signs; those that find no partner are text. */
function emphasised(pieces: Piece[]): Inline[] {
  const stack: Piece[] = [];
  for (const piece of pieces) {
    if (piece.node || !piece.canClose) {
      stack.push(piece);
      continue;
    }
    while (piece.count > 0) {
      const open = openerOf(stack, piece);
      if (open < 0 || !pairUp(stack, open, piece)) break;
    }
    if (piece.count > 0) stack.push(piece);
  }
  return merged(stack.map((piece) => piece.node ?? { type: "text", text: piece.sign.repeat(piece.count) }));
}

/** How far back a partner is looked for: a text of nothing but signs must not take for ever. */
const MOST_BACK = 400;

function openerOf(stack: readonly Piece[], close: Piece): number {
  const least = Math.max(0, stack.length - MOST_BACK);
  for (let i = stack.length - 1; i >= least; i -= 1) {
    const open = stack[i] as Piece;
    if (open.node || !open.canOpen || open.sign !== close.sign) continue;
    if (close.sign === "~" && open.count !== close.count) continue;
    const isOdd = (open.canClose || close.canOpen) && (open.count + close.count) % 3 === 0;
    if (!isOdd || (open.count % 3 === 0 && close.count % 3 === 0)) return i;
  }
  return -1;
}

/** False when it would nest too deep. */
function pairUp(stack: Piece[], at: number, close: Piece): boolean {
  const open = stack[at] as Piece;
  let depth = 1;
  for (let i = at + 1; i < stack.length; i += 1) depth = Math.max(depth, (stack[i] as Piece).depth + 1);
  if (depth > MOST_DEPTH) return false;
  const used = close.sign === "~" ? close.count : open.count > 1 && close.count > 1 ? 2 : 1;
  const inner = stack.splice(at + 1);
  const children = merged(inner.map((piece) => piece.node ?? { type: "text", text: piece.sign.repeat(piece.count) }));
  const type = close.sign === "~" ? "strike" : used === 2 ? "strong" : "emphasis";
  open.count -= used;
  close.count -= used;
  if (open.count === 0) stack.pop();
  stack.push({ ...done({ type, children }), depth });
  return true;
}

/** Neighbouring texts as one. */
function merged(nodes: readonly Inline[]): Inline[] {
  const out: Inline[] = [];
  for (const node of nodes) {
    const last = out.at(-1);
    if (node.type === "text" && last?.type === "text") last.text += node.text;
    else out.push(node.type === "text" ? { ...node } : node);
  }
  return out;
}
