/**
 * Models write patterns for ripgrep, whose regular expressions are Rust's. This reads such a pattern into one of
 * JavaScript that finds the same lines. What only JavaScript has (look-around, back-references) passes through. Pure.
 */

export interface JsPattern {
  source: string;
  ignoreCase: boolean;
}

const WORD = "\\p{Alphabetic}\\p{M}\\p{Nd}\\p{Pc}\\p{Join_Control}";
const IS_WORD = `[${WORD}]`;

/** Members of a class, as they stand between brackets. */
const CLASS_ESCAPES: Readonly<Record<string, string>> = {
  d: "\\p{Nd}",
  D: "\\P{Nd}",
  s: "\\p{White_Space}",
  S: "\\P{White_Space}",
  w: IS_WORD,
  W: `[^${WORD}]`,
  a: "\\x07",
};

/** Places between characters. */
const PLACES: Readonly<Record<string, string>> = {
  A: "^",
  z: "$",
  b: `(?:(?<=${IS_WORD})(?!${IS_WORD})|(?<!${IS_WORD})(?=${IS_WORD}))`,
  B: `(?:(?<=${IS_WORD})(?=${IS_WORD})|(?<!${IS_WORD})(?!${IS_WORD}))`,
};

const POSIX: Readonly<Record<string, string>> = {
  alnum: "a-zA-Z0-9",
  alpha: "a-zA-Z",
  ascii: "\\x00-\\x7f",
  blank: "\\t\\x20",
  cntrl: "\\x00-\\x1f\\x7f",
  digit: "0-9",
  graph: "\\x21-\\x7e",
  lower: "a-z",
  print: "\\x20-\\x7e",
  punct: "\\x21-\\x2f\\x3a-\\x40\\x5b-\\x60\\x7b-\\x7e",
  space: "\\t-\\r\\x20",
  upper: "A-Z",
  word: "0-9A-Za-z_",
  xdigit: "0-9A-Fa-f",
};

/** For the flag `v`. The result may still be no regular expression: the caller compiles it. */
export function readRustPattern(pattern: string): JsPattern {
  const flags = /^\(\?([imsu]+)\)/.exec(pattern);
  const input = flags ? pattern.slice(flags[0].length) : pattern;
  let source = "";
  for (let i = 0; i < input.length; ) {
    const char = input[i]!;
    if (char === "\\") {
      const escaped = readEscape(input, i);
      source += PLACES[input[i + 1]!] ?? (CLASS_ESCAPES[input[i + 1]!] ? `[${escaped.source}]` : escaped.source);
      i = escaped.end;
    } else if (char === "[") {
      const found = readClass(input, i);
      source += found.source;
      i = found.end;
    } else if (input.startsWith("(?P<", i)) {
      source += "(?<";
      i += 4;
    } else {
      // The end of a line is never a part of it.
      source += char === "." ? "[^\\r\\n]" : char;
      i += 1;
    }
  }
  return { source, ignoreCase: flags?.[1]?.includes("i") ?? false };
}

/** An escape sequence at a position, good inside of brackets and outside. */
function readEscape(input: string, at: number): { source: string; end: number } {
  const rest = input.slice(at);
  const code = /^\\(?:x([0-9a-f]{2})|u([0-9a-f]{4})|U([0-9a-f]{8})|[xuU]\{([0-9a-f]+)\})/i.exec(rest);
  if (code) {
    const hex = code[1] ?? code[2] ?? code[3] ?? code[4]!;
    return { source: `\\u{${hex.replace(/^0+(?=.)/, "")}}`, end: at + code[0].length };
  }
  const property = /^\\([pP])(?:\{(\^?)([^}]+)\}|(\p{L}))/u.exec(rest);
  if (property) {
    const negated = (property[1] === "P") !== (property[2] === "^");
    return { source: `\\${negated ? "P" : "p"}{${property[3] ?? property[4]}}`, end: at + property[0].length };
  }
  const char = input[at + 1] ?? "";
  const end = at + 2;
  if (CLASS_ESCAPES[char]) return { source: CLASS_ESCAPES[char], end };
  // Letters and digits have a meaning, or none in JavaScript either; everything else stands for itself.
  return { source: /[\p{L}\p{N}]/u.test(char) || char === "" ? `\\${char}` : literal(char), end };
}

function literal(char: string): string {
  return /[\^$\\.*+?()[\]{}|/\-&!#%,:;<=>@`~]/.test(char) ? `\\u{${char.codePointAt(0)!.toString(16)}}` : char;
}

/** `[...]` with its nested classes and set operations. */
function readClass(input: string, start: number): { source: string; end: number } {
  let i = start + 1;
  const negated = input[i] === "^";
  if (negated) i += 1;
  /** Operands and operators in turn; each operand is a list of members. */
  const operands = [""];
  const operators: string[] = [];
  const add = (member: string) => {
    operands[operands.length - 1] += member;
  };
  for (let first = true; i < input.length; first = false) {
    const posix = /^\[:(\^?)([a-z]+):\]/.exec(input.slice(i));
    const operator = /^(&&|--)/.exec(input.slice(i))?.[0];
    if (input[i] === "]" && !first) return { source: joinClass(negated, operands, operators), end: i + 1 };
    if (posix && POSIX[posix[2]!]) {
      add(posix[1] ? `[^${POSIX[posix[2]!]}]` : POSIX[posix[2]!]!);
      i += posix[0].length;
    } else if (operator && !first) {
      operators.push(operator);
      operands.push("");
      i += 2;
    } else if (input[i] === "[") {
      const nested = readClass(input, i);
      add(nested.source);
      i = nested.end;
    } else if (input[i] === "\\") {
      const escaped = readEscape(input, i);
      add(escaped.source);
      i = escaped.end;
    } else {
      const char = String.fromCodePoint(input.codePointAt(i)!);
      // Between two members a dash is a range; at the edges it is a dash.
      const isRange = char === "-" && !first && operands.at(-1) !== "" && input[i + 1] !== "]";
      add(isRange ? "-" : literal(char));
      i += char.length;
    }
  }
  // Never closed: left as it is, for the compiler to complain about.
  return { source: input.slice(start), end: input.length };
}

function joinClass(negated: boolean, operands: readonly string[], operators: readonly string[]): string {
  const [first = "", ...others] = operands;
  if (others.length === 0) return `[${negated ? "^" : ""}${first}]`;
  const rest = others.map((operand, index) => `${operators[index]}[${operand}]`).join("");
  return `[${negated ? "^" : ""}[${first}]${rest}]`;
}
