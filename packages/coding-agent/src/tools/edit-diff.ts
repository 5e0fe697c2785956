import { applyRegions, type Region } from "./edit-match.ts";

/** Shows what an edit changed. The regions are known, so nothing needs to be compared but the lines they touch. Pure. */

export interface EditDiff {
  diff: string;
  /** In the new text, counted from 1. */
  firstChangedLine: number | undefined;
}

const CONTEXT_LINES = 4;

/** Lines of the old text that were replaced by others. `at` counts from 0. */
interface Hunk {
  at: number;
  removed: string[];
  added: string[];
}

export function diffOfRegions(oldText: string, regions: readonly Region[]): EditDiff {
  const hunks = toHunks(oldText, regions);
  const lines = oldText.split("\n");
  // The newline at the end closes the last line and begins none.
  const shownLines = lines[lines.length - 1] === "" ? lines.length - 1 : lines.length;
  const growth = hunks.reduce((sum, hunk) => sum + hunk.added.length - hunk.removed.length, 0);
  const width = String(Math.max(shownLines, shownLines + growth)).length;
  const out: string[] = [];
  const line = (sign: string, number: number, text: string) => out.push(`${sign}${pad(number, width)} ${text}`);

  let next = 0;
  let shift = 0;
  for (const [index, { at, removed, added }] of hunks.entries()) {
    const previousEnd = index === 0 ? 0 : Math.min(next + CONTEXT_LINES, at);
    for (let i = next; i < previousEnd; i++) line(" ", i + 1, lines[i]!);
    const from = Math.max(previousEnd, at - CONTEXT_LINES);
    if (from > previousEnd) out.push(` ${pad("", width)} ...`);
    for (let i = from; i < at; i++) line(" ", i + 1, lines[i]!);
    for (const [i, text] of removed.entries()) line("-", at + i + 1, text);
    for (const [i, text] of added.entries()) line("+", at + shift + i + 1, text);
    next = at + removed.length;
    shift += added.length - removed.length;
  }
  const end = Math.min(next + CONTEXT_LINES, shownLines);
  for (let i = next; i < end; i++) line(" ", i + 1, lines[i]!);
  if (end < shownLines) out.push(` ${pad("", width)} ...`);
  return { diff: out.join("\n"), firstChangedLine: hunks[0] && hunks[0].at + 1 };
}

function pad(value: number | string, width: number): string {
  return String(value).padStart(width);
}

/** Regions that touch the same line become one hunk, cut down to the lines that really differ. */
function toHunks(oldText: string, regions: readonly Region[]): Hunk[] {
  const hunks: Hunk[] = [];
  let line = 0;
  let counted = 0;
  for (let i = 0; i < regions.length; ) {
    const start = lineStart(oldText, regions[i]!.start);
    let end = lineEnd(oldText, regions[i]!.end);
    let after = i + 1;
    while (after < regions.length && regions[after]!.start <= end) {
      end = Math.max(end, lineEnd(oldText, regions[after]!.end));
      after += 1;
    }
    const inside = regions.slice(i, after).map((r) => ({ ...r, start: r.start - start, end: r.end - start }));
    line += countNewlines(oldText, counted, start);
    counted = start;
    const old = oldText.slice(start, end);
    const hunk = trimHunk({ at: line, removed: old.split("\n"), added: applyRegions(old, inside).split("\n") });
    if (hunk.removed.length > 0 || hunk.added.length > 0) hunks.push(hunk);
    i = after;
  }
  return hunks;
}

function trimHunk({ at, removed, added }: Hunk): Hunk {
  const shorter = Math.min(removed.length, added.length);
  let head = 0;
  while (head < shorter && removed[head] === added[head]) head += 1;
  let tail = 0;
  while (tail < shorter - head && removed[removed.length - 1 - tail] === added[added.length - 1 - tail]) tail += 1;
  return {
    at: at + head,
    removed: removed.slice(head, removed.length - tail),
    added: added.slice(head, added.length - tail),
  };
}

function lineStart(text: string, position: number): number {
  return position === 0 ? 0 : text.lastIndexOf("\n", position - 1) + 1;
}

function lineEnd(text: string, position: number): number {
  const at = text.indexOf("\n", position);
  return at === -1 ? text.length : at;
}

function countNewlines(text: string, from: number, to: number): number {
  let count = 0;
  for (let at = text.indexOf("\n", from); at !== -1 && at < to; at = text.indexOf("\n", at + 1)) count += 1;
  return count;
}
