/** A looser reading of a text for finding, with the way back to the original: models retype quotes, dashes and blanks. */
export interface FuzzyText {
  text: string;
  /** For each position in `text`, and for its end, the position in the original. */
  origins: number[];
}

const PLAIN_LINE = /^[\t -~]*$/;
/** A character with the marks that combine with it. */
const CHARACTERS = /\P{M}\p{M}*|\p{M}+/gu;

const LOOKALIKES: readonly [RegExp, string][] = [
  [/[\u2018-\u201b]/g, "'"],
  [/[\u201c-\u201f]/g, '"'],
  [/[\u2010-\u2015\u2212]/g, "-"],
  [/[\u00a0\u2000-\u200a\u202f\u205f\u3000]/g, " "],
];

/** Quotes, dashes and spaces become plain ones, compatible characters (NFKC) the same, and blanks at line ends go. */
export function toFuzzyText(original: string): FuzzyText {
  const origins: number[] = [];
  const lines: string[] = [];
  let lineStart = 0;
  for (const line of original.split("\n")) {
    lines.push(loosenLine(line.trimEnd(), lineStart, origins));
    lineStart += line.length + 1;
    origins.push(lineStart - 1);
  }
  return { text: lines.join("\n"), origins };
}

function loosenLine(line: string, lineStart: number, origins: number[]): string {
  if (PLAIN_LINE.test(line)) {
    for (let i = 0; i < line.length; i++) origins.push(lineStart + i);
    return line;
  }
  let text = "";
  for (const match of line.matchAll(CHARACTERS)) {
    const loose = loosen(match[0]);
    // What became something else stands as a whole for the character it was.
    for (let i = 0; i < loose.length; i++) origins.push(lineStart + match.index + (loose === match[0] ? i : 0));
    text += loose;
  }
  return text;
}

function loosen(character: string): string {
  let text = character;
  for (const [pattern, plain] of LOOKALIKES) text = text.replace(pattern, plain);
  return text.normalize("NFKC");
}
