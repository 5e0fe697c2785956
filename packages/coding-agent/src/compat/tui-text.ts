/** How wide text is on a terminal, and how it is cut and wrapped there. Pure. */

const ESC = "\x1b";
const BELL = "\x07";
const STRING = String.raw`[\]P_^X][^${BELL}${ESC}]*(?:${BELL}|${ESC}\\)`;
/** Colours and cursor (CSI), titles and links (OSC, APC and their kin), and two-character sequences. */
const SEQUENCE = new RegExp(String.raw`${ESC}(?:\[[0-?]*[ -/]*[@-~]|${STRING}|[@-Z\\^_=>])`, "y");

/** Two columns: East Asian wide letters and pictures. */
const WIDE =
  /[\u1100-\u115f\u2e80-\u303e\u3041-\u33ff\u3400-\u4dbf\u4e00-\u9fff\ua000-\ua4cf\uac00-\ud7a3\uf900-\ufaff\ufe30-\ufe6f\uff00-\uff60\uffe0-\uffe6\u{1f300}-\u{1f64f}\u{1f680}-\u{1f6ff}\u{1f900}-\u{1f9ff}\u{20000}-\u{3fffd}]/u;
/** No column: what is put upon the letter before, what joins letters, and control characters. */
const NO_WIDTH = /[\p{Mn}\p{Me}\p{Cf}\p{Cc}]/u;
const TAB_WIDTH = 3;

/** A piece that is never cut: a character, or a whole sequence (which has no width). */
interface Piece {
  text: string;
  width: number;
}

function* piecesOf(text: string): Generator<Piece> {
  for (let at = 0; at < text.length; ) {
    SEQUENCE.lastIndex = at;
    const sequence = text[at] === ESC ? SEQUENCE.exec(text)?.[0] : undefined;
    const piece = sequence ?? String.fromCodePoint(text.codePointAt(at)!);
    yield { text: piece, width: sequence ? 0 : characterWidth(piece) };
    at += piece.length;
  }
}

function characterWidth(character: string): number {
  if (character === "\t") return TAB_WIDTH;
  if (character >= " " && character <= "~") return 1;
  if (NO_WIDTH.test(character)) return 0;
  return WIDE.test(character) ? 2 : 1;
}

export function visibleWidth(text: string): number {
  let width = 0;
  for (const piece of piecesOf(text)) width += piece.width;
  return width;
}

export function stripTerminalSequences(text: string): string {
  let plain = "";
  for (const piece of piecesOf(text)) if (!piece.text.startsWith(ESC)) plain += piece.text;
  return plain;
}

/** Cut to a width, with a mark where something is missing; `pad` fills up what is shorter. */
export function truncateToWidth(text: string, maxWidth: number, ellipsis = "...", pad = false): string {
  const width = visibleWidth(text);
  if (width <= maxWidth) return pad ? text + " ".repeat(maxWidth - width) : text;
  const mark = visibleWidth(ellipsis) <= maxWidth ? ellipsis : "";
  const cut = sliceByColumn(text, 0, Math.max(0, maxWidth - visibleWidth(mark)));
  // What was coloured is not to colour the mark and what follows it.
  const reset = cut.includes(`${ESC}[`) ? `${ESC}[0m` : "";
  const whole = cut + reset + mark;
  return pad ? whole + " ".repeat(Math.max(0, maxWidth - visibleWidth(whole))) : whole;
}

/** The characters in so many columns from one on; sequences before the end are kept. */
export function sliceByColumn(text: string, start: number, length: number): string {
  let column = 0;
  let slice = "";
  for (const piece of piecesOf(text)) {
    if (piece.width > 0 && column + piece.width > start + length) break;
    if (piece.width === 0 || column >= start) slice += piece.text;
    column += piece.width;
  }
  return slice;
}

/** Lines no wider than that, broken between words where there are any. */
export function wrapTextWithAnsi(text: string, width: number): string[] {
  return text.split("\n").flatMap((line) => wrapLine(line, Math.max(1, width)));
}

function wrapLine(line: string, width: number): string[] {
  if (visibleWidth(line) <= width) return [line];
  const lines: string[] = [];
  let current = "";
  let used = 0;
  const flush = (): void => {
    lines.push(current.trimEnd());
    current = "";
    used = 0;
  };
  for (const word of line.split(/(?<=[ \t])(?=[^ \t])/)) {
    const wanted = visibleWidth(word.trimEnd());
    if (used > 0 && used + wanted > width) flush();
    if (wanted <= width) {
      current += word;
      used += visibleWidth(word);
      continue;
    }
    for (const piece of piecesOf(word)) {
      if (used + piece.width > width) flush();
      current += piece.text;
      used += piece.width;
    }
  }
  if (current !== "" || lines.length === 0) flush();
  return lines;
}
