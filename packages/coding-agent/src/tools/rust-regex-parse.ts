import { allBut, member, readClass, readSet, type SetSyntax, skipSpace } from "./rust-regex-class.ts";

/** Reads a pattern of ripgrep, whose regular expressions are Rust's, into a tree. Pure. */

export type RegexNode =
  /** One character out of a set, written as JavaScript writes it with the flag `v`. Case may not matter to it. */
  | { kind: "set"; set: string; ignoreCase: boolean | undefined }
  | { kind: "place"; place: Place; ascii: boolean }
  | { kind: "sequence"; parts: RegexNode[] }
  | { kind: "choice"; parts: RegexNode[] }
  | { kind: "repeat"; part: RegexNode; min: number; max: number }
  | { kind: "group"; part: RegexNode; name: string | undefined }
  /** Only JavaScript has these two; Rust refuses them. */
  | { kind: "look"; sign: string; part: RegexNode }
  | { kind: "reference"; source: string };

/** Between characters. */
export type Place =
  | "start"
  | "end"
  | "boundary"
  | "noBoundary"
  | "wordStart"
  | "wordEnd"
  | "wordStartHalf"
  | "wordEndHalf";

export interface RustPattern {
  root: RegexNode;
  /** False when ripgrep of one version or the other refuses the pattern, or reads it in a way of its own. */
  isPortable: boolean;
}

interface Flags {
  ignoreCase: boolean;
  spaced: boolean;
  ascii: boolean;
}

interface Reader extends SetSyntax {
  flags: Flags;
}

/** Throws for what is no pattern, neither of Rust nor of JavaScript. */
export function parseRustPattern(pattern: string, ignoreCase: boolean): RustPattern {
  const reader: Reader = {
    input: [...pattern.toWellFormed()],
    at: 0,
    flags: { ignoreCase, spaced: false, ascii: false },
    isPortable: true,
  };
  const root = readChoice(reader);
  if (reader.at < reader.input.length) throw new SyntaxError("unopened group");
  // ripgrep 13 loses matches of a word's border at the end of a line.
  const isOddEnd = /\$[)|]*\\b/.test(reader.input.join(""));
  return { root, isPortable: reader.isPortable && !isOddEnd };
}

/** Flags that are set on the way hold until the end of the group, over all that is left of its alternatives. */
function readChoice(reader: Reader): RegexNode {
  const around = reader.flags;
  const parts = [readSequence(reader)];
  while (reader.input[reader.at] === "|") {
    reader.at += 1;
    parts.push(readSequence(reader));
  }
  reader.flags = around;
  return parts.length === 1 ? parts[0]! : { kind: "choice", parts };
}

function readSequence(reader: Reader): RegexNode {
  const parts: RegexNode[] = [];
  for (;;) {
    skipSpace(reader, reader.flags);
    const char = reader.input[reader.at];
    if (char === undefined || char === "|" || char === ")") return { kind: "sequence", parts };
    const repeated = readRepetition(reader);
    if (repeated) {
      const part = parts.pop();
      if (!part) throw new SyntaxError("nothing to repeat");
      parts.push({ kind: "repeat", part, ...repeated });
    } else {
      const part = readOne(reader);
      if (part) parts.push(part);
    }
  }
}

const REPETITIONS: Readonly<Record<string, { min: number; max: number }>> = {
  "*": { min: 0, max: Number.POSITIVE_INFINITY },
  "+": { min: 1, max: Number.POSITIVE_INFINITY },
  "?": { min: 0, max: 1 },
};

/** How much a repetition likes to take does not matter: asked is only whether a line matches. */
function readRepetition(reader: Reader): { min: number; max: number } | undefined {
  const found = REPETITIONS[reader.input[reader.at]!] ?? readCount(reader);
  if (!found) return undefined;
  reader.at += 1;
  if (reader.input[reader.at] === "?") reader.at += 1;
  return found;
}

/** Nobody writes a longer one, and every brace that opens would be followed to the end of the pattern. */
const LONGEST_COUNT = 40;

/** `{2}`, `{2,}`, `{2,3}`; stops at the closing brace. Other braces are braces here, and errors in Rust. */
function readCount(reader: Reader): { min: number; max: number } | undefined {
  if (reader.input[reader.at] !== "{") return undefined;
  const ahead = reader.input.slice(reader.at + 1, reader.at + 1 + LONGEST_COUNT);
  const length = ahead.indexOf("}");
  const inside = length < 0 ? "" : ahead.slice(0, length).join("");
  const count = /^\s*(\d+)\s*(?:(,)\s*(\d+)?\s*)?$/.exec(inside);
  if (!count) {
    reader.isPortable = false;
    return undefined;
  }
  const min = Number(count[1]);
  const max = count[3] ? Number(count[3]) : count[2] ? Number.POSITIVE_INFINITY : min;
  if (max < min) throw new SyntaxError("numbers out of order in {} quantifier");
  reader.at += 1 + length;
  return { min, max };
}

