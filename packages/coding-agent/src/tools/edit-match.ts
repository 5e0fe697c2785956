import { ambiguousHint, missingHint } from "./edit-hints.ts";
import { type FuzzyText, toFuzzyText } from "./fuzzy-text.ts";

/** Finds where replacements go. Pure; every replacement is looked for in the original text, none in the result of another. */

export interface Replacement {
  oldText: string;
  newText: string;
}

/** A stretch of the original and what stands there instead. */
export interface Region {
  start: number;
  end: number;
  newText: string;
}

/** The regions in the order of the text. Throws what the model shall read when one is missing, ambiguous or overlaps. */
export function locateReplacements(content: string, edits: readonly Replacement[], shownPath: string): Region[] {
  let fuzzy: FuzzyText | undefined;
  const lazyFuzzy = () => {
    fuzzy ??= toFuzzyText(content);
    return fuzzy;
  };
  const found = edits.map((edit, index) => {
    const name = edits.length > 1 ? `edits[${index}]` : undefined;
    return { ...locate(content, lazyFuzzy, edit, name, shownPath), index };
  });
  found.sort((a, b) => a.start - b.start || a.end - b.end);
  for (let i = 1; i < found.length; i++) {
    const [a, b] = [found[i - 1]!, found[i]!];
    if (a.end <= b.start) continue;
    const names = [a.index, b.index].sort((x, y) => x - y).map((index) => `edits[${index}]`);
    throw new Error(
      `${names.join(" and ")} overlap in ${shownPath}. Merge them into one edit or target disjoint regions.`,
    );
  }
  return found.flatMap(({ pieces }) => pieces);
}

/** Where the old text stands, and the parts of it that change. */
interface Located {
  start: number;
  end: number;
  pieces: Region[];
}

function locate(
  content: string,
  fuzzy: () => FuzzyText,
  edit: Replacement,
  name: string | undefined,
  shownPath: string,
): Located {
  const { oldText } = edit;
  if (oldText === "") throw new Error(`${name ? `${name}.oldText` : "oldText"} must not be empty in ${shownPath}.`);
  const exact = occurrences(content, oldText);
  const positions = exact.length > 0 ? exact : looseMatches(fuzzy(), oldText);
  if (positions.length > 1) {
    const starts = exact.length > 0 ? exact : positions.map((at) => fuzzy().originOf(at));
    throw new Error(ambiguousText(positions.length, name, shownPath) + ambiguousHint(content, starts));
  }
  const [at] = positions;
  if (at === undefined) throw new Error(missingText(name, shownPath) + missingHint(content, oldText));
  if (exact.length > 0) return { start: at, end: at + oldText.length, pieces: changedParts(edit, at, (i) => at + i) };
  return locateLoosely(fuzzy(), edit, at);
}

function locateLoosely(loose: FuzzyText, edit: Replacement, at: number): Located {
  const { oldText } = edit;
  const start = loose.originOf(at);
  const end = loose.endOf(at + toFuzzyText(oldText).text.length, /[^\S\n]$/.test(oldText));
  /** From the beginning of a line in the text as the model wrote it, or from its end, to the file as it is. */
  const toOriginal = (i: number) => (i === oldText.length ? end : loose.originOf(at + looseLength(oldText, i)));
  return { start, end, pieces: changedParts(edit, start, toOriginal) };
}

/** How long the beginning of a text is in its loose form, up to the beginning of a line. */
function looseLength(text: string, lineStart: number): number {
  return lineStart === 0 ? 0 : toFuzzyText(text.slice(0, lineStart - 1)).text.length + 1;
}

/**
 * Lines that the model only repeated, before and after what it changed, are left out of the region: they stay in the file
 * as they are, with their own quotes, blanks and line ends. `toOriginal` is asked for beginnings of lines and the end.
 */
function changedParts({ oldText, newText }: Replacement, start: number, toOriginal: (at: number) => number): Region[] {
  const [oldLines, newLines] = [withEnds(oldText), withEnds(newText)];
  const shorter = Math.min(oldLines.length, newLines.length);
  let head = 0;
  let from = 0;
  // The last line may go on in the file, so it counts as repeated only together with its end.
  while (head < shorter && oldLines[head] === newLines[head] && oldLines[head]!.endsWith("\n")) {
    from += oldLines[head]!.length;
    head += 1;
  }
  let tail = 0;
  let to = 0;
  while (tail < shorter - head && oldLines.at(-1 - tail) === newLines.at(-1 - tail)) {
    to += oldLines.at(-1 - tail)!.length;
    tail += 1;
  }
  if (from + to >= oldText.length && from + to >= newText.length) return [];
  return [
    {
      start: from === 0 ? start : toOriginal(from),
      end: toOriginal(oldText.length - to),
      newText: newText.slice(from, newText.length - to),
    },
  ];
}

/** Lines with their newline. */
function withEnds(text: string): string[] {
  return text.match(/[^\n]*\n|[^\n]+$/g) ?? [];
}

function looseMatches({ text, isBorder }: FuzzyText, oldText: string): number[] {
  const wanted = toFuzzyText(oldText).text;
  if (wanted.trim() === "") return [];
  return occurrences(text, wanted).filter((at) => isBorder(at) && isBorder(at + wanted.length));
}

/** Two that overlap are two: nobody can know which one was meant. */
function occurrences(text: string, wanted: string): number[] {
  const found: number[] = [];
  for (let at = text.indexOf(wanted); at !== -1; at = text.indexOf(wanted, at + wanted.length)) found.push(at);
  const [first] = found;
  if (first === undefined || found.length > 1) return found;
  const overlapping = text.slice(first + 1, first + 2 * wanted.length - 1).indexOf(wanted);
  return overlapping === -1 ? found : [first, first + 1 + overlapping];
}

function missingText(name: string | undefined, shownPath: string): string {
  return name
    ? `Could not find ${name} in ${shownPath}. The oldText must match exactly including all whitespace and newlines.`
    : `Could not find the exact text in ${shownPath}. The old text must match exactly including all whitespace and newlines.`;
}

function ambiguousText(count: number, name: string | undefined, shownPath: string): string {
  return name
    ? `Found ${count} occurrences of ${name} in ${shownPath}. Each oldText must be unique. Please provide more context to make it unique.`
    : `Found ${count} occurrences of the text in ${shownPath}. The text must be unique. Please provide more context to make it unique.`;
}

export function applyRegions(content: string, regions: readonly Region[]): string {
  let result = "";
  let position = 0;
  for (const { start, end, newText } of regions) {
    result += content.slice(position, start) + newText;
    position = end;
  }
  return result + content.slice(position);
}
