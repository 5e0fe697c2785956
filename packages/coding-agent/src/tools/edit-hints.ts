import { withoutEnding } from "../lib/without-ending.ts";

/** What helps a model to get an edit right at the second try. Pure; only called when an edit has failed. */

const MAX_SHOWN_LINES = 12;
const MAX_SHOWN_CHARS = 200;
/** Of a large file only so many lines are compared letter by letter. */
const MAX_COMPARED_LINES = 50_000;
const MIN_LIKENESS = 0.5;

/** The lines that come nearest to the wanted text; empty when nothing is like it. */
export function missingHint(content: string, oldText: string): string {
  const lines = content.split("\n");
  const wanted = withoutEnding(oldText, "\n").replace(/^\n+/, "").split("\n");
  const start = startByEqualLines(lines, wanted) ?? startByLikeness(lines, wanted);
  if (start === undefined) return "";
  const shown = lines.slice(start, start + Math.min(wanted.length, MAX_SHOWN_LINES));
  const onlyBlanks = squeeze(lines.slice(start, start + wanted.length).join("")) === squeeze(wanted.join(""));
  const heading = onlyBlanks ? "Nearest lines in the file (only whitespace differs):" : "Nearest lines in the file:";
  return `\n\n${heading}\n${numbered(shown, start)}`;
}

/** Where a text that should be there once begins each time. */
export function ambiguousHint(content: string, starts: readonly number[]): string {
  const shown: string[] = [];
  let line = 1;
  let counted = 0;
  for (const start of starts.slice(0, MAX_SHOWN_LINES)) {
    for (let at = content.indexOf("\n", counted); at !== -1 && at < start; at = content.indexOf("\n", at + 1))
      line += 1;
    counted = start;
    const begin = start === 0 ? 0 : content.lastIndexOf("\n", start - 1) + 1;
    const end = content.indexOf("\n", start);
    shown.push(`${line}: ${cut(content.slice(begin, end === -1 ? content.length : end))}`);
  }
  if (starts.length > shown.length) shown.push("...");
  return `\n\nThey begin in these lines:\n${shown.join("\n")}`;
}

/** Every line that is the same but for blanks votes for the place where the text would begin; long lines count more. */
function startByEqualLines(lines: readonly string[], wanted: readonly string[]): number | undefined {
  const places = new Map<string, number[]>();
  for (const [index, line] of wanted.entries()) {
    const key = squeeze(line);
    if (/[\p{L}\p{N}]/u.test(key)) places.set(key, [...(places.get(key) ?? []), index]);
  }
  if (places.size === 0) return undefined;
  const votes = new Map<number, number>();
  for (const [index, line] of lines.entries()) {
    const key = squeeze(line);
    for (const place of places.get(key) ?? []) {
      if (index >= place) votes.set(index - place, (votes.get(index - place) ?? 0) + key.length);
    }
  }
  return best([...votes]);
}

/** By pairs of letters, for the longest of the wanted lines. */
function startByLikeness(lines: readonly string[], wanted: readonly string[]): number | undefined {
  const longest = wanted.reduce((a, b) => (squeeze(b).length > squeeze(a).length ? b : a));
  const pairs = pairsOf(longest);
  if (pairs.size === 0) return undefined;
  const place = wanted.indexOf(longest);
  const scores: [number, number][] = [];
  for (const [index, line] of lines.slice(0, MAX_COMPARED_LINES).entries()) {
    const likeness = likenessOf(pairs, pairsOf(line));
    if (likeness >= MIN_LIKENESS) scores.push([Math.max(0, index - place), likeness]);
  }
  return best(scores);
}

function best(scores: readonly (readonly [place: number, score: number])[]): number | undefined {
  let winner: readonly [number, number] | undefined;
  for (const candidate of scores) if (!winner || candidate[1] > winner[1]) winner = candidate;
  return winner?.[0];
}

function pairsOf(line: string): Set<string> {
  const text = squeeze(line.slice(0, MAX_SHOWN_CHARS)).toLowerCase();
  const pairs = new Set<string>();
  for (let i = 0; i + 1 < text.length; i++) pairs.add(text.slice(i, i + 2));
  return pairs;
}

/** From 0 to 1: twice the common part over both. */
function likenessOf(a: ReadonlySet<string>, b: ReadonlySet<string>): number {
  if (b.size === 0) return 0;
  let common = 0;
  for (const pair of b) if (a.has(pair)) common += 1;
  return (2 * common) / (a.size + b.size);
}

function squeeze(text: string): string {
  return text.replace(/\s+/g, "");
}

function numbered(lines: readonly string[], start: number): string {
  return lines.map((line, index) => `${start + index + 1}: ${cut(line)}`).join("\n");
}

function cut(line: string): string {
  return line.length > MAX_SHOWN_CHARS ? `${line.slice(0, MAX_SHOWN_CHARS).toWellFormed()}...` : line;
}
