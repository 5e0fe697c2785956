import type { Leaf, Step } from "../tools/rust-regex-machine.ts";
import { compile } from "../tools/rust-regex-machine.ts";
import type { RegexNode } from "../tools/rust-regex-parse.ts";

/**
 * Reads the condition of a rule, a regular expression of JavaScript, into steps for `automaton.ts`. What cannot be matched
 * in one pass over a text (look-around, back-references) is refused: no condition may hold up a stream. Pure.
 */

export interface Condition {
  /** The condition as it was written. */
  source: string;
  root: RegexNode;
  leaf: Leaf;
  /** How many steps it takes; the work for one character grows with it in the worst case. */
  size: number;
}

export const LONGEST_CONDITION = 2000;
export const LARGEST_CONDITION = 500;

interface Flags {
  ignoreCase: boolean;
  lines: boolean;
  dotAll: boolean;
}

/** Throws a SyntaxError for what is no condition; its text says why, and what to do. */
export function readCondition(source: string): Condition {
  if (source.length > LONGEST_CONDITION) {
    throw new SyntaxError(`it has ${source.length} characters, at most ${LONGEST_CONDITION} are allowed`);
  }
  const [opening = "", letters = ""] = /^\(\?([ims]+)\)/.exec(source) ?? [];
  const flags = { ignoreCase: letters.includes("i"), lines: letters.includes("m"), dotAll: letters.includes("s") };
  const pattern = source.slice(opening.length);
  checkSyntax(pattern);
  const root = readChoice({ pattern, at: 0 });
  const leaf = leafFor(flags);
  const steps: Step[] = [];
  if (!compile(root, steps, leaf) || steps.length > LARGEST_CONDITION) {
    throw new SyntaxError(
      `counted out it has more than ${LARGEST_CONDITION} steps; use smaller numbers in {} or + and *`,
    );
  }
  return { source, root, leaf, size: steps.length + 1 };
}

/** The engine knows best what is an expression. The older grammar takes what the stricter one refuses. */
function checkSyntax(pattern: string): void {
  try {
    new RegExp(pattern, "u");
  } catch {
    try {
      new RegExp(pattern);
    } catch (error) {
      const text = error instanceof Error ? error.message : String(error);
      throw new SyntaxError(text.slice(text.lastIndexOf(": ") + 1).trim());
    }
  }
}

/** In what the engine has accepted, so nothing is left open. */
interface Reader {
  pattern: string;
  at: number;
}

function readChoice(reader: Reader): RegexNode {
  const parts = [readSequence(reader)];
  while (reader.pattern[reader.at] === "|") {
    reader.at += 1;
    parts.push(readSequence(reader));
  }
  return parts.length === 1 ? parts[0]! : { kind: "choice", parts };
}

function readSequence(reader: Reader): RegexNode {
  const parts: RegexNode[] = [];
  for (;;) {
    const char = reader.pattern[reader.at];
    if (char === undefined || char === "|" || char === ")") return { kind: "sequence", parts };
    const part = readOne(reader);
    const count = readCount(reader);
    parts.push(count ? { kind: "repeat", part, ...count } : part);
  }
}

const COUNTS: Readonly<Record<string, { min: number; max: number }>> = {
  "*": { min: 0, max: Number.POSITIVE_INFINITY },
  "+": { min: 1, max: Number.POSITIVE_INFINITY },
  "?": { min: 0, max: 1 },
};

/** How much it likes to take does not matter: asked is only whether there is a match. */
function readCount(reader: Reader): { min: number; max: number } | undefined {
  const braces = match(reader, /\{(\d+)(?:(,)(\d*))?\}/y);
  const found = braces ? countOf(braces) : COUNTS[reader.pattern[reader.at] ?? ""];
  if (!found) return undefined;
  reader.at += braces ? braces[0].length : 1;
  if (reader.pattern[reader.at] === "?") reader.at += 1;
  return found;
}

function countOf([, least, comma, most]: RegExpExecArray): { min: number; max: number } {
  const min = Number(least);
  return { min, max: most ? Number(most) : comma ? Number.POSITIVE_INFINITY : min };
}

