/** Output of a terminal as pieces of text that look alike. Pure; lazy, so that a long text costs what is shown of it. */

export interface AnsiSpan {
  text: string;
  /** Names of classes: `fg-1`, `bg-4`, `bold` ... The sixteen colours are those of the page, so that they can be read. */
  style: string;
}

interface Style {
  fg?: number;
  bg?: number;
  marks: Set<string>;
  inverse: boolean;
}

const ESC = "\u001b";
const BELL = "\u0007";

/** CSI with its parameters and final byte; OSC, DCS and the like up to their end; any other escape with one character. */
const ESCAPE = new RegExp(
  [
    `${ESC}\\[([0-9;:<=>?]{0,256})[ -/]{0,8}([@-~])`,
    `${ESC}[\\]PX^_][^${BELL}${ESC}]{0,4096}(?:${BELL}|${ESC}\\\\)?`,
    `${ESC}[ -/]{0,4}[0-~]`,
    ESC,
  ].join("|"),
  "y",
);

/** A text of nothing but colours becomes this many pieces a line, not more. */
const MOST_SPANS_OF_LINE = 500;

export function* ansiSpans(text: string): Generator<AnsiSpan> {
  const style: Style = { marks: new Set(), inverse: false };
  let start = 0;
  while (start < text.length) {
    const newline = text.indexOf("\n", start);
    const end = newline < 0 ? text.length : newline + 1;
    yield* lineSpans(text.slice(start, end), style);
    start = end;
  }
}

function* lineSpans(line: string, style: Style): Generator<AnsiSpan> {
  const shown = line.includes("\r") || line.includes("\b") ? overwritten(line) : line;
  if (!shown.includes(ESC)) {
    yield { text: shown, style: classesOf(style) };
    return;
  }
  let pending = "";
  let pendingStyle = classesOf(style);
  let count = 0;
  for (let at = 0; at < shown.length; ) {
    const next = shown.indexOf(ESC, at);
    if (next !== at) {
      const piece = shown.slice(at, next < 0 ? shown.length : next);
      const now = count < MOST_SPANS_OF_LINE ? classesOf(style) : pendingStyle;
      if (now !== pendingStyle && pending !== "") {
        yield { text: pending, style: pendingStyle };
        count += 1;
        pending = "";
      }
      pendingStyle = now;
      pending += piece;
      at += piece.length;
      continue;
    }
    ESCAPE.lastIndex = at;
    const found = ESCAPE.exec(shown);
    if (found?.[2] === "m") applyCodes(style, found[1] ?? "");
    at += Math.max(1, found?.[0].length ?? 1);
  }
  if (pending !== "") yield { text: pending, style: pendingStyle };
}

/** What a carriage return or a backspace leaves of a line: progress bars paint over themselves. */
function overwritten(line: string): string {
  const end = /\r?\n?$/.exec(line)?.index ?? line.length;
  const last = line.slice(line.lastIndexOf("\r", end - 1) + 1, end);
  const kept: string[] = [];
  for (const char of last.includes("\b") ? last : [last]) {
    if (char === "\b") kept.pop();
    else kept.push(char);
  }
  return kept.join("") + (line.endsWith("\n") ? "\n" : "");
}

const MARKS: Record<number, string> = { 1: "bold", 2: "dim", 3: "italic", 4: "underline", 9: "strike" };
const ENDS: Record<number, readonly string[]> = {
  22: ["bold", "dim"],
  23: ["italic"],
  24: ["underline"],
  29: ["strike"],
};

function applyCodes(style: Style, parameters: string): void {
  if (/[<=>?]/.test(parameters)) return;
  const codes = parameters.split(/[;:]/).map((code) => Number(code) || 0);
  for (let i = 0; i < codes.length; i += 1) {
    const code = codes[i] as number;
    if (code === 38 || code === 48) {
      const { colour, used } = extendedColour(codes, i + 1);
      if (code === 38) style.fg = colour;
      else style.bg = colour;
      i += used;
    } else applyCode(style, code);
  }
}

function applyCode(style: Style, code: number): void {
  if (code === 0) {
    style.marks.clear();
    style.inverse = false;
    style.fg = undefined;
    style.bg = undefined;
  } else if (MARKS[code]) style.marks.add(MARKS[code]);
  else if (ENDS[code]) for (const mark of ENDS[code]) style.marks.delete(mark);
  else if (code === 7 || code === 27) style.inverse = code === 7;
  else if (code >= 30 && code <= 39) style.fg = code === 39 ? undefined : code - 30;
  else if (code >= 40 && code <= 49) style.bg = code === 49 ? undefined : code - 40;
  else if (code >= 90 && code <= 97) style.fg = code - 82;
  else if (code >= 100 && code <= 107) style.bg = code - 92;
}

/** `5;N` or `2;R;G;B`, as the nearest of the sixteen. */
function extendedColour(codes: readonly number[], at: number): { colour: number | undefined; used: number } {
  if (codes[at] === 5) return { colour: ofPalette(codes[at + 1] ?? 0), used: 2 };
  if (codes[at] !== 2) return { colour: undefined, used: 1 };
  return { colour: nearest(codes[at + 1] ?? 0, codes[at + 2] ?? 0, codes[at + 3] ?? 0), used: 4 };
}

function ofPalette(index: number): number | undefined {
  if (index < 16) return index;
  if (index > 255) return undefined;
  if (index >= 232) {
    const grey = 8 + 10 * (index - 232);
    return nearest(grey, grey, grey);
  }
  const level = (step: number): number => (step === 0 ? 0 : 55 + 40 * step);
  const place = index - 16;
  return nearest(level(Math.floor(place / 36)), level(Math.floor(place / 6) % 6), level(place % 6));
}

/** A colour is in it when it is more than half of the strongest one; bright when that is strong. */
function nearest(red: number, green: number, blue: number): number {
  const most = Math.max(red, green, blue);
  const least = Math.min(red, green, blue);
  if (most - least < 40) return most < 64 ? 0 : most < 160 ? 8 : most < 224 ? 7 : 15;
  const half = (most + least) / 2;
  const hue = (red > half ? 1 : 0) + (green > half ? 2 : 0) + (blue > half ? 4 : 0);
  return most > 215 ? hue + 8 : hue;
}

function classesOf({ fg, bg, marks, inverse }: Style): string {
  const front = inverse ? (bg ?? "back") : fg;
  const back = inverse ? (fg ?? "front") : bg;
  const names = [...marks];
  if (front !== undefined) names.push(`fg-${front}`);
  if (back !== undefined) names.push(`bg-${back}`);
  return names.join(" ");
}
