import { applyRegions, type Region } from "./edit-match.ts";
import { changedLines } from "./line-diff.ts";

/** Shows what an edit changed. The regions are known, so nothing needs to be compared but the lines they touch. Pure. */

export interface EditDiff {
  diff: string;
  /** In the new text, counted from 1. */
  firstChangedLine: number | undefined;
}

const CONTEXT_LINES = 4;

/** Lines of the old text that were replaced by others. */
interface Hunk {
  /** The first of them, counted from 0. */
  at: number;
  removed: string[];
  added: string[];
  /** Where the removed lines begin in the old text, and where the line after them does. */
  start: number;
  end: number;
}

export function diffOfRegions(oldText: string, regions: readonly Region[]): EditDiff {
  const hunks = toHunks(oldText, regions);
  const total = lineCount(oldText);
  const growth = hunks.reduce((sum, hunk) => sum + hunk.added.length - hunk.removed.length, 0);
  const width = String(Math.max(total, total + growth)).length;
  const out: string[] = [];
  const show = (sign: string, first: number, lines: readonly string[]) => {
    for (const [i, text] of lines.entries()) out.push(`${sign}${pad(first + i + 1, width)} ${text}`);
  };
  const gap = ` ${pad("", width)} ...`;

  let shift = 0;
  let previous: Hunk | undefined;
  for (const hunk of hunks) {
    const between = hunk.at - (previous ? previous.at + previous.removed.length : 0);
    const after = previous ? Math.min(CONTEXT_LINES, between) : 0;
    if (previous) show(" ", hunk.at - between, linesFrom(oldText, previous.end, after));
    const before = Math.min(CONTEXT_LINES, between - after);
    if (after + before < between) out.push(gap);
    show(" ", hunk.at - before, linesUpTo(oldText, hunk.start, before));
    show("-", hunk.at, hunk.removed);
    show("+", hunk.at + shift, hunk.added);
    shift += hunk.added.length - hunk.removed.length;
    previous = hunk;
  }
  if (previous) {
    const next = previous.at + previous.removed.length;
    const after = Math.max(0, Math.min(CONTEXT_LINES, total - next));
    show(" ", next, linesFrom(oldText, previous.end, after));
    if (next + after < total) out.push(gap);
  }
  return { diff: out.join("\n"), firstChangedLine: hunks[0] && hunks[0].at + 1 };
}

function pad(value: number | string, width: number): string {
  return String(value).padStart(width);
}

/** Regions in the same line or in neighbouring ones are looked at together, and cut down to the lines that really differ. */
function toHunks(oldText: string, regions: readonly Region[]): Hunk[] {
  const hunks: Hunk[] = [];
  let line = 0;
  let counted = 0;
  for (let i = 0; i < regions.length; ) {
    const start = lineStart(oldText, regions[i]!.start);
    let end = lineEnd(oldText, regions[i]!.end);
    let after = i + 1;
    while (after < regions.length && regions[after]!.start <= end + 1) {
      end = Math.max(end, lineEnd(oldText, regions[after]!.end));
      after += 1;
    }
    const inside = regions.slice(i, after).map((r) => ({ ...r, start: r.start - start, end: r.end - start }));
    line += countNewlines(oldText, counted, start);
    counted = start;
    const old = oldText.slice(start, end);
    hunks.push(...hunksOfBlock(old.split("\n"), applyRegions(old, inside).split("\n"), line, start));
    i = after;
  }
  return hunks;
}

function hunksOfBlock(oldLines: string[], newLines: string[], line: number, start: number): Hunk[] {
  const offsets = [start];
  for (const text of oldLines) offsets.push(offsets.at(-1)! + text.length + 1);
  return changedLines(oldLines, newLines).map(({ oldFrom, oldTo, newFrom, newTo }) => ({
    at: line + oldFrom,
    removed: oldLines.slice(oldFrom, oldTo),
    added: newLines.slice(newFrom, newTo),
    start: offsets[oldFrom]!,
    end: offsets[oldTo]!,
  }));
}

/** The lines that begin at a position and after it. */
function linesFrom(text: string, position: number, count: number): string[] {
  const lines: string[] = [];
  for (let start = position; lines.length < count; ) {
    const end = lineEnd(text, start);
    lines.push(text.slice(start, end));
    start = end + 1;
  }
  return lines;
}

/** The lines before the one that begins at a position. */
function linesUpTo(text: string, position: number, count: number): string[] {
  const lines: string[] = [];
  for (let end = position - 1; lines.length < count; ) {
    const start = lineStart(text, end);
    lines.unshift(text.slice(start, end));
    end = start - 1;
  }
  return lines;
}

function lineStart(text: string, position: number): number {
  return position === 0 ? 0 : text.lastIndexOf("\n", position - 1) + 1;
}

function lineEnd(text: string, position: number): number {
  const at = text.indexOf("\n", position);
  return at === -1 ? text.length : at;
}

/** The newline at the end closes the last line and begins none. */
function lineCount(text: string): number {
  return countNewlines(text, 0, text.length) + (text === "" || text.endsWith("\n") ? 0 : 1);
}

function countNewlines(text: string, from: number, to: number): number {
  let count = 0;
  for (let at = text.indexOf("\n", from); at !== -1 && at < to; at = text.indexOf("\n", at + 1)) count += 1;
  return count;
}