function readOne(reader: Reader): RegexNode {
  const { pattern, at } = reader;
  const char = pattern[at];
  if (char === "(") return readGroup(reader);
  if (char === "^" || char === "$") return take(reader, 1, place(char === "^" ? "start" : "end"));
  const isBoundary = /^\\[bB]$/.test(pattern.slice(at, at + 2));
  if (isBoundary) return take(reader, 2, place(pattern[at + 1] === "b" ? "boundary" : "noBoundary"));
  if (match(reader, /\\(?:[1-9]|k<)/y)) {
    throw new SyntaxError("it refers back to a group, which takes more than one look at a text; write it out");
  }
  const written = match(reader, SET)![0];
  return take(reader, written.length, { kind: "set", set: written, ignoreCase: undefined });
}

/** A class, an escape or a character. Anything else that begins an escape is one character long. */
const SET =
  /\[(?:\\[\s\S]|[^\]\\])*\]|\\(?:x[\da-fA-F]{2}|u\{[\da-fA-F]+\}|u[\dA-Fa-f]{4}(?:\\u[dD][c-fC-F][\da-fA-F]{2})?|[pP]\{[^}]*\}|c[A-Za-z]|[\s\S])|[\ud800-\udbff][\udc00-\udfff]|[\s\S]/y;

function readGroup(reader: Reader): RegexNode {
  if (match(reader, /\(\?<?[=!]/y)) {
    throw new SyntaxError(
      "it looks around with (?=, (?!, (?<= or (?<!, which is not possible in a stream; write it out",
    );
  }
  const opening = match(reader, /\((?:\?:|\?<[^>]*>|(?!\?))/y);
  if (!opening)
    throw new SyntaxError("only (...), (?:...) and (?<name>...) are groups, and (?i) counts at the beginning");
  reader.at += opening[0].length;
  const part = readChoice(reader);
  reader.at += 1;
  return part;
}

function place(where: "start" | "end" | "boundary" | "noBoundary"): RegexNode {
  return { kind: "place", place: where, ascii: true };
}

function take(reader: Reader, length: number, node: RegexNode): RegexNode {
  reader.at += length;
  return node;
}

function match(reader: Reader, sticky: RegExp): RegExpExecArray | null {
  sticky.lastIndex = reader.at;
  return sticky.exec(reader.pattern);
}

const isWord = (char: string): boolean => /^\w$/.test(char);
const isLineEnd = (char: string): boolean => char === "" || /^[\n\r\u2028\u2029]$/.test(char);
const isEmpty = (char: string): boolean => char === "";

function leafFor({ ignoreCase, lines, dotAll }: Flags): Leaf {
  const flags = `${ignoreCase ? "i" : ""}${dotAll ? "s" : ""}`;
  const isEdge = lines ? isLineEnd : isEmpty;
  const places: Readonly<Record<string, (before: string, after: string) => boolean>> = {
    start: isEdge,
    end: (_, after) => isEdge(after),
    boundary: (before, after) => isWord(before) !== isWord(after),
    noBoundary: (before, after) => isWord(before) === isWord(after),
  };
  const sets = new Map<string, Step>();
  return (node) => {
    if (node.kind === "place") return { kind: "place", holds: places[node.place]! };
    const step = sets.get(node.set) ?? { kind: "set", has: membership(node.set, flags) };
    sets.set(node.set, step);
    return step;
  };
}

const ASCII = 128;
const UNKNOWN = 2;

/** Most are one character that means itself. The usual ones are asked for again and again. */
function membership(set: string, flags: string): (char: string) => boolean {
  const [, itself] = /^\\?([^\w.[\]\\]|(?<!\\)\w)$/.exec(set) ?? [];
  if (itself !== undefined && !flags.includes("i")) return (char) => char === itself;
  const regex = expression(`^(?:${set})$`, flags);
  const known = new Uint8Array(ASCII).fill(UNKNOWN);
  return (char) => {
    const code = char.charCodeAt(0);
    if (code >= ASCII) return regex.test(char);
    if (known[code] === UNKNOWN) known[code] = regex.test(char) ? 1 : 0;
    return known[code] === 1;
  };
}

function expression(source: string, flags: string): RegExp {
  try {
    return new RegExp(source, `u${flags}`);
  } catch {
    return new RegExp(source, flags);
  }
}
