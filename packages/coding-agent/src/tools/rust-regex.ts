import { foldCase } from "./rust-regex-case.ts";
import { IS_ASCII_WORD, IS_WORD } from "./rust-regex-class.ts";
import { type Place, parseRustPattern, type RegexNode } from "./rust-regex-parse.ts";

/**
 * Models write patterns for ripgrep, whose regular expressions are Rust's. This reads such a pattern into one of
 * JavaScript that finds the same lines. What only JavaScript has (look-around, back-references) passes through. Pure.
 */

export interface LinePattern {
  /** For a line without its end. */
  regex: RegExp;
  /** Whether ripgrep, of whatever version, finds the same. When not, it is not asked. */
  isPortable: boolean;
  /** Whether a look at several lines at once can say that none of them matches. */
  canSkip: boolean;
  /** The pattern as read; undefined for one that only JavaScript understands. */
  root?: RegexNode;
}

/** Throws for what is no pattern. */
export function readPattern(pattern: string, { literal = false, ignoreCase = false } = {}): LinePattern {
  if (literal) {
    const source = pattern.toWellFormed().replace(/[\\^$.*+?()[\]{}|]/g, "\\$&");
    return { regex: new RegExp(source, ignoreCase ? "iu" : "u"), isPortable: true, canSkip: true };
  }
  try {
    return readRust(pattern, ignoreCase);
  } catch (error) {
    // The older grammar takes what the stricter ones refuse, such as the escape of a letter. But it knows no properties.
    if (/\\[pP]/.test(pattern)) throw error;
    const regex = new RegExp(pattern, ignoreCase ? "i" : "");
    return { regex, isPortable: false, canSkip: !pattern.includes("(?") };
  }
}

function readRust(pattern: string, ignoreCase: boolean): LinePattern {
  const { root, isPortable } = parseRustPattern(pattern, ignoreCase);
  const seen = look(root);
  const write = writer({ fold: seen.cases.size > 1, capture: seen.hasReferences });
  const flags = seen.cases.size === 1 && seen.cases.has(true) ? "iv" : "v";
  return { regex: new RegExp(write(root), flags), isPortable, canSkip: !seen.looksAround, root };
}

interface Seen {
  cases: Set<boolean>;
  hasReferences: boolean;
  looksAround: boolean;
}

function look(root: RegexNode, seen: Seen = { cases: new Set(), hasReferences: false, looksAround: false }): Seen {
  if (root.kind === "set" && root.ignoreCase !== undefined) seen.cases.add(root.ignoreCase);
  if (root.kind === "reference") seen.hasReferences = true;
  if (root.kind === "look") seen.looksAround = true;
  for (const part of partsOf(root)) look(part, seen);
  return seen;
}

function partsOf(node: RegexNode): readonly RegexNode[] {
  return "parts" in node ? node.parts : "part" in node ? [node.part] : [];
}

/** As source text. Groups are named and counted only where something refers to them. */
function writer({ fold, capture }: { fold: boolean; capture: boolean }): (node: RegexNode) => string {
  const write = (node: RegexNode): string => {
    switch (node.kind) {
      case "set":
        return fold && node.ignoreCase ? foldCase(node.set) : node.set;
      case "place":
        return (node.ascii ? ASCII_PLACES : PLACES)[node.place];
      case "sequence":
        return node.parts.map(write).join("");
      case "choice":
        return `(?:${node.parts.map(write).join("|")})`;
      case "repeat":
        return `${node.part.kind === "set" ? write(node.part) : `(?:${write(node.part)})`}${quantifier(node)}`;
      case "group":
        return `(${capture ? (node.name ? `?<${node.name}>` : "") : "?:"}${write(node.part)})`;
      case "look":
        return `(?${node.sign}${write(node.part)})`;
      case "reference":
        // What follows may be a digit.
        return `(?:${node.source})`;
    }
  };
  return write;
}

function quantifier({ min, max }: { min: number; max: number }): string {
  if (max === Number.POSITIVE_INFINITY) return min === 0 ? "*" : min === 1 ? "+" : `{${min},}`;
  return min === 0 && max === 1 ? "?" : `{${min},${max}}`;
}

const PLACES = places(IS_WORD);
const ASCII_PLACES = places(IS_ASCII_WORD);

function places(word: string): Readonly<Record<Place, string>> {
  return {
    start: "^",
    end: "$",
    boundary: `(?:(?<=${word})(?!${word})|(?<!${word})(?=${word}))`,
    // Beside bytes that are no character there is nothing to say.
    noBoundary: `(?:(?<!\\p{Cs})(?!\\p{Cs})(?:(?<=${word})(?=${word})|(?<!${word})(?!${word})))`,
    wordStart: `(?:(?<!${word})(?=${word}))`,
    wordEnd: `(?:(?<=${word})(?!${word}))`,
    wordStartHalf: `(?<!${word})`,
    wordEndHalf: `(?!${word})`,
  };
}
