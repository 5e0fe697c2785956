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
  found.sort((a, b) => a.start - b.start);
  for (let i = 1; i < found.length; i++) {
    const [a, b] = [found[i - 1]!, found[i]!];
    if (a.end <= b.start) continue;
    const names = [a.index, b.index].sort((x, y) => x - y).map((index) => `edits[${index}]`);
    throw new Error(
      `${names.join(" and ")} overlap in ${shownPath}. Merge them into one edit or target disjoint regions.`,
    );
  }
  return found.map(({ start, end, newText }) => ({ start, end, newText }));
}

function locate(
  content: string,
  fuzzy: () => FuzzyText,
  { oldText, newText }: Replacement,
  name: string | undefined,
  shownPath: string,
): Region {
  if (oldText === "") throw new Error(`${name ? `${name}.oldText` : "oldText"} must not be empty in ${shownPath}.`);
  const exact = occurrences(content, oldText);
  const matches =
    exact.length > 0 ? exact.map((start) => ({ start, end: start + oldText.length })) : looseMatches(fuzzy(), oldText);
  if (matches.length > 1) throw new Error(ambiguousText(matches.length, name, shownPath));
  const match = matches[0];
  if (!match) throw new Error(missingText(name, shownPath));
  return { ...match, newText };
}

function looseMatches({ text, origins }: FuzzyText, oldText: string): { start: number; end: number }[] {
  const wanted = toFuzzyText(oldText).text;
  if (wanted.trim() === "") return [];
  return (
    occurrences(text, wanted)
      .map((at) => ({ at, start: origins[at]!, end: origins[at + wanted.length]! }))
      // An edge inside what was one character is no match.
      .filter(({ at, start, end }) => origins[at - 1] !== start && origins[at + wanted.length - 1] !== end)
  );
}

function occurrences(text: string, wanted: string): number[] {
  const found: number[] = [];
  for (let at = text.indexOf(wanted); at !== -1; at = text.indexOf(wanted, at + wanted.length)) found.push(at);
  return found;
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