const ANY = allBut("\\r\\n\\p{Cs}");
const IS_CASED = /[\p{Changes_When_Casemapped}\p{Changes_When_Casefolded}]/u;

/** Undefined for flags, which match nothing themselves. */
function readOne(reader: Reader): RegexNode | undefined {
  const char = reader.input[reader.at]!;
  if (char === "(") return readGroup(reader);
  if (char === "[") return set(reader, readClass(reader, reader.flags));
  if (char === "\\") return readEscape(reader);
  reader.at += 1;
  if (char === "^") return place(reader, "start");
  if (char === "$") return place(reader, "end");
  // The end of a line is never a part of it, whatever the flag `s` says.
  return char === "." ? set(reader, ANY, false) : set(reader, member(char), IS_CASED.test(char));
}

function set({ flags }: Reader, source: string, caseMatters = true): RegexNode {
  return { kind: "set", set: source, ignoreCase: caseMatters ? flags.ignoreCase : undefined };
}

function place({ flags }: Reader, where: Place): RegexNode {
  return { kind: "place", place: where, ascii: flags.ascii };
}

/** ripgrep looks at several lines at once: then there is but one beginning and end, and a place between CR and LF. */
const PLACES: readonly (readonly [written: string, place: Place, isPortable: boolean])[] = [
  ["\\b{start-half}", "wordStartHalf", false],
  ["\\b{end-half}", "wordEndHalf", false],
  ["\\b{start}", "wordStart", true],
  ["\\b{end}", "wordEnd", true],
  ["\\<", "wordStart", true],
  ["\\>", "wordEnd", true],
  ["\\b", "boundary", true],
  ["\\B", "noBoundary", false],
  ["\\A", "start", false],
  ["\\z", "end", false],
];

function readEscape(reader: Reader): RegexNode {
  const { input, at } = reader;
  const rest = input.slice(at, at + 20).join("");
  const found = PLACES.find(([written]) => rest.startsWith(written));
  if (found) {
    reader.at += found[0].length;
    reader.isPortable &&= found[2];
    return place(reader, found[1]);
  }
  const reference = /^\\(?:[1-9]\d*|k<\w+>)/.exec(rest)?.[0];
  if (reference) {
    reader.isPortable = false;
    reader.at += reference.length;
    return { kind: "reference", source: reference };
  }
  return set(reader, readSet(reader, reader.flags));
}

function readGroup(reader: Reader): RegexNode | undefined {
  const rest = reader.input.slice(reader.at, reader.at + 80).join("");
  const opening =
    /^\((?:\?(?:P?<(?<name>[\p{L}_][\p{L}\p{N}_.[\]]*)>|(?<look><?[=!])|(?<flags>[\w-]*)(?<end>[:)])))?/u.exec(rest)!;
  if (opening[0] === "(" && rest[1] === "?") throw new SyntaxError("unknown kind of group");
  reader.at += [...opening[0]].length;
  const { name, look, flags, end } = opening.groups!;
  const around = reader.flags;
  if (flags !== undefined) setFlags(reader, flags);
  if (end === ")") return undefined;
  const part = readChoice(reader);
  reader.flags = around;
  if (reader.input[reader.at] !== ")") throw new SyntaxError("unclosed group");
  reader.at += 1;
  if (look !== undefined) {
    reader.isPortable = false;
    return { kind: "look", sign: look, part };
  }
  return flags === undefined ? { kind: "group", part, name } : part;
}

/** `i-u` and the like. The flags `m` and `s` make no difference within a line, and `U` none to whether it matches. */
function setFlags(reader: Reader, written: string): void {
  const flags = { ...reader.flags };
  let on = true;
  for (const flag of written) {
    if (flag === "-") on = false;
    else if (flag === "i") flags.ignoreCase = on;
    else if (flag === "x") flags.spaced = on;
    else if (flag === "u") flags.ascii = !on;
    else if (!"msUR".includes(flag)) throw new SyntaxError(`unknown flag ${flag}`);
    // Bytes instead of characters, files instead of lines: not what is searched here.
    if ((flag === "u" && !on) || (flag === "m" && !on) || flag === "R") reader.isPortable = false;
  }
  reader.flags = flags;
}
